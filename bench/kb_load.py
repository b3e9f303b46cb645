"""The kb tools under load: time of kb.search over the store's own search, and 64 callers at once.

    python -m bench.kb_load [--site DIR] [--chunks 15000] [--seconds 60] [--callers 64]

By words, without vectors: what is measured is our own work around the store's. Each caller
searches, reads its passages and tries to read one of another caller, which must not be found.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
from bench.ingest_speed import DEFAULT_SITE

from citewell.app.open import App, open_app
from citewell.core.errors import CitewellError
from citewell.core.records import Caller, FetchedPage, PageDraft, SearchFilter
from citewell.core.settings import Settings
from citewell.core.words import content_words
from citewell.ingest.reading import read_page
from citewell.store.protocol import Store
from citewell.tools.catalog import open_registry
from citewell.tools.registry import Registry


async def fill(store: Store, site: Path, files: Sequence[Path], *, chunks: int) -> list[str]:
    """Store pages of the site until there are `chunks`; return headings to ask for."""
    headings: list[str] = []
    stored = 0
    for path in files:
        url = "https://docs.example/" + path.relative_to(site).as_posix()
        fetched = FetchedPage(
            url=url,
            final_url=url,
            status=200,
            kind="html",
            body=b"",
            text=path.read_text(encoding="utf-8"),
            fetched_at=datetime.now(UTC),
        )
        try:
            extracted, cut, entities = read_page(fetched)
        except CitewellError:
            continue
        draft = PageDraft(
            url=url, fetched=fetched, extracted=extracted, chunks=cut, entities=entities
        )
        await store.put_page(draft)
        headings += [section.heading for section in extracted.sections if section.heading]
        stored += len(cut)
        if stored >= chunks:
            break
    print(f"{stored} chunks")
    return headings


async def compare(app: App, registry: Registry, queries: Sequence[str]) -> None:
    """Print the median time of kb.search and of the store's word search alone."""
    alone: list[float] = []
    through: list[float] = []
    caller = Caller(session="bench")
    store = (await app.open("store")).store
    for query in queries:
        started = time.perf_counter()
        await store.search_words(
            content_words(query), where=SearchFilter(project="default"), limit=120
        )
        alone.append(time.perf_counter() - started)
        started = time.perf_counter()
        await registry.call("kb.search", {"query": query}, app=app, caller=caller)
        through.append(time.perf_counter() - started)
    store_ms, tool_ms = (statistics.median(times) * 1000 for times in (alone, through))
    print(
        f"store's search p50 {store_ms:.1f} ms, kb.search p50 {tool_ms:.1f} ms, "
        f"ratio {tool_ms / store_ms:.2f}"
    )


class Load:
    """Counts what the callers of a load run saw."""

    def __init__(self, app: App, registry: Registry, queries: Sequence[str]) -> None:
        self._app = app
        self._registry = registry
        self._queries = queries
        self._passages: dict[str, str] = {}
        self.calls = self.errors = self.crossings = 0

    async def be_a_caller(self, name: str, until: float) -> None:
        chooser = random.Random(name)
        caller = Caller(session=name)
        while time.monotonic() < until:
            found = await self._call("kb.search", caller, query=chooser.choice(self._queries))
            for result in found.get("results", ())[:2]:
                passage = result["passage_id"]
                self._passages[passage] = name
                await self._call("kb.read_excerpt", caller, passage_id=passage)
                await self._call("kb.expand_excerpt", caller, passage_id=passage)
            other = chooser.choice(list(self._passages) or [""])
            if self._passages.get(other, name) != name:
                stolen = await self._registry.call(
                    "kb.read_excerpt",
                    {"passage_id": other},
                    app=self._app,
                    caller=caller,
                )
                self.crossings += not stolen.is_error

    async def _call(self, tool: str, caller: Caller, **arguments: object) -> dict[str, Any]:
        result = await self._registry.call(tool, arguments, app=self._app, caller=caller)
        self.calls += 1
        self.errors += result.is_error
        return result.structured


async def run(options: argparse.Namespace, files: Sequence[Path]) -> None:
    if not options.site.exists():
        print(f"no site at {options.site}; give --site")
        return
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            database_url=f"sqlite:///{folder}/kb.db", embedder="none", mcp_toolsets=("all",)
        )
        registry = open_registry(settings)
        async with open_app(settings) as app:
            parts = await app.open("store", "scratch")
            headings = await fill(parts.store, options.site, files, chunks=options.chunks)
            queries = random.Random(1).sample(headings, 200)
            await compare(app, registry, queries)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            load = Load(app, registry, queries)
            until = time.monotonic() + options.seconds
            async with anyio.create_task_group() as tasks:
                for number in range(options.callers):
                    tasks.start_soon(load.be_a_caller, f"caller-{number}", until)
            after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{options.callers} callers, {options.seconds:.0f} s: {load.calls} calls, "
                f"{load.errors} errors, {load.crossings} cross-caller reads, "
                f"scratch {parts.scratch.stats()}, memory +{after - before:.0f} MB"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--site", type=Path, default=DEFAULT_SITE)
    parser.add_argument("--chunks", type=int, default=15_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--callers", type=int, default=64)
    options = parser.parse_args()
    anyio.run(run, options, sorted(options.site.rglob("*.html")))


if __name__ == "__main__":
    main()
