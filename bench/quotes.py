"""Quotes: how often the answer to a question stands inside the brief's citations.

    python -m bench.quotes [SET…] [--budget 1500] [--data DIR] [--cache DIR] [--limit N]

Every set is stored whole and searched through Engine.search with the default number of blocks; the
brief is cut to the budget. `citations` counts answers that one citation holds in full, `brief`
those that stand in a citation or a block of evidence.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Iterator
from pathlib import Path

import anyio
from bench.judged_sets import DEFAULT_CACHE, DEFAULT_DATA, DEFAULT_SITES, open_set
from bench.research_engine import cached_embedder, default_limits, default_reranker, open_engine

from citewell.answer.brief import format_brief
from citewell.core.results import OrchestrationResult, Question
from citewell.core.tokens import count_tokens

SETS = ("xquad_en", "jsquad_valid")


def questions(name: str, data: Path) -> Iterator[tuple[str, list[str]]]:
    """Give each question of a set with the answers that count as right."""
    path = data / "retrieval" / name / "queries.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines():
        query = json.loads(line)
        yield query["text"], [answer["text"] for answer in query["metadata"]["answers"]]


def holds(result: OrchestrationResult, brief: str, answers: list[str]) -> tuple[bool, bool]:
    """Return whether an answer stands in a citation, and whether it stands in the brief at all."""
    evidence, _, cited = brief.partition("\n[CITATIONS]\n")
    cited = cited.partition("\n[STATS]\n")[0]
    shown = [quote.text for quote in result.quotes if quote.text in cited]
    in_citations = any(answer in text for text in shown for answer in answers)
    body = evidence.partition("[EVIDENCE]")[2]
    return in_citations, in_citations or any(answer in body for answer in answers)


async def run(options: argparse.Namespace) -> None:
    if not options.data.exists():
        print(f"no data at {options.data}; give --data")
        return
    embedder = cached_embedder(options.cache)
    print(
        f"{'set':20}{'asked':>6}{'citations':>11}{'brief':>8}{'unansw.':>9}{'tokens':>8}{'cited':>7}"
    )
    for name in options.sets or SETS:
        async with (
            open_set(
                name,
                data=options.data,
                sites=options.sites,
                cache=options.cache,
                embedder=embedder,
                max_queries=0,
            ) as judged,
            open_engine(judged.store, embedder, default_reranker()) as engine,
        ):
            every = list(questions(name, options.data))
            asked = every[:: max(1, len(every) // options.limit)]
            rows = []
            for query, answers in asked:
                question = Question(urls=(), query=query, project="default", expansion_budget=0)
                result = await engine.search(question, limit=default_limits().max_blocks)
                brief = format_brief(result, token_budget=options.budget)
                cited = sum(count_tokens(quote.text) for quote in result.quotes)
                row = (*holds(result, brief, answers), not result.answered)
                rows.append((*row, count_tokens(brief), cited))
            means = [statistics.fmean(column) for column in zip(*rows, strict=True)]
            print(
                f"{name:20}{len(rows):>6}{means[0]:>11.3f}{means[1]:>8.3f}{means[2]:>9.3f}"
                f"{means[3]:>8.0f}{means[4]:>7.0f}",
                flush=True,
            )
    await embedder.aclose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--budget", type=int, default=1_500)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--limit", type=int, default=10_000)
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
