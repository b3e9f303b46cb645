"""Ingesting many pages at once, which are read in other processes."""

from __future__ import annotations

from pathlib import Path

from tests.site import running_site

from citewell.core.errors import EmptyPage
from citewell.core.progress import Progress
from citewell.core.records import SearchFilter
from citewell.ingest.pipeline import Ingester
from citewell.ingest.several_pages import ingest_all
from citewell.store.open import open_store
from citewell.web.fetcher import Fetcher

TEXT = "Herons wade in shallow rivers and wait for fish to come within reach of their bills."


async def test_many_pages_are_read_and_one_that_cannot_be_does_not_stop_them(
    tmp_path: Path,
) -> None:
    pages = {f"/{n}": f"<main><h1>Bird {n}</h1><p>{TEXT}</p></main>" for n in range(15)}
    pages["/empty"] = "<body><script>nothing()</script></body>"
    reports: list[Progress] = []

    async def hear(progress: Progress) -> None:
        if progress.done is not None:
            reports.append(progress)

    store = await open_store(f"sqlite:///{tmp_path}/pages.db")
    with running_site(pages) as site:
        async with (
            Fetcher(allowed_private_hosts=("127.0.0.1",), respect_robots=False) as fetcher,
            Ingester(store=store, fetcher=fetcher, embedder=None, stale_after_days=30) as ingester,
        ):
            outcomes = await ingest_all(
                ingester,
                [site.url(path) for path in pages],
                project="default",
                on_progress=hear,
            )

    stored = await store.list_pages(SearchFilter(), limit=100)
    await store.aclose()
    assert [report.done for report in reports] == list(range(1, 17))
    assert reports[-2].message.startswith("Reading http://127.0.0.1")
    assert reports[-1].message == "Read 16 pages"
    assert sorted(page.title for page in stored) == sorted(f"Bird {n}" for n in range(15))
    assert [type(outcome.error) for outcome in outcomes] == [type(None)] * 15 + [EmptyPage]
    assert outcomes[-1].error is not None
    assert "holds no readable text" in outcomes[-1].error.message
