"""Developers' questions with the sentences that answer them, over whole documentation sites.

    python -m bench.questions [--lines even|odd|all] [--site SITE …] [--no-answer] [--show FILE]
                              [--right-page]

Asks `search` of each ingested site, plain FTS5 by section of the same pages, and `answer` from the
page where a developer would start; with `--right-page` also from the page that has the answer.
Scored as ../shared/data/questions/README.md says. Odd lines are for the last measurement only. The
sites come from `bench.question_sites`, which ingests them.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import anyio
from bench.judged_sets import DEFAULT_DATA
from bench.plain_fts import PlainSearch
from bench.question_sites import (
    DEFAULT_CACHE,
    DEFAULT_SITES,
    PROJECT,
    SITES,
    loopback_fetcher,
    open_kept_embedder,
    open_library,
    served,
)
from bench.research_engine import default_limits, default_reranker

from citewell.answer.brief import format_brief
from citewell.core.question import parse_query
from citewell.core.records import SearchFilter
from citewell.core.results import OrchestrationResult, Question
from citewell.core.settings import Settings
from citewell.core.tokens import count_tokens
from citewell.inference.protocols import Embedder
from citewell.ingest.pipeline import Ingester
from citewell.research.engine import Engine
from citewell.research.parts import Parts
from citewell.retrieve.candidates import find_candidates
from citewell.retrieve.pipeline import DEPTH
from citewell.store.protocol import Store

DEFAULT_QUESTIONS = DEFAULT_DATA / "questions/questions.jsonl"
_LIMIT = 20
_LINK = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)")
_QUOTE_MARK = re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE)
_STRAIGHT = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "`": None, "*": None})


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A line of the data."""

    line: int
    id: str
    kind: str
    site: str
    text: str
    start: str
    page: str | None = None
    """The page that has the answer."""
    parts: tuple[tuple[re.Pattern[str], ...], ...]
    """For each part of the answer the patterns of its alternatives; none when it is absent."""

    @property
    def is_absent(self) -> bool:
        """Whether the site does not answer it."""
        return not self.parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """How one way of asking did on one question."""

    question: AskedQuestion
    first: bool
    anywhere: bool
    answered: bool
    tokens: int
    cpu_ms: float = 0.0


@dataclass(slots=True, kw_only=True)
class Table:
    """The scores of one way of asking."""

    name: str
    rows: list[Scored] = field(default_factory=list)

    def line(self) -> str:
        """Return the row of this way in the printed table."""
        present = [row for row in self.rows if not row.question.is_absent]
        absent = [row for row in self.rows if row.question.is_absent]
        both = [row for row in present if len(row.question.parts) > 1]
        tokens = sorted(row.tokens for row in self.rows)
        return (
            f"{self.name:22}{len(present):>5}"
            f"{_share(row.first for row in present):>7}{_share(row.anywhere for row in present):>7}"
            f"{_share(row.anywhere for row in both):>8}"
            f"{statistics.median(tokens):>8.0f}{tokens[int(0.95 * (len(tokens) - 1))]:>7}"
            f"{_share(not row.answered for row in absent):>9}"
            f"{_share(not row.answered for row in present):>8}"
            f"{statistics.median(row.cpu_ms for row in self.rows):>7.0f}"
        )


HEADER = (
    f"{'':22}{'asked':>5}{'first':>7}{'any':>7}{'2 parts':>8}{'tokens':>8}{'p95':>7}"
    f"{'admitted':>9}{'refused':>8}{'cpu ms':>7}"
)


def read_questions(path: Path) -> list[AskedQuestion]:
    """Return all questions; `line` counts from 1."""
    found = []
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            row = json.loads(line)
            found.append(
                AskedQuestion(
                    line=number,
                    id=row["id"],
                    kind=row["kind"],
                    site=row["site"],
                    text=row["question"],
                    start=row["start"],
                    page=row.get("page"),
                    parts=tuple(
                        tuple(re.compile(each["pattern"], re.IGNORECASE) for each in part)
                        for part in row["parts"]
                    ),
                )
            )
    return found


def plain_text(markdown: str) -> str:
    """Return text as patterns are looked for in it: no Markdown, straight quotes, one line."""
    bare = _QUOTE_MARK.sub("", _LINK.sub("]", markdown)).replace("[", "").replace("]", "")
    return " ".join(bare.translate(_STRAIGHT).split())


def score(
    question: AskedQuestion,
    first: str,
    whole: str,
    *,
    answered: bool,
    cpu_ms: float = 0.0,
) -> Scored:
    """Return how the first quote and the whole result did."""

    def holds(text: str, part: Sequence[re.Pattern[str]]) -> bool:
        return any(pattern.search(text) for pattern in part)

    shown, best = plain_text(whole), plain_text(first)
    return Scored(
        question=question,
        first=bool(question.parts) and holds(best, question.parts[0]),
        anywhere=bool(question.parts) and all(holds(shown, part) for part in question.parts),
        answered=answered,
        tokens=count_tokens(whole),
        cpu_ms=cpu_ms,
    )


class Asker:
    """Asks the questions of one site in every way, and writes down what came back."""

    def __init__(self, engine: Engine, plain: PlainSearch, log: TextIO | None) -> None:
        self.search = Table(name="search")
        self.plain = Table(name="plain FTS5")
        self.answer = Table(name="answer from start")
        self.answer_from_page = Table(name="answer from right page")
        self._engine = engine
        self._plain = plain
        self._log = log

    async def ask_search(self, question: AskedQuestion, *, beyond_ms: float) -> None:
        """Ask the whole site; `beyond_ms` is what finding candidates alone takes."""
        asked = Question(urls=(), query=question.text, project=PROJECT, expansion_budget=0)
        began = time.process_time()
        result = await self._engine.search(asked, limit=_LIMIT)
        cpu_ms = (time.process_time() - began) * 1000 - beyond_ms
        self._score(self.search, question, result, cpu_ms=cpu_ms)

    async def ask_answer(self, question: AskedQuestion, table: Table, page: str) -> None:
        """Ask from a page."""
        url = SITES[question.site].page_url(page)
        asked = Question(urls=(url,), query=question.text, project=PROJECT)
        began = time.process_time()
        result = await self._engine.answer(asked)
        cpu_ms = (time.process_time() - began) * 1000
        self._score(table, question, result, cpu_ms=cpu_ms)

    def ask_plain(self, question: AskedQuestion) -> None:
        """Ask FTS5."""
        found = [section.shown for section in self._plain.search(question.text)]
        whole = "\n\n".join(found)
        first = found[0] if found else ""
        scored = score(question, first, whole, answered=bool(found))
        self.plain.rows.append(scored)
        self._write(self.plain, scored, "")

    def _score(
        self, table: Table, question: AskedQuestion, result: OrchestrationResult, *, cpu_ms: float
    ) -> None:
        brief = format_brief(result, token_budget=Settings().mcp_response_token_budget)
        first = result.quotes[0].text if result.quotes else ""
        scored = score(question, first, brief, answered=result.answered, cpu_ms=cpu_ms)
        table.rows.append(scored)
        self._write(table, scored, brief)

    def _write(self, table: Table, scored: Scored, brief: str) -> None:
        if self._log is None:
            return
        question = scored.question
        marks = "".join(
            letter if is_so else "-"
            for letter, is_so in (
                ("F", scored.first),
                ("A", scored.anywhere),
                ("Y", scored.answered),
            )
        )
        wanted = " | ".join(part[0].pattern for part in question.parts) or "(absent)"
        head = f"=== {question.line} {question.id} {question.kind} [{table.name}] {marks}"
        self._log.write(f"{head} {scored.tokens} tokens\nQ: {question.text}\nWANTED: {wanted}\n")
        self._log.write(f"{brief}\n\n")
        self._log.flush()


async def ask_site(
    name: str, questions: Sequence[AskedQuestion], options: argparse.Namespace, log: TextIO | None
) -> list[Table]:
    """Return the tables of one site's questions."""
    embedder = open_kept_embedder(options.cache)
    reranker = default_reranker()
    plain = PlainSearch(trigrams=name.endswith("-ja"))
    async with (
        open_library(options.cache, name, model=embedder.name) as store,
        loopback_fetcher() as fetcher,
        Ingester(store=store, fetcher=fetcher, embedder=None, stale_after_days=9_999) as ingester,
    ):
        if not options.no_plain:
            await plain.fill(store)
        parts = Parts(store=store, ingester=ingester, embedder=embedder, reranker=reranker)
        asker = Asker(Engine(parts, default_limits()), plain, log)
        with served(options.sites, name):
            for question in questions:
                beyond_ms = await candidates_cpu_ms(question.text, store, embedder)
                await asker.ask_search(question, beyond_ms=beyond_ms)
                if not options.no_plain:
                    asker.ask_plain(question)
                if not options.no_answer:
                    await asker.ask_answer(question, asker.answer, question.start)
                if options.right_page and question.page:
                    await asker.ask_answer(question, asker.answer_from_page, question.page)
    await embedder.aclose()
    tables = (asker.search, asker.plain, asker.answer, asker.answer_from_page)
    return [table for table in tables if table.rows]


async def candidates_cpu_ms(text: str, store: Store, embedder: Embedder) -> float:
    """Return what the word and vector search for a question take, once they are warm."""
    query = parse_query(text)
    spent_ms = 0.0
    for _ in range(2):
        began = time.process_time()
        await find_candidates(
            query,
            store=store,
            embedder=embedder,
            where=SearchFilter(project=PROJECT),
            depth=max(DEPTH, 2 * _LIMIT),
        )
        spent_ms = (time.process_time() - began) * 1000
    return spent_ms


async def run(options: argparse.Namespace) -> None:
    if not options.questions.exists():
        print(f"no questions at {options.questions}; give --questions")
        return
    wanted = {"even": (0,), "odd": (1,), "all": (0, 1)}[options.lines]
    asked = [each for each in read_questions(options.questions) if each.line % 2 in wanted]
    names = [name for name in SITES if any(each.site == name for each in asked)]
    tables: dict[str, Table] = {}
    log = options.show.open("w", encoding="utf-8") if options.show else None
    for name in options.site or names:
        if not (options.cache / f"{name}.ingested").exists():
            print(f"{name} is not ingested; run bench.question_sites first")
            continue
        own = [each for each in asked if each.site == name]
        for table in await ask_site(name, own, options, log):
            if options.by_site:
                print(f"{name}\n{HEADER}\n{table.line()}", flush=True)
            tables.setdefault(table.name, Table(name=table.name)).rows += table.rows
    print(HEADER)
    for table in tables.values():
        print(table.line())
    print_missed(tables.values())


def print_missed(tables: Iterable[Table]) -> None:
    """Print the questions each way missed, by kind of miss."""
    for table in tables:
        present = [row for row in table.rows if not row.question.is_absent]
        absent = [row for row in table.rows if row.question.is_absent]
        for what, rows in (
            ("not first", [row for row in present if not row.first]),
            ("nowhere", [row for row in present if not row.anywhere]),
            ("wrongly refused", [row for row in present if not row.answered]),
            ("not admitted", [row for row in absent if row.answered]),
        ):
            print(f"{table.name}, {what}: {' '.join(row.question.id for row in rows)}")


def _share(flags: Iterable[bool]) -> str:
    every = list(flags)
    return f"{statistics.fmean(every):.3f}" if every else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=Path, default=DEFAULT_QUESTIONS)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--lines", choices=("even", "odd", "all"), default="even")
    parser.add_argument("--site", nargs="*", choices=sorted(SITES))
    parser.add_argument("--no-answer", action="store_true", help="leave `answer` out")
    parser.add_argument("--right-page", action="store_true", help="also from the answering page")
    parser.add_argument("--no-plain", action="store_true", help="leave FTS5 out")
    parser.add_argument("--by-site", action="store_true", help="print each site's table too")
    parser.add_argument("--show", type=Path, help="write every result into this file")
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
