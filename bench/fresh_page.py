"""A fresh page: `answer` words first, against the same with all vectors made first.

    python -m bench.fresh_page [--data DIR] [--sites DIR] [--limit N]

A page of the Python documentation of about 350 chunks is served on loopback and asked for sections
by their names, each time with an empty store. Times are of Engine.answer without following links,
with the background embedding of a server running; nDCG@10 is over the blocks, the first block under
that name being right. Compare the ratio of one run, not times between runs.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import tempfile
import time
from pathlib import Path

import anyio
from bench.judged_sets import DEFAULT_DATA, DEFAULT_SITES, SITE_SETS
from bench.research_engine import default_limits, default_reranker, served_folder

from citewell.core.results import OrchestrationResult, Question
from citewell.inference.open import open_embedder
from citewell.inference.protocols import Embedder
from citewell.ingest.pipeline import Ingester
from citewell.research.engine import Engine
from citewell.research.parts import Parts
from citewell.store.open import open_store
from citewell.web.fetcher import Fetcher

SET = "labels_python_dev"
PAGE = "library/stdtypes.html"


def sections(data: Path) -> list[str]:
    """Return the names of the judged sections of the page."""
    folder = data / "site-labels" / SET
    judged = (folder / "qrels_url.tsv").read_text(encoding="utf-8").splitlines()[1:]
    own = {line.split("\t")[0] for line in judged if line.split("\t")[1] == PAGE}
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [query["text"] for query in map(json.loads, lines) if query["_id"] in own]


async def ask(
    url: str, query: str, *, embedder: Embedder, vectors_first: bool
) -> tuple[OrchestrationResult, float, int]:
    """Ask a store that has never seen the page; return the result, seconds and chunks."""
    with tempfile.TemporaryDirectory() as folder:
        store = await open_store(f"sqlite://{folder}/pages.db", model=embedder.name)
        try:
            async with (
                Fetcher(allowed_private_hosts=("127.0.0.1",), respect_robots=False) as fetcher,
                Ingester(
                    store=store, fetcher=fetcher, embedder=embedder, stale_after_days=30
                ) as ingester,
            ):
                parts = Parts(
                    store=store, ingester=ingester, embedder=embedder, reranker=default_reranker()
                )
                engine = Engine(parts, default_limits())
                began = time.perf_counter()
                if vectors_first:
                    outcome = await ingester.ingest(url, project="default")
                    assert outcome.page is not None, "the page is on loopback"
                    await ingester.embed_now([outcome.page.source_id])
                question = Question(urls=(url,), query=query, project="default", expansion_budget=0)
                result = await engine.answer(question)
                seconds = time.perf_counter() - began
                page = await ingester.find_page(url, project="default")
                assert page is not None, "the page was ingested"
                return result, seconds, page.chunks
        finally:
            await store.aclose()


def ndcg(result: OrchestrationResult, name: str) -> float:
    """Return the discounted gain of the first block under the heading `name`."""
    for rank, block in enumerate(result.quotes[:10]):
        if name.lower() in " ".join(block.heading_path[-1:]).lower():
            return 1.0 / math.log2(rank + 2)
    return 0.0


async def run(options: argparse.Namespace) -> None:
    site = options.sites / SITE_SETS[SET]
    if not options.data.exists() or not site.exists():
        print(f"no data at {options.data} or no site at {site}; give --data and --sites")
        return
    embedder = open_embedder("granite", endpoint="", api_key=None, threads=0)
    assert embedder is not None, "granite is always there"
    await embedder.embed_query("load the model before the clock starts")
    asked = sections(options.data)[: options.limit]
    times: dict[bool, list[float]] = {True: [], False: []}
    gains: dict[bool, list[float]] = {True: [], False: []}
    chunks = 0
    with served_folder(site) as base:
        for name in asked:
            for vectors_first in (False, True):
                result, seconds, chunks = await ask(
                    f"{base}/{PAGE}", name, embedder=embedder, vectors_first=vectors_first
                )
                times[vectors_first].append(seconds)
                gains[vectors_first].append(ndcg(result, name))
    print(f"{PAGE}: {chunks} chunks, {len(asked)} questions")
    for vectors_first, label in ((False, "words first"), (True, "all vectors first")):
        seconds = statistics.median(times[vectors_first])
        print(f"{label:20}{seconds:>8.2f} s   nDCG@10 {statistics.fmean(gains[vectors_first]):.3f}")
    pairs = zip(times[False], times[True], strict=True)
    print(f"time ratio, median: {statistics.median(words / full for words, full in pairs):.2f}")
    await embedder.aclose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--limit", type=int, default=10)
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
