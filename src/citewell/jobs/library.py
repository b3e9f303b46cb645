"""The library: add, process, refresh, schedule and delete websites."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from citewell.core.errors import InvalidArgument
from citewell.core.frozen import frozen
from citewell.core.jobs import JobDraft
from citewell.core.library import CrawlOptions, WebsiteDraft, WebsiteQuery
from citewell.core.progress import OnProgress, no_progress
from citewell.ingest.extract.version import EXTRACTOR_VERSION
from citewell.jobs.handlers import library_handlers
from citewell.jobs.runner import JobRunner, Pace
from citewell.jobs.website_status import get_job, is_stale, no_such_website, website_status
from citewell.store.library_json import report_from_json
from citewell.web.urls import canonical_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from citewell.core.errors import CitewellError
    from citewell.core.jobs import Job
    from citewell.core.library import (
        ChangeReport,
        RemovedWebsite,
        Website,
    )
    from citewell.core.records import PageInfo
    from citewell.ingest.library_pages import LibraryParts
    from citewell.jobs.handlers import Emit
    from citewell.jobs.website_status import Status

# How long a caller waits before work goes on in the background.
PATIENCE_SECONDS = 5.0
# Work that someone waits for goes before scheduled work.
_ASKED_PRIORITY = 10
# Nobody waits for a whole site, and a page is done quickly.
_SITE_PRIORITY = 5
# After everything that somebody asked for.
_REREADING_PRIORITY = -2
_CHORES_SECONDS = 30.0
# A process usually embeds the pages it stores; after this time it has left that to others.
_LEFT_AFTER_SECONDS = 10.0
_CHUNKS_TO_EMBED_AT_ONCE = 2_000
_DUE_AT_ONCE = 100
_LISTED_AT_ONCE = 200
_KEPT_JOBS_DAYS = 14


@frozen
class Processed:
    """The outcome of processing a website."""

    website: Website
    """Completed or failed; pending or processing while the work goes on."""
    job: Job | None
    """None where it was processed before."""
    is_cached: bool
    error: CitewellError | None = None
    """Why the last attempt failed; another one may follow in the background."""

    @property
    def is_going_on(self) -> bool:
        """Whether the work goes on in the background."""
        return self.job is not None and not self.job.is_finished


@frozen
class Refreshed:
    """The outcome of refreshing a website."""

    website: Website
    job: Job
    report: ChangeReport | None
    """None while the work goes on, or when it failed."""
    error: CitewellError | None = None
    """Why the last attempt failed; what was stored is kept, and another attempt may follow."""


class Library:
    """The websites of the library, and the jobs on them."""

    def __init__(self, parts: LibraryParts, runner: JobRunner, *, stale_after_days: float) -> None:
        self._parts = parts
        self._store = parts.store
        self._runner = runner
        self._stale_after_days = stale_after_days

    async def process(
        self,
        draft: WebsiteDraft,
        *,
        force: bool = False,
        wait_seconds: float | None = PATIENCE_SECONDS,
        on_progress: OnProgress = no_progress,
    ) -> Processed:
        """Add a page or a site and have it read; what was read before is returned as it is.

        The call waits up to `wait_seconds` (None: to the end); then the work goes on in the
        background. 0 leaves it to a runner that polls. `force` reads again what is stored. A
        second draft of the same URL adds its tags, and sets the content type, options and schedule
        that it names; with other options, or a higher limit, the site is read again.

        Raises:
            NotAUrl: its URL is not an http or https URL.
        """
        draft = replace(draft, url=canonical_url(draft.url))
        now = self._parts.clock()
        website, is_new = await self._store.library.add_website(draft, now=now)
        if not is_new:
            draft = replace(draft, options=await self._options_of(draft, website))
            is_site = website.kind == draft.kind == "site"
            force = force or (is_site and draft.options != website.options)
            website = await self._renew(website, draft, force=force)
        is_read = website.status == "completed" and website.origin != "supplied"
        if is_read and not force:
            return Processed(website=website, job=None, is_cached=True)
        is_site = website.kind == "site"
        job, _ = await self._store.jobs.add_job(
            JobDraft(
                kind="process_site" if is_site else "process_website",
                key=str(website.source_id),
                project=website.project,
                payload={"force": force},
                priority=_SITE_PRIORITY if is_site else _ASKED_PRIORITY,
            ),
            now=now,
        )
        job = await self._follow(job, wait_seconds, on_progress)
        return Processed(
            website=await self._get(website),
            job=job,
            is_cached=False,
            error=self._runner.error_of(job),
        )

    async def refresh(
        self,
        source_id: int,
        *,
        project: str,
        only_failed: bool = False,
        wait_seconds: float | None = PATIENCE_SECONDS,
        on_progress: OnProgress = no_progress,
    ) -> Refreshed:
        """Fetch a website again, or only what its last crawl failed to read; report what changed.

        Raises:
            NotFound: there is no such website or page.
        """
        website = (await self.status(source_id, project=project)).website
        draft = JobDraft(
            kind="refresh_website",
            key=str(source_id),
            project=project,
            payload={"only_failed": only_failed},
            priority=_ASKED_PRIORITY,
        )
        job, _ = await self._store.jobs.add_job(draft, now=self._parts.clock())
        job = await self._follow(job, wait_seconds, on_progress)
        has_report = job.state == "done" and job.result is not None
        # A page without an entry is gone with its content, so there may be nothing to look up.
        now = await self._store.library.get_website(source_id, project=project)
        return Refreshed(
            website=now or website,
            job=job,
            report=report_from_json(job.result) if has_report and job.result else None,
            error=self._runner.error_of(job),
        )

    async def status(self, source_id: int, *, project: str) -> Status:
        """Return a website (or a stored page) with the last job on it.

        Raises:
            NotFound: there is no such website or page.
        """
        return await website_status(self._store, source_id, project=project)

    async def delete(self, source_id: int, *, project: str) -> RemovedWebsite:
        """Delete a website with its pages; a running job on it is cancelled.

        Raises:
            NotFound: there is no such website or page.
            InvalidArgument: it is a page of a site, whose refresh would restore it.
        """
        website = (await self.status(source_id, project=project)).website
        holder = (await self._store.library.holders_of([source_id])).get(source_id)
        if not website.is_entry and holder is not None:
            raise InvalidArgument(
                f"{website.url} is a page of the website {holder} and stays with it.",
                suggestion=f"Delete the website {holder}, or process it again with exclude.",
            )
        job = await self._store.jobs.last_job(str(source_id), project=project)
        if job is not None and not job.is_finished:
            await self._runner.cancel(job.job_id)
        removed = await self._store.library.delete_website(source_id, project=project)
        if removed is None:
            raise no_such_website(source_id)
        return removed

    async def keep_pages(self, pages: Iterable[PageInfo], *, tags: tuple[str, ...] = ()) -> None:
        """Add pages that were ingested outside the library as entries."""
        for page in pages:
            draft = WebsiteDraft(url=page.url, project=page.project, tags=tags)
            now = self._parts.clock()
            website, is_new = await self._store.library.add_website(draft, now=now)
            if is_new or (website.status in ("failed", "stopped") and website.kind == "page"):
                await self._store.library.finish_website(website.source_id, "completed", now=now)

    async def cancel_job(self, job_id: int, *, project: str) -> Job:
        """Stop a job; the website keeps what was read so far.

        Raises:
            NotFound: there is no such job of the project.
        """
        job = await get_job(self._store, job_id, project=project)
        if await self._runner.cancel(job_id):
            await self._note_stop(job)
        return await get_job(self._store, job_id, project=project)

    async def retry_job(self, job_id: int, *, project: str) -> Job:
        """Queue a failed or cancelled job again.

        Raises:
            NotFound: there is no such job of the project.
        """
        await get_job(self._store, job_id, project=project)
        if await self._store.jobs.retry_job(job_id, now=self._parts.clock()):
            self._runner.wake()
        return await get_job(self._store, job_id, project=project)

    async def wait_for(self, job_id: int, *, on_progress: OnProgress = no_progress) -> Job:
        """Wait until the job has ended, here or in another process, and return it."""
        return await self._runner.run(job_id, wait_seconds=None, on_progress=on_progress)

    async def run_until_idle(self) -> None:
        """Return once no job is due or running in this process."""
        await self._runner.run_until_idle()

    async def schedule(
        self, source_id: int, *, project: str, every_seconds: float | None
    ) -> Website:
        """Schedule refreshes of a website, or none (None).

        Raises:
            NotFound: there is no such website.
        """
        website = (await self.status(source_id, project=project)).website
        now = self._parts.clock()
        await self._store.library.schedule_refresh(source_id, every_seconds=every_seconds, now=now)
        return await self._get(website)

    async def list_stale(self, *, project: str) -> list[Website]:
        """Return the stale websites, oldest first."""
        stale: list[Website] = []
        while True:
            query = WebsiteQuery(
                project=project, descending=False, limit=_LISTED_AT_ONCE, offset=len(stale)
            )
            listed = (await self._store.library.list_websites(query)).websites
            old = [website for website in listed if self.is_stale(website)]
            stale += old
            if len(old) < _LISTED_AT_ONCE:
                return stale

    def is_stale(self, website: Website) -> bool:
        """Return whether the website was fetched too long ago."""
        return is_stale(website, after_days=self._stale_after_days, now=self._parts.clock())

    async def _options_of(self, draft: WebsiteDraft, website: Website) -> CrawlOptions:
        """Return how a draft asks for a stored site to be crawled.

        The defaults ask for nothing but the pages beyond a lower limit that the crawl stopped at;
        whoever excludes nothing does not ask for what was left out.
        """
        if draft.options != CrawlOptions():
            exclude = draft.options.exclude or website.options.exclude
            return replace(draft.options, exclude=exclude)
        most = max(website.options.max_pages, draft.options.max_pages)
        counts = await self._store.crawls.count_urls(website.source_id)
        return (
            replace(website.options, max_pages=most) if counts.get("waiting") else website.options
        )

    async def _renew(self, website: Website, draft: WebsiteDraft, *, force: bool) -> Website:
        """Update a stored website from the draft of a second call."""
        library, now = self._store.library, self._parts.clock()
        is_typed = draft.content_type not in ("general", website.content_type)
        tags = tuple(dict.fromkeys((*website.tags, *draft.tags)))
        if is_typed or tags != website.tags or (force and draft.kind == "site"):
            await library.update_website(
                website.source_id,
                now=now,
                content_type=draft.content_type if is_typed else None,
                options=draft.options if draft.kind == "site" else None,
                tags=tags,
            )
        if draft.refresh_seconds is not None:
            await library.schedule_refresh(
                website.source_id, every_seconds=draft.refresh_seconds, now=now
            )
        if is_typed or tags != website.tags:
            await library.set_status(website.source_id, "pending", now=now)
        return await self._get(website)

    async def _follow(self, job: Job, wait_seconds: float | None, on_progress: OnProgress) -> Job:
        self._runner.wake()
        if wait_seconds == 0:
            return job
        return await self._runner.run(
            job.job_id, wait_seconds=wait_seconds, on_progress=on_progress
        )

    async def _get(self, website: Website) -> Website:
        current = await self._store.library.get_website(website.source_id, project=website.project)
        if current is None:
            raise no_such_website(website.source_id)
        return current

    async def _note_stop(self, job: Job) -> None:
        if job.kind == "reread_pages":
            return
        website = await self._store.library.get_website(int(job.key), project=job.project)
        if website is not None and website.status in ("pending", "processing"):
            await self._store.library.set_status(
                website.source_id, "stopped", now=self._parts.clock(), error_message=None
            )


@asynccontextmanager
async def open_library(
    parts: LibraryParts,
    *,
    polls: bool,
    stale_after_days: float,
    pace: Pace | None = None,
    emit: Emit | None = None,
    embeds_left_for: str | None = None,
) -> AsyncIterator[Library]:
    """Open the library with its runner, which takes all due work when it `polls`.

    Pages without vectors of the model `embeds_left_for` also become jobs.
    """
    runner = JobRunner(
        parts.store.jobs,
        library_handlers(parts, emit=emit),
        polls=polls,
        pace=pace,
        clock=parts.clock,
        chores=Chores(parts, embeds_left_for=embeds_left_for),
    )
    async with runner:
        yield Library(parts, runner, stale_after_days=stale_after_days)


class Chores:
    """Periodic work of a runner: finds pages and websites that need jobs."""

    def __init__(self, parts: LibraryParts, *, embeds_left_for: str | None = None) -> None:
        self._parts = parts
        self._model = embeds_left_for
        self._done_at: datetime | None = None
        self._has_sought_outdated = False

    async def __call__(self) -> None:
        """Add due jobs; the less urgent ones only every half minute."""
        now, store = self._parts.clock(), self._parts.store
        if self._model is not None:
            await store.jobs.add_embedding_jobs(
                model=self._model,
                now=now,
                stored_before=now - timedelta(seconds=_LEFT_AFTER_SECONDS),
                limit=_CHUNKS_TO_EMBED_AT_ONCE,
            )
        pause = timedelta(seconds=_CHORES_SECONDS)
        # A clock that was set back must not delay them until it has caught up.
        if self._done_at is not None and timedelta() <= now - self._done_at < pause:
            return
        self._done_at = now
        if not self._has_sought_outdated:
            self._has_sought_outdated = True
            await self._add_rereading(now)
        for website in await store.library.due_refreshes(now=now, limit=_DUE_AT_ONCE):
            draft = JobDraft(
                kind="refresh_website", key=str(website.source_id), project=website.project
            )
            await store.jobs.add_job(draft, now=now)
        await store.jobs.prune_jobs(before=now - timedelta(days=_KEPT_JOBS_DAYS))

    async def _add_rereading(self, now: datetime) -> None:
        """Queue the extraction of pages of an older extractor; only an upgrade causes any."""
        store = self._parts.store
        if await store.list_outdated_pages(EXTRACTOR_VERSION, limit=1, with_response=True):
            key = f"extractor {EXTRACTOR_VERSION}"
            draft = JobDraft(kind="reread_pages", key=key, priority=_REREADING_PRIORITY)
            await store.jobs.add_job(draft, now=now)
