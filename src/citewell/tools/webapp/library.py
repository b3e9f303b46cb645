"""What a person does with the library: looks, adds, refreshes, schedules, tags, deletes.

Not tools: each asks for the scope of the tool that does the same.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, get_args

from citewell.app import websites
from citewell.core.crawl_failures import FailureKind
from citewell.core.error_kinds import error_of_kind
from citewell.core.errors import InvalidArgument
from citewell.core.frozen import frozen
from citewell.ingest.archive.read import import_archive
from citewell.ingest.archive.write import write_archive
from citewell.tools.webapp.reader import page_state, visible_pages
from citewell.tools.websites import delete, list_websites, process, refresh

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from citewell.app.parts import PartName
    from citewell.app.websites import FailedPage, SitePreview, WebsiteListing, WebsiteView
    from citewell.core.jobs import Job
    from citewell.core.library import (
        CrawlOptions,
        Member,
        PageQuery,
        RemovedWebsite,
        Website,
        WebsiteDraft,
        WebsiteQuery,
    )
    from citewell.ingest.archive.read import Imported
    from citewell.store.releases import StoredRelease
    from citewell.tools.tool import Call
    from citewell.tools.webapp.reader import PageState

LIBRARY_NEEDS: tuple[PartName, ...] = (*websites.CHANGE_NEEDS, "fetcher", "embedder")

WEBSITES_AT_ONCE = 25
PAGES_AT_ONCE = 50
_CALLER = "web app"
_JOBS = 50
_FAILURES_AT_ONCE = 100
_MAX_TAGS = 20
_MAX_TAG_CHARACTERS = 60


@frozen
class CrawledUrls:
    """How far a crawl is at this moment; its job reports only every few pages."""

    tried: int
    waiting: int


@frozen
class JobGroup:
    """The work on one website, newest first."""

    website: Website | None
    """None for work on something else, or where it was deleted."""
    url: str
    jobs: Sequence[Job]
    urls: CrawledUrls | None = None
    """Of a site that is being read."""

    @property
    def is_stopped(self) -> bool:
        """Whether a person stopped the first reading of the website."""
        return self.website is not None and self.website.status == "stopped"

    @property
    def source_id(self) -> int | None:
        """The id of the website."""
        return None if self.website is None else self.website.source_id

    @property
    def last(self) -> Job:
        """The newest."""
        return self.jobs[0]

    @property
    def advice(self) -> str | None:
        """What to do about the failure of the newest."""
        return advice_on(self.last)


@frozen
class FailureGroup:
    """Pages of a site that could not be read and need the same remedy."""

    kind: FailureKind
    pages: Sequence[FailedPage]


@frozen
class WebsitePage:
    """A website with its pages."""

    view: WebsiteView
    members: Sequence[Member]
    """Empty for a single page."""
    jobs: JobGroup | None
    holder: Website | None
    """The site that holds a page which nobody added by itself."""
    failures: Sequence[FailureGroup]
    """The first pages that the last crawl could not read."""
    failed: int
    """How many there are."""

    @property
    def failures_left_out(self) -> int:
        """How many of them are not in `failures`."""
        return self.failed - sum(len(group.pages) for group in self.failures)


@frozen
class PageListing:
    """One screen of pages, and how many there are in all."""

    pages: Sequence[PageState]
    total: int


async def list_library(query: WebsiteQuery, call: Call) -> WebsiteListing:
    """Return one screen of the websites of the caller's project."""
    list_websites.TOOL.refuse_others(call.caller)
    return await websites.list_websites(call.parts, replace(query, project=call.caller.project))


async def view_website(source_id: int, call: Call, *, after: int = 0) -> WebsitePage:
    """Return a website with the next of its pages and its work.

    Raises:
        NotFound: there is no such website.
    """
    list_websites.TOOL.refuse_others(call.caller)
    project, store = call.caller.project, call.parts.store
    view = await websites.view_website(call.parts, source_id, project=project)
    groups = await list_jobs(call)
    is_site = view.website.kind == "site"
    failed = await websites.list_failed_pages(call.parts, source_id, limit=_FAILURES_AT_ONCE)
    counts = await store.crawls.count_urls(source_id)
    return WebsitePage(
        view=view,
        members=await store.library.list_members(
            source_id, limit=PAGES_AT_ONCE, after_source_id=after
        )
        if is_site
        else (),
        jobs=next((group for group in groups if group.source_id == source_id), None),
        holder=None if view.website.is_entry else await _holder_of(source_id, call),
        failures=[
            FailureGroup(kind=kind, pages=pages)
            for kind in get_args(FailureKind)
            if (pages := [page for page in failed if page.kind == kind])
        ],
        failed=counts.get("failed", 0),
    )


async def _holder_of(source_id: int, call: Call) -> Website | None:
    library = call.parts.store.library
    holder = (await library.holders_of([source_id])).get(source_id)
    if holder is None:
        return None
    return await library.get_website(holder, project=call.caller.project)


async def list_pages(
    query: PageQuery, call: Call, *, tag: str | None = None, release: str | None = None
) -> PageListing:
    """Return one screen of the pages of the caller's project, of a tag or a release where given."""
    list_websites.TOOL.refuse_others(call.caller)
    seen = visible_pages(call)
    where = replace(
        seen,
        tags=(*seen.tags, *((tag,) if tag else ())),
        releases=(release,) if release else None,
    )
    listed = await call.parts.store.browse_pages(where, query)
    return PageListing(pages=[page_state(page, call) for page in listed.pages], total=listed.total)


async def list_releases(call: Call) -> list[StoredRelease]:
    """Return the releases that pages of the caller's project document, with how many each."""
    list_websites.TOOL.refuse_others(call.caller)
    return await call.parts.store.releases.list_releases(call.caller.project)


async def list_jobs(call: Call) -> list[JobGroup]:
    """Return the background work of the caller's project by website, the newest first."""
    list_websites.TOOL.refuse_others(call.caller)
    store, project = call.parts.store, call.caller.project
    by_key: dict[str, list[Job]] = {}
    for job in await store.jobs.list_jobs(project=project, limit=_JOBS):
        by_key.setdefault(job.key, []).append(job)
    groups: list[JobGroup] = []
    for key, jobs in by_key.items():
        number = int(key) if key.isdigit() else None
        website = (
            None if number is None else await store.library.get_website(number, project=project)
        )
        groups.append(
            JobGroup(
                website=website,
                url=key if website is None else website.url,
                jobs=jobs,
                urls=await _crawled_urls(website, jobs[0], call),
            )
        )
    return groups


async def _crawled_urls(website: Website | None, job: Job, call: Call) -> CrawledUrls | None:
    if website is None or website.kind != "site" or job.progress.stage != "fetching":
        return None
    if job.is_finished:
        return None
    counts = await call.parts.store.crawls.count_urls(website.source_id)
    waiting = counts.get("waiting", 0)
    return CrawledUrls(tried=sum(counts.values()) - waiting, waiting=waiting)


def advice_on(job: Job) -> str | None:
    """Return what to do about a job that failed."""
    if job.state != "failed" or job.error is None:
        return None
    return error_of_kind(job.error_kind, job.error).suggestion


async def preview(url: str, options: CrawlOptions, call: Call) -> SitePreview:
    """Return what a crawl would read.

    Raises:
        CitewellError: the site cannot be reached, or its robots.txt forbids it.
    """
    process.TOOL.refuse_others(call.caller)
    return await websites.preview_site(call.parts, url, options)


async def add_website(draft: WebsiteDraft, call: Call) -> int:
    """Add a page or a site, which is read in the background; return its id.

    Raises:
        NotAUrl: it is not an HTTP or HTTPS URL.
    """
    process.TOOL.refuse_others(call.caller)
    tags = (*call.settings.scope_tags, *draft.tags)
    mine = replace(draft, project=call.caller.project, tags=tags)
    processed = await websites.process_website(call.parts, mine, caller=_CALLER)
    return processed.website.source_id


async def refresh_website(source_id: int, call: Call) -> None:
    """Fetch a website again in the background.

    Raises:
        NotFound: there is no such website.
    """
    refresh.TOOL.refuse_others(call.caller)
    await websites.refresh_website(
        call.parts, source_id, project=call.caller.project, caller=_CALLER, wait_seconds=0
    )


async def retry_failed_pages(source_id: int, call: Call) -> None:
    """Fetch the pages of a site that could not be read again, in the background.

    Raises:
        NotFound: there is no such website.
    """
    refresh.TOOL.refuse_others(call.caller)
    await call.parts.library.refresh(
        source_id, project=call.caller.project, only_failed=True, wait_seconds=0
    )


async def schedule_website(source_id: int, call: Call, *, every_seconds: float | None) -> None:
    """Refresh a website by itself every so often, or never.

    Raises:
        NotFound: there is no such website.
    """
    refresh.TOOL.refuse_others(call.caller)
    await call.parts.library.schedule(
        source_id, project=call.caller.project, every_seconds=every_seconds
    )


async def tag_website(source_id: int, call: Call, *, tags: Sequence[str]) -> None:
    """Set the tags that the pages of a website get when they are read next.

    Raises:
        NotFound: there is no such website.
        InvalidArgument: there are too many tags, or one is too long.
    """
    refresh.TOOL.refuse_others(call.caller)
    await websites.view_website(call.parts, source_id, project=call.caller.project)
    wanted = tuple(dict.fromkeys((*call.settings.scope_tags, *tags)))
    if len(wanted) > _MAX_TAGS or any(len(tag) > _MAX_TAG_CHARACTERS for tag in wanted):
        raise InvalidArgument(
            f"at most {_MAX_TAGS} tags of {_MAX_TAG_CHARACTERS} characters are taken"
        )
    library = call.parts.store.library
    await library.update_website(source_id, now=datetime.now(UTC), tags=wanted)


async def check_deletion(source_id: int, call: Call) -> None:
    """Check that the caller can delete a website, without deleting it.

    Raises:
        ScopeViolation: the caller's key cannot delete.
        NotFound: there is no such website.
    """
    delete.TOOL.refuse_others(call.caller)
    await websites.view_website(call.parts, source_id, project=call.caller.project)


async def delete_website(source_id: int, call: Call) -> RemovedWebsite:
    """Delete a website with its pages.

    Raises:
        NotFound: there is no such website.
    """
    delete.TOOL.refuse_others(call.caller)
    return await websites.delete_website(
        call.parts, source_id, project=call.caller.project, caller=_CALLER
    )


async def cancel_job(job_id: int, call: Call) -> None:
    """Stop a job; what was read so far is kept.

    Raises:
        NotFound: there is no such job.
    """
    refresh.TOOL.refuse_others(call.caller)
    await call.parts.library.cancel_job(job_id, project=call.caller.project)


async def retry_job(job_id: int, call: Call) -> None:
    """Let a failed or cancelled job run again.

    Raises:
        NotFound: there is no such job.
    """
    refresh.TOOL.refuse_others(call.caller)
    await call.parts.library.retry_job(job_id, project=call.caller.project)


async def export_library(path: Path, call: Call) -> None:
    """Write the caller's project into one file.

    Raises:
        ArchiveRefused: the file cannot be written.
    """
    list_websites.TOOL.refuse_others(call.caller)
    embedder = call.parts.embedder
    await write_archive(
        path,
        store=call.parts.store,
        project=call.caller.project,
        model=None if embedder is None else embedder.name,
    )


def check_import(call: Call) -> None:
    """Check that the caller can import, before anyone sends a file.

    Raises:
        ScopeViolation: the caller cannot.
    """
    delete.TOOL.refuse_others(call.caller)


async def import_library(path: Path, call: Call) -> Imported:
    """Read a file that an export wrote into the caller's project.

    Raises:
        ArchiveRefused: it is damaged, or of a newer version.
        ScopeViolation: the caller cannot import.
    """
    check_import(call)
    return await import_archive(path, store=call.parts.store, project=call.caller.project)
