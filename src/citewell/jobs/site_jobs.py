"""Process and refresh a website that is a whole site."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from citewell.core.crawl_failures import parse_note
from citewell.core.errors import InferenceError
from citewell.core.jobs import JobProgress
from citewell.core.library import ChangeReport
from citewell.ingest.crawl import SiteCrawler
from citewell.ingest.discover import start_pages
from citewell.jobs.embedding import embed_pages
from citewell.jobs.remote_renderer import nobody_waits
from citewell.store.library_json import report_to_json
from citewell.web.urls import split_url

if TYPE_CHECKING:
    from citewell.core.library import CrawlState, Website, WebsiteStatus
    from citewell.ingest.library_pages import LibraryParts
    from citewell.jobs.work import Work

_URLS_AT_ONCE = 8
# Reading takes most of the time while pages are fetched over a network.
_READING_PERCENT = 80
_REPORTED_PAGES = 50
_ALL_CHANGES = 1_000_000


async def crawl_site(work: Work, parts: LibraryParts, website: Website) -> str:
    """Read the site and return what changed, as the JSON of a ChangeReport.

    A job that was stopped resumes where it was. A page that fails does not stop the others.

    Raises:
        CitewellError: the site cannot be reached, or stopped answering.
    """
    is_refresh = work.job.kind == "refresh_website" or bool(work.job.payload.get("force"))
    only_failed = bool(work.job.payload.get("only_failed"))
    crawler = SiteCrawler(parts, website, job_id=work.job.job_id, is_refresh=is_refresh)
    if only_failed:
        await parts.store.crawls.retry_failed(website.source_id, job_id=work.job.job_id)
    if not await crawler.is_begun():
        await work.report(JobProgress(stage="discovering"))
    await crawler.start()
    with nobody_waits():
        while True:
            await work.report(await _reading(parts, website, bytes_read=crawler.bytes_read))
            if not await crawler.read_some(_URLS_AT_ONCE):
                break
    await _embed(work, parts, website, bytes_read=crawler.bytes_read)
    await work.confirm()
    report = await _report(parts, website)
    status, message = await _summary(parts, website)
    await parts.store.library.finish_website(
        website.source_id,
        status,
        now=parts.clock(),
        title=await _title(parts, website),
        error_message=message,
        # After the first crawl nothing has changed; its failed pages are read late.
        change=report if is_refresh and (not only_failed or website.last_change) else None,
    )
    return report_to_json(report)


async def _reading(parts: LibraryParts, website: Website, *, bytes_read: int) -> JobProgress:
    counts = await parts.store.crawls.count_urls(website.source_id)
    crawl = await parts.store.crawls.get_crawl(website.source_id)
    waiting, known = counts.get("waiting", 0), sum(counts.values())
    done = known - waiting
    room = max(website.options.max_pages - counts.get("read", 0), 0)
    # Following links finds more pages than are known so far, up to the limit.
    is_total_known = crawl is not None and (crawl.discovery != "links" or waiting >= room)
    total = done + min(waiting, room) if is_total_known else None
    now = await parts.store.library.get_website(website.source_id, project=website.project)
    return JobProgress(
        stage="fetching",
        pages_done=done,
        pages_total=total,
        chunks=0 if now is None else now.chunks,
        bytes_read=bytes_read,
        percent=None if not total else _READING_PERCENT * done // total,
        message=f"URLs tried: {done}, {waiting} more known" if total is None else "",
    )


async def _embed(work: Work, parts: LibraryParts, website: Website, *, bytes_read: int) -> None:
    members = await _member_ids(parts, website)
    now = await parts.store.library.get_website(website.source_id, project=website.project)
    progress = JobProgress(
        stage="embedding",
        pages_done=len(members),
        pages_total=len(members),
        bytes_read=bytes_read,
        chunks=0 if now is None else now.chunks,
        percent=_READING_PERCENT,
    )
    await work.report(progress)
    try:
        await embed_pages(work, parts.ingester, members)
    except InferenceError as error:
        raise InferenceError(
            f"the pages are stored and found by their words, but lack vectors: {error.message}"
        ) from error


async def _member_ids(parts: LibraryParts, website: Website) -> list[int]:
    return await parts.store.library.pages_of([website.source_id], project=website.project)


async def _report(parts: LibraryParts, website: Website) -> ChangeReport:
    crawls, site_id = parts.store.crawls, website.source_id
    changes = await crawls.list_changes(site_id, limit=_ALL_CHANGES)
    kinds = Counter(change.kind for change in changes)
    counts = await crawls.count_urls(site_id)
    removed, added = await crawls.sum_chunks(site_id)
    return ChangeReport(
        checked_at=parts.clock(),
        unchanged=max(0, counts.get("read", 0) - kinds["changed"] - kinds["added"]),
        changed=kinds["changed"],
        added=kinds["added"],
        removed=kinds["removed"],
        failed=counts.get("failed", 0),
        chunks_removed=removed,
        chunks_added=added,
        pages=tuple(changes[:_REPORTED_PAGES]),
    )


async def _summary(parts: LibraryParts, website: Website) -> tuple[WebsiteStatus, str | None]:
    """Return the final status, and a message on what is missing."""
    counts = await parts.store.crawls.count_urls(website.source_id)
    read, failed = counts.get("read", 0), counts.get("failed", 0)
    notes: list[str] = []
    if failed:
        errors = await parts.store.crawls.first_errors(website.source_id, limit=1)
        first = f", the first because {parse_note(errors[0][1]).reason}" if errors else ""
        notes.append(f"{failed} of {_tried(counts)} pages could not be read{first}")
    if counts.get("waiting"):
        limit = website.options.max_pages
        notes.append(
            f"stopped at the limit of {limit} pages; there are more: to read them, add the site "
            "again with a higher limit (max_pages)"
        )
    if not read and not notes:
        notes.append("no page of the site could be indexed")
    status: WebsiteStatus = "completed" if read and read >= failed else "failed"
    return status, "; ".join(notes) or None


def _tried(counts: dict[CrawlState, int]) -> int:
    return sum(counts.values()) - counts.get("waiting", 0)


async def _title(parts: LibraryParts, website: Website) -> str:
    """Return the title of the site's first page, or the name of its host."""
    for url in start_pages(website.url):
        page = await parts.store.find_page(url, project=website.project)
        if page is not None and page.title:
            return page.title
    return split_url(website.url).host
