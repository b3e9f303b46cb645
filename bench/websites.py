"""The website library: how long each `rag_*` tool takes, and how often its answers are right.

    python -m bench.websites [--pages 2000] [--chunks 50000] [--data DIR] [--no-relevance]

Times are of whole tool calls through the registry, on a library of `--pages` pages and `--chunks`
chunks. Its texts follow the word frequencies of English and its vectors are drawn, not embedded
(embedding 50,000 chunks takes half an hour); queries are embedded by the real model. The pages that
are processed and refreshed are real pages of the Python documentation, served on loopback, and
their vectors are made. Relevance is measured on the shared sets with real vectors: a right page
among the first three, nDCG@10, and how often `confidence_level` high is right.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
from bench.cached_embedder import CachedEmbedder
from bench.judged_sets import (
    DEFAULT_CACHE,
    DEFAULT_DATA,
    DEFAULT_SITES,
    SITE_SETS,
    JudgedSet,
    open_set,
)
from bench.quality import hit, ndcg
from bench.search_speed import Corpus, make_page
from tests.site import running_site

from citewell.app.open import App, open_app
from citewell.app.parts import Parts
from citewell.core.library import ContentType, FieldValue, WebsiteDraft
from citewell.core.records import Caller, SearchFilter
from citewell.core.settings import Settings
from citewell.retrieve.pipeline import DEPTH
from citewell.tools.catalog import open_registry
from citewell.tools.registry import Registry
from citewell.tools.tool import Call
from citewell.tools.websites.scores import confidence_level
from citewell.tools.websites.search import search_library

ME = Caller(session="bench")
SITE = SITE_SETS["labels_python_dev"]
# As long as a job posting or an article: eight to twenty-five chunks.
PAGE_NAMES = ("library/copy.html", "library/bisect.html", "library/queue.html", "library/glob.html")
# Sets on which ranking is not saturated, in both languages; the reranker was fitted on some.
RELEVANCE_SETS = (
    "anthropic_docs",
    "hotpot100",
    "k8s_glossary_en",
    "k8s_glossary_ja",
    "jsquad_valid",
    "xquad_en",
)
MAX_QUERIES = 1_000
REPEATS = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The tools over an open library."""

    app: App
    parts: Parts
    registry: Registry

    async def call(self, name: str, **arguments: object) -> dict[str, Any]:
        """Call a tool; a failure ends the measurement."""
        result = await self.registry.call(name, arguments, app=self.app, caller=ME)
        assert not result.is_error, result.text
        return result.structured


async def fill(parts: Parts, *, pages: int, chunks: int) -> Corpus:
    """Store a library of drawn texts and vectors, each page an entry with a company."""
    corpus = Corpus(chunks)
    store, embedder = parts.store, parts.embedder
    assert embedder is not None, "the real model embeds the queries"
    per_page = chunks // pages
    now = datetime.now(UTC)
    for number in range(pages):
        draft = make_page(number, [corpus.text() for _ in range(per_page)])
        content_type: ContentType = "job_posting" if number % 2 else "blog_article"
        put = await store.put_page(replace(draft, project="default", content_type=content_type))
        website, _ = await store.library.add_website(
            WebsiteDraft(url=draft.url, content_type=content_type), now=now
        )
        company: FieldValue = {
            "value": f"Company {number % 100}",
            "quote": f"Company {number % 100}",
        }
        await store.library.join_page(
            website.source_id, put.source_id, fields={"company": [company]}
        )
        await store.library.finish_website(website.source_id, "completed", now=now)
        stored = await store.chunks_of_page(put.source_id)
        first = number * per_page
        vectors = {chunk.chunk_id: corpus.vectors[first + chunk.ordinal] for chunk in stored}
        await store.put_vectors(vectors, model=embedder.name)
    return corpus


async def timed(work: Callable[[], Awaitable[Any]]) -> float:
    """Return the milliseconds that `work` takes."""
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000


def show(what: str, times: Sequence[float], *, seed: str, reach: str) -> None:
    """Print a row of the table."""
    ordered = sorted(times)
    slow = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    print(
        f"{what:38}{statistics.median(times):>9.1f}{slow:>9.1f}  {seed:>9}  {reach:>9}", flush=True
    )


async def measure_tools(bench: Bench, corpus: Corpus, *, site_root: Path) -> None:
    """Print the rows of the tools."""
    originals = {f"/{name}": (site_root / name).read_text(encoding="utf-8") for name in PAGE_NAMES}
    print(f"{'milliseconds':38}{'median':>9}{'p95':>9}  {'seed B':>9}  {'reach':>9}")
    with running_site(originals) as site:
        urls = [site.url(path) for path in originals]
        await bench.call("rag_query_websites", query="warm the model and the codes")
        process = [
            await timed(lambda url=url: bench.call("rag_process_website", url=url))  # type: ignore[misc]
            for url in urls
        ]
        show("rag_process_website", process, seed="15000", reach="2000")
        times = [
            await timed(lambda: bench.call("rag_process_website", url=urls[0]))
            for _ in range(REPEATS)
        ]
        show("rag_process_website, cached", times, seed="1000", reach="20")
        listed = await bench.call("rag_list_websites", limit=100)
        ids = {website["url"]: website["id"] for website in listed["websites"]}
        await bench.parts.ingester.embed_now([ids[url] for url in urls])
        await measure_reading(bench, corpus)
        same = [
            await timed(lambda url=url: bench.call("rag_refresh_website", source_id=ids[url]))  # type: ignore[misc]
            for url in urls
        ]
        show("rag_refresh_website, unchanged", same, seed="15000", reach="100")
        changed = []
        for path, url in zip(originals, urls, strict=True):
            site.pages[path] = originals[path].replace("<p>", "<p>Herons wade here. ", 1)
            changed.append(
                await timed(lambda url=url: bench.call("rag_refresh_website", source_id=ids[url]))  # type: ignore[misc]
            )
        show("rag_refresh_website, one section", changed, seed="15000", reach="1000")
        gone = [website["id"] for website in listed["websites"] if website["url"] not in urls]
        deleted = [
            await timed(lambda at=at: bench.call("rag_delete_website", source_id=at))  # type: ignore[misc]
            for at in gone[:REPEATS]
        ]
        show("rag_delete_website", deleted, seed="100", reach="20")


async def measure_reading(bench: Bench, corpus: Corpus) -> None:
    """Print the rows of the tools that only read."""
    queries = [" ".join(corpus.query_words()) for _ in range(REPEATS)]
    times = [
        await timed(lambda text=text: bench.call("rag_query_websites", query=text))  # type: ignore[misc]
        for text in queries
    ]
    show("rag_query_websites", times, seed="3000", reach="100")
    filtered = [
        await timed(
            lambda text=text: bench.call(  # type: ignore[misc]
                "rag_query_websites", query=text, content_type_filter="job_posting"
            )
        )
        for text in queries
    ]
    show("rag_query_websites, one content type", filtered, seed="3000", reach="100")
    times = [await timed(lambda: bench.call("rag_list_websites")) for _ in range(REPEATS)]
    show("rag_list_websites, 50 rows", times, seed="500", reach="20")
    listed = await bench.call("rag_list_websites")
    ids = [website["id"] for website in listed["websites"]][:REPEATS]
    times = [
        await timed(lambda at=at: bench.call("rag_get_website_status", source_id=at))  # type: ignore[misc]
        for at in ids
    ]
    show("rag_get_website_status", times, seed="50", reach="5")


@dataclass(slots=True)
class Answers:
    """What the queries of some sets found."""

    asked: int = 0
    in_first_three: float = 0.0
    gain: float = 0.0
    high: int = 0
    high_and_right: int = 0

    def add(self, other: Answers) -> None:
        """Count those of another set as well."""
        self.asked += other.asked
        self.in_first_three += other.in_first_three
        self.gain += other.gain
        self.high += other.high
        self.high_and_right += other.high_and_right

    def show(self, name: str) -> None:
        """Print a row."""
        sure = f"{self.high_and_right / self.high:.3f}" if self.high else "-"
        print(
            f"{name:24}{self.asked:>7}{self.in_first_three / self.asked:>9.3f}"
            f"{self.gain / self.asked:>9.3f}{self.high / self.asked:>10.2f}{sure:>9}",
            flush=True,
        )


async def measure_set(judged: JudgedSet, call: Call) -> Answers:
    """Ask a set's queries as `rag_query_websites` does."""
    answers = Answers()
    # Evenly from all: neighbouring queries of some sets are about the same page.
    step = max(1, len(judged.queries) // MAX_QUERIES)
    for query in judged.queries[::step]:
        # More chunks than a call returns: ten pages are wanted, and a page may have several.
        found = await search_library(query.text, where=SearchFilter(), limit=DEPTH, call=call)
        pages = list(dict.fromkeys(each.chunk.url for each in found.chunks))
        answers.asked += 1
        answers.in_first_three += hit(pages, query.gains, cut=3)
        answers.gain += ndcg(pages, query.gains)
        if found.chunks and confidence_level(found.chunks[0].combined_score) == "high":
            answers.high += 1
            answers.high_and_right += bool(hit(pages, query.gains, cut=1))
    return answers


async def measure_relevance(parts: Parts, options: argparse.Namespace) -> None:
    """Print the rows of the shared sets."""
    assert parts.embedder is not None, "the real model embeds the queries"
    embedder = CachedEmbedder(parts.embedder, options.cache / "vectors.db")
    print(f"\n{'set':24}{'asked':>7}{'first 3':>9}{'nDCG@10':>9}{'high':>10}{'right':>9}")
    together = Answers()
    for name in options.sets or RELEVANCE_SETS:
        async with open_set(
            name,
            data=options.data,
            sites=options.sites,
            cache=options.cache,
            embedder=embedder,
            max_queries=100_000,
        ) as judged:
            opened = {"store": judged.store, "embedder": embedder, "reranker": parts.reranker}
            changed = Parts(parts.settings, opened)
            answers = await measure_set(judged, Call(parts=changed, caller=ME))
        answers.show(name)
        together.add(answers)
    together.show("all (reach .92, high ≥ .9)")


async def run(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            database_url=f"sqlite:///{folder}/library.db",
            web_allowed_private_hosts=("127.0.0.1",),
            mcp_toolsets=("all",),
            events=("none",),
        )
        async with open_app(settings) as app:
            parts = await app.open("store", "embedder", "reranker", "ingester", "background")
            bench = Bench(app=app, parts=parts, registry=open_registry(settings))
            if not options.no_speed:
                corpus = await fill(parts, pages=options.pages, chunks=options.chunks)
                await measure_tools(bench, corpus, site_root=options.sites / SITE)
            if options.no_relevance or not options.data.exists():
                print(f"relevance not measured (data: {options.data})")
                return
            await measure_relevance(parts, options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", metavar="SET", help="measure relevance on these only")
    parser.add_argument("--pages", type=int, default=2_000)
    parser.add_argument("--chunks", type=int, default=50_000)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--no-speed", action="store_true")
    parser.add_argument("--no-relevance", action="store_true")
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
