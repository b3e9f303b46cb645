"""Following links: how often the page that holds the evidence is reached, and at what cost.

    python -m bench.link_following [--data DIR] [--sites DIR] [--cache DIR] [--limit N]

Two tests, both over real HTTP on loopback through Engine.answer with automatic expansion.
whatsnew: a release note of the Python documentation is asked starting from the page it stands on; a
right answer has the page it links to among its sources. The masked text lacks the linked name.
hotpot: each question's ten pages link to each other by title, without context. It is asked from a
page that is not among the two it needs, from one of the two, and from a list of all ten; a right
answer has both among its sources. (The set does not say which pages came with which question; they
stand in order, so each question gets the ten at its place, and its two.)
"""

from __future__ import annotations

import argparse
import html
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
from bench.judged_sets import DEFAULT_CACHE, DEFAULT_DATA, DEFAULT_SITES, SITE_SETS
from bench.research_engine import (
    cached_embedder,
    default_reranker,
    open_engine,
    served_folder,
    served_pages,
)

from citewell.core.results import OrchestrationResult, Question
from citewell.inference.protocols import Embedder
from citewell.research.engine import Engine
from citewell.store.open import open_store

PAGES_PER_QUESTION = 10
# The store is kept under the URLs of this port, so that a second run need not ingest again.
SITE_PORT = 18_765


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A question, where it is asked, and the pages that an answer needs."""

    query: str
    url: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one question."""

    start: Start
    found: frozenset[str]
    result: OrchestrationResult
    seconds: float

    @property
    def any_found(self) -> bool:
        return bool(self.found & self.start.gold)

    @property
    def all_found(self) -> bool:
        return self.start.gold <= self.found


async def ask(engine: Engine, start: Start) -> Outcome:
    """Ask one question and return which pages its evidence is from."""
    began = time.perf_counter()
    question = Question(urls=(start.url,), query=start.query, project="default")
    result = await engine.answer(question)
    found = frozenset(quote.url for quote in result.quotes)
    return Outcome(start=start, found=found, result=result, seconds=time.perf_counter() - began)


def report(name: str, outcomes: Sequence[Outcome]) -> None:
    """Print one row."""
    any_found = statistics.fmean(outcome.any_found for outcome in outcomes)
    all_found = statistics.fmean(outcome.all_found for outcome in outcomes)
    pages = statistics.fmean(len(outcome.result.steps) for outcome in outcomes)
    abstained = statistics.fmean(not outcome.result.answered for outcome in outcomes)
    seconds = statistics.median(outcome.seconds for outcome in outcomes)
    print(
        f"{name:28}{len(outcomes):>6}{any_found:>9.3f}{all_found:>9.3f}{pages:>8.2f}"
        f"{abstained:>9.3f}{seconds:>9.2f}",
        flush=True,
    )


def whatsnew_starts(base: str, data: Path, *, masked: bool) -> Iterator[Start]:
    folder = data / "site-labels" / "whatsnew_py_dev"
    gold: dict[str, set[str]] = {}
    for line in (folder / "qrels_url.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query_id, page, *_ = line.split("\t")
        gold.setdefault(query_id, set()).add(f"{base}/{page}")
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        query = json.loads(line)
        metadata = query["metadata"]
        yield Start(
            query=metadata["masked"] if masked else query["text"],
            url=f"{base}/{metadata['seed_page']}",
            gold=frozenset(gold[query["_id"]]),
        )


def hotpot_pages(data: Path) -> tuple[dict[str, str], list[tuple[str, list[str], list[str]]]]:
    """Return every page's text by title, and (question, its pages, the two it needs)."""
    folder = data / "retrieval" / "hotpot100"
    documents = [
        json.loads(line)
        for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    titles = [document["_id"] for document in documents]
    gold: dict[str, list[str]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query_id, title, _ = line.split("\t")
        gold.setdefault(query_id, []).append(title)
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    questions = []
    for at, query in enumerate(json.loads(line) for line in lines):
        first = at * len(titles) // len(lines)
        own = dict.fromkeys((*titles[first : first + PAGES_PER_QUESTION], *gold[query["_id"]]))
        questions.append((query["text"], list(own), gold[query["_id"]]))
    return {document["_id"]: document["text"] for document in documents}, questions


def linked_page(title: str, text: str, links: Sequence[tuple[str, str]]) -> str:
    named = ", ".join(f'<a href="{path}">{html.escape(name)}</a>' for name, path in links)
    return (
        f"<html><head><title>{html.escape(title)}</title></head><body><main>"
        f"<h1>{html.escape(title)}</h1><p>{html.escape(text)}</p><p>{named}.</p>"
        f"</main></body></html>"
    )


def hotpot_site(
    data: Path, *, limit: int
) -> tuple[dict[str, str], list[tuple[str, int, list[str], list[str]]]]:
    """Return the site's pages and, per question, its number, its paths and the two it needs."""
    texts, questions = hotpot_pages(data)
    pages: dict[str, str] = {}
    asked = []
    for number, (query, titles, gold) in enumerate(questions[:limit]):
        path = {title: f"q{number}/{at}" for at, title in enumerate(titles)}
        for title in titles:
            others = [(other, f"/{path[other]}") for other in titles if other != title]
            pages[path[title]] = linked_page(title, texts[title], others)
        every = [(title, f"/{path[title]}") for title in titles]
        pages[f"q{number}/list"] = linked_page("List of pages", "Pages of this site.", every)
        asked.append((query, number, list(path.values()), [path[title] for title in gold]))
    return pages, asked


def hotpot_start(base: str, asked: tuple[str, int, list[str], list[str]], begin: str) -> Start:
    query, number, paths, gold = asked
    first = {
        "list": f"q{number}/list",
        "other page": next(path for path in paths if path not in gold),
        "one of the two": gold[0],
    }[begin]
    return Start(query=query, url=f"{base}/{first}", gold=frozenset(f"{base}/{g}" for g in gold))


@asynccontextmanager
async def _engine(embedder: Embedder, store_path: Path) -> AsyncIterator[Engine]:
    store = await open_store(f"sqlite://{store_path}", model=embedder.name)
    try:
        async with open_engine(store, embedder, default_reranker()) as engine:
            yield engine
    finally:
        await store.aclose()


async def run(options: argparse.Namespace) -> None:
    if not options.data.exists():
        print(f"no data at {options.data}; give --data")
        return
    embedder = cached_embedder(options.cache)
    print(f"{'test':28}{'asked':>6}{'one':>9}{'all':>9}{'pages':>8}{'unansw.':>9}{'median s':>9}")
    site = options.sites / SITE_SETS["whatsnew_py_dev"]
    if site.exists():
        with served_folder(site, port=SITE_PORT) as base:
            async with _engine(embedder, options.cache / "python_loopback.db") as engine:
                for masked in (False, True):
                    starts = list(whatsnew_starts(base, options.data, masked=masked))
                    step = max(1, len(starts) // options.limit)
                    outcomes = [await ask(engine, start) for start in starts[::step]]
                    report(f"whatsnew{' masked' if masked else ''}", outcomes)
    with tempfile.TemporaryDirectory() as folder:
        pages, asked = hotpot_site(options.data, limit=options.limit)
        with served_pages(pages) as base:
            async with _engine(embedder, Path(folder) / "hotpot.db") as engine:
                for begin in ("other page", "one of the two", "list"):
                    outcomes = [
                        await ask(engine, hotpot_start(base, each, begin)) for each in asked
                    ]
                    report(f"hotpot from {begin}", outcomes)
    await embedder.aclose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--limit", type=int, default=1000)
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
