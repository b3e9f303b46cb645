"""Abstention: questions that the pages do not answer, and questions that they do.

    python -m bench.abstention [SET…] [--data DIR] [--sites DIR] [--cache DIR] [--limit N]

`own` and `foreign` are asked of a whole set through Engine.search: its own questions, and those of
the other sets. `own page` and `other page` are asked of one page through Engine.answer without
following links: the page that answers, and another of the set, which now and then answers as well.
The judge was fitted on the even questions (bench/fit_support.py); these are the odd ones.
"""

from __future__ import annotations

import argparse
import math
import statistics
from pathlib import Path

import anyio
from bench.judged_sets import DEFAULT_CACHE, DEFAULT_DATA, DEFAULT_SITES, open_set
from bench.research_engine import cached_embedder, default_limits, default_reranker, open_engine
from bench.support_cases import KINDS, STORES, Case, Kind, cases

from citewell.core.results import Question
from citewell.research.engine import Engine


async def is_answered(case: Case, engine: Engine) -> bool:
    """Return whether the engine says that it found support."""
    urls = () if case.url is None else (case.url,)
    question = Question(urls=urls, query=case.query, project="default", expansion_budget=0)
    if case.url is None:
        result = await engine.search(question, limit=default_limits().max_blocks)
    else:
        result = await engine.answer(question)
    return result.answered


async def run(options: argparse.Namespace) -> None:
    if not options.data.exists():
        print(f"no data at {options.data}; give --data")
        return
    embedder, reranker = cached_embedder(options.cache), default_reranker()
    model = None if options.without_vectors else embedder
    print("share said to be unanswered")
    print(f"{'set':24}{'cases':>7}" + "".join(f"{kind:>12}" for kind in KINDS))
    rows: list[list[float]] = []
    for name in options.sets or STORES:
        said: dict[Kind, list[bool]] = {kind: [] for kind in KINDS}
        async with (
            open_set(
                name,
                data=options.data,
                sites=options.sites,
                cache=options.cache,
                embedder=embedder,
                max_queries=0,
            ) as judged,
            open_engine(judged.store, model, reranker) as engine,
        ):
            for case in cases(name, data=options.data, part=1, limit=options.limit):
                said[case.kind].append(not await is_answered(case, engine))
        rows.append([statistics.fmean(said[kind] or [math.nan]) for kind in KINDS])
        count = sum(map(len, said.values()))
        print(f"{name:24}{count:>7}" + "".join(f"{share:>12.3f}" for share in rows[-1]), flush=True)
    means = [
        statistics.fmean(share for share in column if not math.isnan(share))
        for column in zip(*rows, strict=True)
    ]
    print(f"{'mean':31}" + "".join(f"{mean:>12.3f}" for mean in means))
    await embedder.aclose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--limit", type=int, default=50)
    parser.add_argument("--without-vectors", action="store_true")
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
