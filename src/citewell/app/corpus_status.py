"""What is indexed, for the tool `status` and the command of the same name."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from citewell.answer.corpus_status import CorpusStatus, PageStatus, SiteStatus
from citewell.core.errors import NotFound
from citewell.core.library import PageQuery, WebsiteQuery
from citewell.core.records import SearchFilter
from citewell.core.text import counted
from citewell.inference.names import missing_embedder_note

if TYPE_CHECKING:
    from citewell.app.parts import PartName, Parts
    from citewell.core.jobs import Job
    from citewell.core.library import Website, WebsiteStatus
    from citewell.core.records import PageInfo

STATUS_NEEDS: tuple[PartName, ...] = ("store",)

MAX_LISTED_PAGES = 30
"""About 1,500 tokens; nobody would read the list of a whole library."""
_MAX_LISTED_SITES = 10


async def corpus_status(
    parts: Parts,
    *,
    project: str,
    owner: str,
    lists_pages: bool = True,
    offset: int = 0,
    below: str | None = None,
) -> CorpusStatus:
    """Return the counts of a project and of the owner's citations, and its pages by URL.

    The list begins after the first `offset` pages. With `below`, only pages are counted whose URLs
    begin so, and nothing else is.
    """
    where = SearchFilter(project=project, url_prefix=below)
    stats = await parts.store.corpus_stats(where)
    pages: tuple[PageInfo, ...] = ()
    offset = min(max(0, offset), stats.pages)
    if lists_pages:
        query = PageQuery(order_by="url", limit=MAX_LISTED_PAGES, offset=offset)
        pages = (await parts.store.browse_pages(where, query)).pages
    end = offset + len(pages)
    citations = await parts.store.citations.count_citations(owner, project=project)
    return CorpusStatus(
        documents=stats.pages,
        chunks=stats.chunks,
        tokens=stats.tokens,
        embedded_chunks=stats.embedded_chunks,
        pages=tuple(_page_status(page, parts) for page in pages) if lists_pages else None,
        next_cursor=end if pages and end < stats.pages else None,
        sites=None if below else await _unfinished_sites(parts, project) or None,
        note=missing_embedder_note(parts.settings.embedder),
        citations=None if below else citations.as_numbers() or None,
    )


async def page_status(parts: Parts, url: str, *, project: str) -> CorpusStatus:
    """Return the status of one page, or of the site that begins there.

    Raises:
        NotFound: it is not indexed.
    """
    # The URL parser takes longer to import than the rest of a status.
    from citewell.app.stored_pages import find_stored_page
    from citewell.web.urls import page_address

    page = await find_stored_page(parts.store, url, project=project)
    entry = await parts.store.library.find_website(page_address(url), project=project)
    site = entry if entry is not None and entry.kind == "site" else None
    if page is None and site is None:
        raise NotFound(f"{url} is not indexed.", suggestion="Call answer or ingest with this URL.")
    return CorpusStatus(
        documents=0 if page is None else 1,
        chunks=0 if page is None else page.chunks,
        tokens=0 if page is None else page.tokens,
        embedded_chunks=0 if page is None else page.embedded_chunks,
        pages=() if page is None else (_page_status(page, parts),),
        next_cursor=None,
        sites=None if site is None else (await _site_status(site, parts),),
    )


async def _unfinished_sites(parts: Parts, project: str) -> tuple[SiteStatus, ...]:
    """Return the sites that are being indexed or are queued."""
    states: tuple[WebsiteStatus, ...] = ("processing", "pending")
    queries = [
        WebsiteQuery(project=project, status=state, limit=_MAX_LISTED_SITES) for state in states
    ]
    listed = [await parts.store.library.list_websites(query) for query in queries]
    sites = [site for listing in listed for site in listing.websites if site.kind == "site"]
    return tuple([await _site_status(site, parts) for site in sites[:_MAX_LISTED_SITES]])


async def _site_status(site: Website, parts: Parts) -> SiteStatus:
    job = await parts.store.jobs.last_job(str(site.source_id), project=site.project)
    return SiteStatus(
        source_id=site.source_id,
        url=site.url,
        status=site.status,
        pages=site.pages,
        message=describe_site(site, job),
    )


def describe_site(site: Website, job: Job | None) -> str:
    """Return the progress or the outcome of the work on a site, as a sentence."""
    if job is not None and not job.is_finished:
        progress = job.progress
        of = f" of {progress.pages_total}" if progress.pages_total else ""
        return f"In progress ({progress.stage}): {progress.pages_done}{of} pages read."
    if site.status == "failed":
        return f"Failed: {site.error_message or 'the reason is unknown'}"
    if site.status == "stopped":
        return f"Stopped, with {counted(site.pages, 'page')} kept. Ingest the site again to go on."
    if site.status == "completed":
        return f"Completed: {counted(site.pages, 'page')}, {counted(site.chunks, 'chunk')}."
    return "Waiting to be read."


def _page_status(page: PageInfo, parts: Parts) -> PageStatus:
    limit = timedelta(days=parts.settings.page_stale_days)
    return PageStatus(
        source_id=page.source_id,
        title=page.title,
        url=page.url,
        chunks=page.chunks,
        tokens=page.tokens,
        embedded_chunks=page.embedded_chunks,
        language=page.language,
        fetched_at=page.fetched_at,
        # Files are never fetched again, and supplied text never came from its URL.
        is_stale=page.origin == "fetched" and datetime.now(UTC) - page.fetched_at > limit,
        origin=page.origin,
        supplied_by=page.supplied_by,
    )


def status_json(status: CorpusStatus) -> dict[str, Any]:
    """Return the status as plain values; what does not apply is left out."""
    values = asdict(status)
    if status.pages is not None:
        values["pages"] = [_page_json(page) for page in status.pages]
    return {name: value for name, value in values.items() if value is not None}


def _page_json(page: PageStatus) -> dict[str, Any]:
    values = asdict(page)
    moment = "supplied_at" if page.origin == "supplied" else "fetched_at"
    values[moment] = values.pop("fetched_at").isoformat(timespec="seconds")
    if page.origin == "fetched":
        del values["origin"]
    if not page.is_stale:
        del values["is_stale"]
    if not page.supplied_by:
        del values["supplied_by"]
    return values
