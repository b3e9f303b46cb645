"""How fast the graph tools answer on a site of five hundred pages, called as a server calls them.

    python -m bench.graph_speed [--site FOLDER] [--store FILE] [--calls 40]

The pages are stored without vectors, which the graph does not use. With --store the file is kept
and used again. Times are of whole calls: validation, walk, projections, both forms of the result.
On a busy machine the processor time is the steadier number.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio

from citewell.app.open import App, open_app
from citewell.core.errors import CitewellError
from citewell.core.records import Caller, FetchedPage, PageDraft, SearchFilter
from citewell.core.settings import Settings
from citewell.ingest.reading import read_page
from citewell.store.protocol import Store
from citewell.tools.catalog import open_registry

SITE = Path("/tmp/sites/python3.11-doc/usr/share/doc/python3.11/html")
ROOT_URL = "https://docs.python.org/3.11/"
CALLER = Caller(session="bench")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--site", type=Path, default=SITE)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--calls", type=int, default=40)
    given = parser.parse_args()
    if not given.site.is_dir():
        print(f"{given.site} is absent: lay the sites out with ../shared/data/get-sites /tmp/sites")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = given.store or Path(folder, "graph.db")
        settings = Settings(
            database_url=f"sqlite://{path.resolve()}", embedder="none", mcp_toolsets=("all",)
        )
        async with open_app(settings) as app:
            store = (await app.open("store")).store
            if not (await store.corpus_stats(SearchFilter())).pages:
                await fill(store, given.site)
            await measure(settings, app, calls=given.calls)


async def fill(store: Store, site: Path) -> None:
    reading = writing = 0.0
    for path in pages_of(site):
        url = ROOT_URL + path.relative_to(site).as_posix()
        body = path.read_bytes()
        fetched = FetchedPage(
            url=url,
            final_url=url,
            status=200,
            kind="html",
            body=body,
            text=body.decode("utf-8", "replace"),
            fetched_at=datetime.now(UTC),
        )
        clock = time.perf_counter()
        try:
            extracted, chunks, entities = read_page(fetched)
        except CitewellError as error:
            print(f"left out {url}: {error.message}")
            continue
        reading += time.perf_counter() - clock
        clock = time.perf_counter()
        await store.put_page(
            PageDraft(
                url=url, fetched=fetched, extracted=extracted, chunks=chunks, entities=entities
            )
        )
        writing += time.perf_counter() - clock
    print(f"reading {reading:.1f} s, writing {writing:.1f} s")


def pages_of(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


async def measure(settings: Settings, app: App, *, calls: int) -> None:
    registry = open_registry(settings)
    store = (await app.open("store")).store
    counts = await store.graph_counts(SearchFilter())
    print(counts)
    chooser = random.Random(20260314)
    pages = await store.list_pages(SearchFilter(), limit=10_000)
    sections: list[str] = []
    for page in chooser.sample(pages, min(calls, len(pages))):
        stored = await store.get_page(page.source_id)
        assert stored is not None, "a listed page is there"
        place = chooser.choice(stored.sections).ordinal
        sections.append(f"section:{page.source_id}:{place}")
    page_ids = [f"page:{page.source_id}" for page in chooser.sample(pages, len(sections))]
    print(f"{'call':44} {'p50':>6} {'p95':>6} {'most':>6} {'cpu p95':>7}  ms, nodes or paths")
    for name, makers in cases(sections, page_ids).items():
        times: list[float] = []
        processor: list[float] = []
        found: list[int] = []
        for arguments in makers:
            clock, used = time.perf_counter(), time.process_time()
            result = await registry.call(name.partition(" ")[0], arguments, app=app, caller=CALLER)
            times.append((time.perf_counter() - clock) * 1000)
            processor.append((time.process_time() - used) * 1000)
            assert not result.is_error, result.text
            found.append(len(result.structured.get("paths", result.structured.get("nodes", []))))
        print(
            f"{name:44} {statistics.median(times):6.1f} {percentile(times, 95):6.1f} "
            f"{max(times):6.1f} {percentile(processor, 95):7.1f}  {statistics.mean(found):.1f}"
        )


def percentile(times: list[float], share: int) -> float:
    return sorted(times)[-(-len(times) * share // 100) - 1]


def cases(sections: list[str], pages: list[str]) -> dict[str, list[dict[str, Any]]]:
    """The calls to time, by a name whose first word is the tool's."""
    names = ["asyncio.run", "context manager", "str", "PEP 484", "open", "GIL", "list", "pathlib"]
    starts = [sections, pages]
    return {
        "graph.describe": [{"node_ids": [each]} for group in starts for each in group],
        "graph.expand sections, 1 hop": [{"node_ids": [each]} for each in sections],
        "graph.expand pages, 1 hop": [{"node_ids": [each]} for each in pages],
        "graph.expand sections, 2 hops": [{"node_ids": [e], "max_hops": 2} for e in sections],
        "graph.expand pages, 2 hops": [{"node_ids": [each], "max_hops": 2} for each in pages],
        "graph.expand three sections, 2 hops, a query": [
            {"node_ids": sections[at : at + 3], "max_hops": 2, "query": "read a file"}
            for at in range(len(sections) - 2)
        ],
        "graph.paths": [
            {"from_ids": [a], "to_ids": [b]} for a, b in zip(sections, pages, strict=True)
        ],
        "graph.parents": [{"node_ids": [each], "max_hops": 2} for each in sections],
        "graph.children": [{"node_ids": [each], "max_hops": 2} for each in pages],
        "graph.entities_for_sections": [{"section_ids": [each]} for each in sections],
        "graph.sections_for_entities": [{"entity_ids": [each]} for each in names],
    }


if __name__ == "__main__":
    anyio.run(main)
