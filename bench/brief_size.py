"""The size of a brief against the pages it cites.

    python -m bench.brief_size [--data DIR] [--sites DIR] [--cache DIR] [--limit N]

Questions of three sets are asked of the stored Python documentation; the brief has the default
budget of 30,000 tokens, so what limits it is the choice of blocks. `found` is the share of answers
with a right page among the sources.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path

import anyio
from bench.judged_sets import (
    DEFAULT_CACHE,
    DEFAULT_DATA,
    DEFAULT_SITES,
    JudgedQuery,
    JudgedSet,
    judged_queries,
    open_set,
)
from bench.research_engine import cached_embedder, default_limits, default_reranker, open_engine

from citewell.answer.brief import format_brief
from citewell.core.results import Question
from citewell.core.settings import Settings
from citewell.core.tokens import count_tokens
from citewell.research.engine import Engine

SETS = ("labels_python_dev", "whatsnew_py_dev", "odex_pysite")


async def measure(
    query: JudgedQuery, judged: JudgedSet, engine: Engine
) -> tuple[int, int, int, bool] | None:
    """Return tokens of the brief and of its pages, blocks, and whether a right page is cited."""
    question = Question(urls=(), query=query.text, project="default", expansion_budget=0)
    result = await engine.search(question, limit=default_limits().max_blocks)
    if not result.answered:
        return None
    brief = format_brief(result, token_budget=Settings().mcp_response_token_budget)
    cited = {quote.source_id for quote in result.quotes}
    pages = [await judged.store.get_page(source_id) for source_id in cited]
    whole = sum(page.info.tokens for page in pages if page is not None)
    found = any(query.gains.get(quote.url, 0.0) > 0 for quote in result.quotes)
    return count_tokens(brief), whole, len(result.quotes), found


async def run(options: argparse.Namespace) -> None:
    if not options.data.exists():
        print(f"no data at {options.data}; give --data")
        return
    embedder = cached_embedder(options.cache)
    print(f"{'set':24}{'asked':>6}{'brief':>8}{'pages':>10}{'1 /':>8}{'blocks':>8}{'found':>8}")
    every: list[tuple[int, int, int, bool]] = []
    async with (
        open_set(
            SETS[0],
            data=options.data,
            sites=options.sites,
            cache=options.cache,
            embedder=embedder,
            max_queries=0,
        ) as judged,
        open_engine(judged.store, embedder, default_reranker()) as engine,
    ):
        for name in SETS:
            queries = list(judged_queries(name, data=options.data))
            asked = queries[:: max(1, len(queries) // options.limit)]
            rows = [row for query in asked if (row := await measure(query, judged, engine))]
            report(name, rows)
            every += rows
    report("all", every)
    await embedder.aclose()


def report(name: str, rows: list[tuple[int, int, int, bool]]) -> None:
    """Print one row of medians."""
    tokens, whole, blocks, found = zip(*rows, strict=True)
    times = statistics.median(page / brief for brief, page, *_ in rows)
    print(
        f"{name:24}{len(rows):>6}{statistics.median(tokens):>8.0f}{statistics.median(whole):>10.0f}"
        f"{times:>8.1f}{statistics.median(blocks):>8.0f}{statistics.fmean(found):>8.3f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--limit", type=int, default=100)
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
