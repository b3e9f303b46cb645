"""Operations on the websites of the library, for tools and the shell, with their events."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from citewell.core.errors import CitewellError, NotFound, RobotsDisallowed
from citewell.core.frozen import frozen
from citewell.core.progress import OnProgress, no_progress
from citewell.jobs.website_status import is_stale, website_status

if TYPE_CHECKING:
    from citewell.app.parts import PartName, Parts
    from citewell.core.crawl_failures import FailureKind
    from citewell.core.jobs import Job
    from citewell.core.library import (
        CrawlOptions,
        Discovery,
        RemovedWebsite,
        Website,
        WebsiteDraft,
        WebsiteQuery,
    )
    from citewell.jobs.library import Processed, Refreshed

READ_NEEDS: tuple[PartName, ...] = ("store",)
CHANGE_NEEDS: tuple[PartName, ...] = ("store", "library", "events")


@frozen
class WebsiteView:
    """A website, whether it is stale, and the last job on it."""

    website: Website
    is_stale: bool
    job: Job | None = None
    """None in lists, and where there was no job yet."""


@frozen
class FailedPage:
    """A page of a site that could not be read, and why."""

    url: str
    kind: FailureKind
    reason: str


@frozen
class WebsiteListing:
    """Some of the websites that a query matches."""

    websites: tuple[WebsiteView, ...]
    total: int


@frozen
class SitePreview:
    """What a crawl of a site would begin with."""

    url: str
    discovery: Discovery
    named: int
    """How many pages the site names within the scope; 1 where links are followed."""
    urls: tuple[str, ...]
    """Those that would be read, up to the limit."""
    forbidden: int
    """How many of them robots.txt forbids."""
    delay_seconds: float | None
    """The pause between pages that robots.txt asks for."""


async def list_websites(parts: Parts, query: WebsiteQuery) -> WebsiteListing:
    """Return the websites that the query matches, in its order."""
    listed = await parts.store.library.list_websites(query)
    views = tuple(_view(website, parts) for website in listed.websites)
    return WebsiteListing(websites=views, total=listed.total)


async def view_website(parts: Parts, source_id: int, *, project: str) -> WebsiteView:
    """Return a website (or a stored page) with the last job on it.

    Raises:
        NotFound: there is no such website or page.
    """
    status = await website_status(parts.store, source_id, project=project)
    return _view(status.website, parts, job=status.job)


async def list_failed_pages(parts: Parts, source_id: int, *, limit: int) -> list[FailedPage]:
    """Return the first pages that the last crawl of a site could not read."""
    # Imported late: lists of websites are made without.
    from citewell.core.crawl_failures import parse_note

    notes = await parts.store.crawls.first_errors(source_id, limit=limit)
    failures = [(url, parse_note(note)) for url, note in notes]
    return [
        FailedPage(url=url, kind=failure.kind, reason=failure.reason) for url, failure in failures
    ]


async def find_website(parts: Parts, name: str, *, project: str) -> Website:
    """Return the website that an id or a URL names.

    Raises:
        NotFound: there is none.
    """
    library = parts.store.library
    if name.isdecimal():
        website = await library.get_website(int(name), project=project)
    else:
        # The URL parser takes longer to import than most commands run.
        from citewell.web.urls import canonical_url

        website = await library.find_website(canonical_url(name), project=project)
    if website is None:
        raise NotFound(
            f"there is no website {name}", suggestion="`citewell sites list` shows them."
        )
    return website


async def process_website(
    parts: Parts,
    draft: WebsiteDraft,
    *,
    caller: str,
    force: bool = False,
    wait_seconds: float | None = 0,
    on_progress: OnProgress = no_progress,
) -> Processed:
    """Add a website and have it read; `caller` names the tool or command in events.

    See `Library.process` for what is waited for.

    Raises:
        NotAUrl: it is not an HTTP or HTTPS URL.
        CitewellError: it cannot be added.
    """
    emit, started = parts.events.emit, monotonic()
    source = {"tool_name": caller, "url": draft.url}
    emit("WebsiteProcessingStart", **source, content_type=draft.content_type)
    try:
        processed = await parts.library.process(
            draft, force=force, wait_seconds=wait_seconds, on_progress=on_progress
        )
    except CitewellError as error:
        emit("WebsiteProcessingFailed", **source, error=error.message)
        raise
    # Otherwise the library reports the end of the work, which may come after this call.
    if processed.is_cached:
        emit(
            "WebsiteProcessingComplete",
            tool_name=caller,
            url=processed.website.url,
            source_id=processed.website.source_id,
            chunks_created=processed.website.chunks,
            processing_time_ms=round((monotonic() - started) * 1000),
            is_cached=True,
        )
    return processed


async def preview_site(parts: Parts, url: str, options: CrawlOptions) -> SitePreview:
    """Return what a crawl would read; only robots.txt, llms.txt and sitemaps are fetched.

    Raises:
        NotAUrl: it is not an HTTP or HTTPS URL.
        FetchError: the site cannot be reached, or its robots.txt forbids it.
        InvalidArgument: the site does not name its pages in the way that was asked for.
    """
    from citewell.ingest.discover import discover_urls
    from citewell.web.urls import canonical_url

    url = canonical_url(url)
    delay_seconds = await parts.fetcher.check_robots(url)
    discovered = await discover_urls(parts.fetcher, url, options)
    named = [named.url for named in discovered.urls]
    allowed: list[str] = []
    for address in named[: options.max_pages]:
        try:
            await parts.fetcher.check_robots(address)
        except RobotsDisallowed:
            continue
        allowed.append(address)
    return SitePreview(
        url=url,
        discovery=discovered.discovery,
        named=len(named),
        urls=tuple(allowed),
        forbidden=min(len(named), options.max_pages) - len(allowed),
        delay_seconds=delay_seconds,
    )


async def check_address(parts: Parts, url: str) -> None:
    """Check that a URL names a host that can be fetched from; nothing is fetched.

    Raises:
        NotAUrl: it is not an HTTP or HTTPS URL.
        FetchError: its host has no address, or none that is allowed.
    """
    from citewell.web.urls import canonical_url, split_url

    place = split_url(canonical_url(url))
    await parts.fetcher.guard.checked_addresses(place.host, place.port)


async def refresh_website(
    parts: Parts,
    source_id: int,
    *,
    project: str,
    caller: str,
    only_failed: bool = False,
    wait_seconds: float | None,
    on_progress: OnProgress = no_progress,
) -> Refreshed:
    """Fetch a website again, or what failed of it; only what changed is written and embedded.

    Raises:
        NotFound: there is no such website.
    """
    emit = parts.events.emit
    emit("WebsiteRefreshStart", tool_name=caller, source_id=source_id)
    try:
        return await parts.library.refresh(
            source_id,
            project=project,
            only_failed=only_failed,
            wait_seconds=wait_seconds,
            on_progress=on_progress,
        )
    except CitewellError as error:
        emit("WebsiteRefreshFailed", tool_name=caller, source_id=source_id, error=error.message)
        raise


async def delete_website(
    parts: Parts, source_id: int, *, project: str, caller: str
) -> RemovedWebsite:
    """Delete a website with its pages, chunks, vectors and words.

    Raises:
        NotFound: there is no such website.
    """
    removed = await parts.library.delete(source_id, project=project)
    parts.events.emit(
        "WebsiteDeleted",
        tool_name=caller,
        source_id=removed.source_id,
        url=removed.url,
        chunks_deleted=removed.chunks,
    )
    return removed


def _view(website: Website, parts: Parts, *, job: Job | None = None) -> WebsiteView:
    stale = is_stale(website, after_days=parts.settings.page_stale_days)
    return WebsiteView(website=website, is_stale=stale, job=job)
