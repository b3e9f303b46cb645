"""Process and refresh a website that is one page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from citewell.core.errors import InferenceError, NotFound, PageNotFound
from citewell.core.jobs import JobProgress
from citewell.core.library import ChangeReport, PageChange
from citewell.ingest.library_pages import join_read_page
from citewell.ingest.refresh import compare_pages
from citewell.jobs.embedding import embed_pages
from citewell.store.library_json import report_to_json

if TYPE_CHECKING:
    from citewell.core.errors import CitewellError
    from citewell.core.library import Website
    from citewell.core.records import Page
    from citewell.ingest.library_pages import LibraryParts
    from citewell.ingest.outcome import IngestOutcome
    from citewell.jobs.work import Work


async def process_page(work: Work, parts: LibraryParts, website: Website) -> str:
    """Fetch, store and embed the page; return how many chunks it has, as JSON.

    Raises:
        CitewellError: it could not be read or embedded.
    """
    await work.report(JobProgress(stage="fetching", pages_total=1, percent=0))
    force = bool(work.job.payload.get("force"))
    result = await _ingest(parts, website, force=force)
    if result.error is not None:
        raise result.error
    assert result.page is not None, "a page without an error is stored"
    await _embed(work, parts, result)
    await work.confirm()
    await parts.store.library.finish_website(website.source_id, "completed", now=parts.clock())
    return json.dumps({"chunks": result.page.chunks, "changed": result.changed})


async def refresh_page(work: Work, parts: LibraryParts, website: Website) -> str:
    """Fetch the page again and return what changed, as the JSON of a ChangeReport.

    The stored page can be searched meanwhile, and is kept if the new one cannot be fetched.

    Raises:
        CitewellError: it could not be read or embedded.
    """
    await work.report(JobProgress(stage="fetching", pages_total=1, percent=0))
    before = await _stored_page(parts, website)
    result = await _ingest(parts, website, force=True)
    if isinstance(result.error, PageNotFound):
        await work.confirm()
        return await _remove_gone(parts, website, before, result.error)
    if result.error is not None:
        raise result.error
    assert result.page is not None, "a page without an error is stored"
    await _embed(work, parts, result)
    after = await parts.store.get_page(result.page.source_id)
    if after is None:
        raise NotFound(f"{website.url} was deleted meanwhile")
    await work.confirm()
    report = _report(parts, before, after, result)
    await parts.store.library.finish_website(
        website.source_id, "completed", now=parts.clock(), change=report
    )
    return report_to_json(report)


async def _ingest(parts: LibraryParts, website: Website, *, force: bool) -> IngestOutcome:
    result = await parts.ingester.ingest(
        website.url,
        project=website.project,
        force=force,
        tags=website.tags,
        content_type=None if website.content_type == "general" else website.content_type,
    )
    if result.page is not None and website.is_entry:
        await join_read_page(parts, website, result.page, read=result.read)
    return result


async def _embed(work: Work, parts: LibraryParts, result: IngestOutcome) -> None:
    assert result.page is not None, "a page without an error is stored"
    progress = JobProgress(
        stage="embedding",
        pages_done=1,
        pages_total=1,
        chunks=result.page.chunks,
        bytes_read=result.bytes_read,
        percent=50,
    )
    await work.report(progress)
    try:
        await embed_pages(work, parts.ingester, [result.page.source_id])
    except InferenceError as error:
        raise InferenceError(
            f"the page is stored and found by its words, but has no vectors: {error.message}"
        ) from error


async def _stored_page(parts: LibraryParts, website: Website) -> Page | None:
    source_ids = await parts.store.library.pages_of([website.source_id], project=website.project)
    return await parts.store.get_page(source_ids[0]) if source_ids else None


def _report(
    parts: LibraryParts, before: Page | None, after: Page, result: IngestOutcome
) -> ChangeReport:
    is_changed = before is not None and result.changed
    page = after.info
    changes: tuple[PageChange, ...] = ()
    if before is None:
        changes = (PageChange(url=page.url, source_id=page.source_id, kind="added"),)
    elif is_changed:
        changes = (compare_pages(before, after),)
    return ChangeReport(
        checked_at=parts.clock(),
        unchanged=int(not changes),
        changed=int(is_changed),
        added=int(before is None),
        chunks_removed=result.chunks_removed,
        chunks_added=result.chunks_added,
        pages=changes,
    )


async def _remove_gone(
    parts: LibraryParts, website: Website, before: Page | None, error: CitewellError
) -> str:
    """Remove a page that its site reports as gone; the entry stays and says so."""
    assert before is not None, "without a stored page the error is raised"
    page, library = before.info, parts.store.library
    await parts.ingester.note_gone(page)
    if website.is_entry:
        await library.leave_page(website.source_id, page.source_id)
    else:
        await library.delete_website(page.source_id, project=page.project)
    report = ChangeReport(
        checked_at=parts.clock(),
        removed=1,
        chunks_removed=page.chunks,
        pages=(PageChange(url=page.url, source_id=page.source_id, kind="removed"),),
    )
    message = f"the page is gone, and was removed: {error.message}"
    await library.finish_website(
        website.source_id, "failed", now=parts.clock(), error_message=message, change=report
    )
    return report_to_json(report)
