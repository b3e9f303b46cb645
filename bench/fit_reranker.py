"""Fits the calibrated reranker on judged queries and writes its weights; prints what it is worth.

    python -m bench.fit_reranker [--data DIR] [--sites DIR] [--cache DIR] [--write] [--report]

Needs `lightgbm`, which the package itself does not. A page is as good as its best chunk, so the
trees are fitted to the best chunk of each page. Every set takes part with its vectors and without,
and weighs the same. Fitted sets are judged by cross-validation over queries, and once more with
their whole family left out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import anyio
from bench.cached_embedder import CachedEmbedder
from bench.judged_sets import DEFAULT_CACHE, DEFAULT_DATA, DEFAULT_SITES, FITTED_SETS
from bench.reranker_lists import gather
from bench.reranker_report import report
from bench.reranker_trees import fit

from citewell.inference import calibrated_reranker
from citewell.inference.calibrated_reranker import WEIGHTS_FILE, RerankerWeights, weights_to_json
from citewell.inference.open import open_embedder

HELD_OUT_SETS = ("xquad_en", "clapnq_dev", "odex_pysite")


async def run(options: argparse.Namespace) -> None:
    model = open_embedder("granite", endpoint="", api_key=None, threads=0)
    assert model is not None, "granite is always there"
    embedder = CachedEmbedder(model, options.cache / "vectors.db")
    places = {"data": options.data, "sites": options.sites, "cache": options.cache}
    fitted = await gather(sorted(FITTED_SETS), embedder=embedder, **places)
    weights = fit(fitted)
    if options.write:
        write(weights)
    if options.report:
        report(fitted, await gather(HELD_OUT_SETS, embedder=embedder, **places), weights=weights)
    await embedder.aclose()


def write(weights: RerankerWeights) -> None:
    """Replace the weights that ship with the package."""
    place = Path(calibrated_reranker.__file__).with_name(WEIGHTS_FILE)
    fields = json.dumps(weights_to_json(weights), separators=(",", ":"))
    place.write_text(fields + "\n", encoding="utf-8")
    print(f"wrote {place.name}, {len(fields)} bytes", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--write", action="store_true", help="replace the packaged weights")
    parser.add_argument("--report", action="store_true", help="cross-validate and hold sets out")
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
