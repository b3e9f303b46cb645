"""The handlers of all kinds of jobs, and what the library records when a job fails."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple, Protocol

from citewell.core.errors import NotFound
from citewell.core.frozen import frozen
from citewell.core.jobs import JobProgress
from citewell.core.text import counted
from citewell.ingest.reread import reread_pages
from citewell.jobs.embedding import embed_pages
from citewell.jobs.page_jobs import process_page, refresh_page
from citewell.jobs.site_jobs import crawl_site
from citewell.store.library_json import report_to_json

if TYPE_CHECKING:
    from datetime import datetime

    from citewell.core.errors import CitewellError
    from citewell.core.jobs import Job, JobKind
    from citewell.core.library import Website
    from citewell.core.progress import Progress
    from citewell.events.records import EventName, EventValue
    from citewell.ingest.library_pages import LibraryParts
    from citewell.jobs.runner import Handler
    from citewell.jobs.work import Work


class Emit(Protocol):
    """Receives events; never raises and never waits."""

    def __call__(self, name: EventName, **fields: EventValue) -> None:
        """Record an event with its fields."""


class Ends(NamedTuple):
    """The events for the end of a kind of work, and the tool that requests it."""

    tool_name: str
    completed: EventName
    failed: EventName


_PROCESSING = Ends("rag_process_website", "WebsiteProcessingComplete", "WebsiteProcessingFailed")
_REFRESH = Ends("rag_refresh_website", "WebsiteRefreshComplete", "WebsiteRefreshFailed")


def library_handlers(parts: LibraryParts, *, emit: Emit | None = None) -> dict[JobKind, Handler]:
    """Return the handlers of all jobs of the library."""
    processing = ProcessHandler(parts=parts, emit=emit or _drop_event)
    refreshing = RefreshHandler(parts=parts, emit=emit or _drop_event)
    return {
        "process_website": processing,
        "process_site": processing,
        "refresh_website": refreshing,
        "embed_page": EmbedHandler(parts=parts),
        "reread_pages": RereadHandler(parts=parts),
    }


@frozen
class ProcessHandler:
    """Processes a website for the first time or again."""

    parts: LibraryParts
    emit: Emit

    async def run(self, work: Work) -> str:
        """Read the page or the site and return the result, as JSON."""
        parts = self.parts
        website = await _website_of(parts, work.job)
        # What was finished stays so until another run of the same job has replaced it.
        if website.status != "completed" or work.job.payload.get("force"):
            await parts.store.library.set_status(website.source_id, "processing", now=parts.clock())
        is_site = work.job.kind == "process_site"
        result = await (crawl_site if is_site else process_page)(work, parts, website)
        await _emit_end(parts, self.emit, work.job, ends=_PROCESSING)
        return result

    async def note_failure(
        self, job: Job, error: CitewellError, *, retry_at: datetime | None
    ) -> None:
        """Record the reason on the entry, which stays in processing until the last attempt."""
        library, source_id = self.parts.store.library, int(job.key)
        website = await library.get_website(source_id, project=job.project)
        kept = _kept_pages(website)
        if retry_at is not None:
            again = f"{error.message}{kept}; trying again at {retry_at:%H:%M:%S} UTC"
            await library.set_status(
                source_id, "processing", now=self.parts.clock(), error_message=again
            )
            return
        message = f"{error.message}{kept}"
        await library.finish_website(
            source_id, "failed", now=self.parts.clock(), error_message=message
        )
        _emit_failure(self.emit, job, website, error, ends=_PROCESSING)


@frozen
class RefreshHandler:
    """Refreshes a website; stored pages are kept when they cannot be fetched again."""

    parts: LibraryParts
    emit: Emit

    async def run(self, work: Work) -> str:
        """Read the page or the site again and return the report, as JSON."""
        website = await _website_of(self.parts, work.job)
        is_site = website.kind == "site"
        result = await (crawl_site if is_site else refresh_page)(work, self.parts, website)
        await _emit_end(self.parts, self.emit, work.job, ends=_REFRESH)
        return result

    async def note_failure(
        self, job: Job, error: CitewellError, *, retry_at: datetime | None
    ) -> None:
        """Record the reason on the entry, which stays completed if it has pages."""
        library, source_id = self.parts.store.library, int(job.key)
        website = await library.get_website(source_id, project=job.project)
        if website is None:
            return
        again = "" if retry_at is None else f"; trying again at {retry_at:%H:%M:%S} UTC"
        kept = "; what was stored is kept" if website.pages else ""
        await library.finish_website(
            source_id,
            "completed" if website.pages else "failed",
            now=self.parts.clock(),
            error_message=f"the refresh failed: {error.message}{kept}{again}",
        )
        if retry_at is None:
            _emit_failure(self.emit, job, website, error, ends=_REFRESH)


@frozen
class EmbedHandler:
    """Embeds the chunks of a page that lack vectors; the page can be searched meanwhile."""

    parts: LibraryParts

    async def run(self, work: Work) -> str:
        """Embed the page and return how many chunks it has, as JSON."""
        page = await self.parts.store.get_page(int(work.job.key))
        chunks = 0 if page is None else page.info.chunks
        await work.report(JobProgress(stage="embedding", pages_total=1, chunks=chunks, percent=0))
        if page is not None:
            await embed_pages(work, self.parts.ingester, [page.info.source_id])
        return json.dumps({"chunks": chunks})

    async def note_failure(
        self, job: Job, error: CitewellError, *, retry_at: datetime | None
    ) -> None:
        """Record nothing: chunks without vectors are found again."""


@frozen
class RereadHandler:
    """Extracts pages of an older extractor version again, from their stored responses."""

    parts: LibraryParts

    async def run(self, work: Work) -> str:
        """Extract the pages again and return what changed, as JSON."""

        async def report(progress: Progress) -> None:
            done, total = progress.done or 0, progress.total
            percent = round(100 * done / total) if total else None
            await work.report(
                JobProgress(
                    stage="fetching",
                    pages_done=done,
                    pages_total=total,
                    percent=percent,
                    message=progress.message,
                )
            )

        parts = self.parts
        result = await reread_pages(
            parts.store,
            parts.ingester,
            now=parts.clock(),
            extract_fields=parts.extract_fields,
            on_progress=report,
        )
        return json.dumps(
            {
                "read": result.read,
                "without_response": result.without_response,
                "report": json.loads(report_to_json(result.report)),
            },
            ensure_ascii=False,
        )

    async def note_failure(
        self, job: Job, error: CitewellError, *, retry_at: datetime | None
    ) -> None:
        """Record nothing: the remaining pages are found again."""


async def _website_of(parts: LibraryParts, job: Job) -> Website:
    website = await parts.store.library.get_website(int(job.key), project=job.project)
    if website is None:
        raise NotFound(f"there is no website {job.key}")
    return website


def _kept_pages(website: Website | None) -> str:
    if website is None or website.kind == "page" or not website.pages:
        return ""
    return f"; kept so far: {counted(website.pages, 'page')}"


async def _emit_end(parts: LibraryParts, emit: Emit, job: Job, *, ends: Ends) -> None:
    website = await parts.store.library.get_website(int(job.key), project=job.project)
    if website is None:
        return
    milliseconds = (parts.clock() - job.updated_at).total_seconds() * 1_000
    emit(
        ends.failed if website.status == "failed" else ends.completed,
        tool_name=ends.tool_name,
        source_id=website.source_id,
        url=website.url,
        pages=website.pages,
        chunks_created=website.chunks,
        processing_time_ms=max(0, round(milliseconds)),
        error=website.error_message,
    )


def _emit_failure(
    emit: Emit, job: Job, website: Website | None, error: CitewellError, *, ends: Ends
) -> None:
    url = None if website is None else website.url
    emit(
        ends.failed,
        tool_name=ends.tool_name,
        source_id=int(job.key),
        url=url,
        error=error.message,
    )


def _drop_event(name: EventName, **fields: EventValue) -> None:
    pass
