"""A library over a real site and store, for tests of the jobs that keep it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tests.hashing_embedder import HashingEmbedder
from tests.site import Site

from citewell.core.library import CrawlOptions, Website, WebsiteDraft, WebsiteQuery
from citewell.ingest.library_pages import LibraryParts
from citewell.ingest.pipeline import Ingester
from citewell.jobs.library import Library, open_library
from citewell.jobs.runner import Pace
from citewell.store.open import open_store
from citewell.store.protocol import Store
from citewell.web.fetcher import Fetcher

QUICK = Pace(poll_seconds=0.05, first_retry_seconds=0.02, closing_seconds=0.5)


class Clock:
    """A clock that can be set; it stands still by itself."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **amount: float) -> None:
        self.now += timedelta(**amount)


@dataclass(kw_only=True)
class Shelf:
    """An open library and what it stands on."""

    library: Library
    store: Store
    ingester: Ingester
    events: list[tuple[str, Mapping[str, object]]]

    async def listed(self) -> list[Website]:
        query = WebsiteQuery(order_by="url", descending=False, limit=1_000)
        return list((await self.store.library.list_websites(query)).websites)

    async def page_urls(self, source_id: int) -> list[str]:
        """The paths of a website's pages, sorted."""
        members = await self.store.library.list_members(source_id, limit=1_000)
        return sorted("/" + member.url.split("/", 3)[3] for member in members)


@asynccontextmanager
async def open_shelf(
    site: Site,
    *,
    address: str = "sqlite://",
    polls: bool = True,
    pace: Pace = QUICK,
    clock: Clock | None = None,
    max_retries: int = 0,
    embeds_left: bool = False,
) -> AsyncIterator[Shelf]:
    """Open a library that may fetch from `site`, with a word-hashing embedder."""
    events: list[tuple[str, Mapping[str, object]]] = []

    def emit(name: str, **fields: object) -> None:
        events.append((name, fields))

    embedder = HashingEmbedder()
    async with AsyncExitStack() as stack:
        store = await open_store(address, model=embedder.name, busy_timeout_seconds=60)
        stack.push_async_callback(store.aclose)
        fetcher = await stack.enter_async_context(
            Fetcher(allowed_private_hosts=(site.host,), max_retries=max_retries, timeout_seconds=60)
        )
        ingester = await stack.enter_async_context(
            Ingester(
                store=store,
                fetcher=fetcher,
                embedder=embedder,
                stale_after_days=30,
                response_max_bytes=1_000_000,
            )
        )
        parts = LibraryParts(store=store, ingester=ingester, fetcher=fetcher)
        if clock is not None:
            parts = LibraryParts(store=store, ingester=ingester, fetcher=fetcher, clock=clock)
        library = await stack.enter_async_context(
            open_library(
                parts,
                polls=polls,
                stale_after_days=30,
                pace=pace,
                emit=emit,
                embeds_left_for=embedder.name if embeds_left else None,
            )
        )
        yield Shelf(library=library, store=store, ingester=ingester, events=events)


def page_draft(url: str, **options: object) -> WebsiteDraft:
    return WebsiteDraft(url=url, **options)  # type: ignore[arg-type]  # the tests' own keywords


def site_draft(url: str, **options: object) -> WebsiteDraft:
    crawl = CrawlOptions(**options)  # type: ignore[arg-type]  # the tests' own keywords
    return WebsiteDraft(url=url, kind="site", options=crawl)


def html(title: str, *paragraphs: str, head: str = "", links: tuple[str, ...] = ()) -> str:
    """A page with a heading, paragraphs of some length, and a menu of links."""
    menu = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    body = "".join(f"<p>{text}</p>" for text in paragraphs)
    return (
        f"<html><head><title>{title}</title>{head}</head><body><nav><ul>{menu}</ul></nav>"
        f"<main><h1>{title}</h1>{body}</main></body></html>"
    )
