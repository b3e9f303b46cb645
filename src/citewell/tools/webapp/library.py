"""What a person does with the library: looks, adds, refreshes, schedules, tags, deletes.

Not tools: each asks for the scope of the tool that does the same.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, get_args

from citewell.app import websites
from citewell.core.crawl_failures import FailureKind
from citewell.core.errors import InvalidArgument
from citewell.core.frozen import frozen
from citewell.core.library import WebsiteDraft
from citewell.ingest.archive.read import import_archive
from citewell.ingest.archive.write import write_archive
from citewell.tools.webapp.reader import page_state, visible_pages
from citewell.tools.webapp.work import list_jobs
from citewell.tools.websites import delete, list_websites, process, refresh

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from citewell.app.parts import PartName
    from citewell.app.websites import FailedPage, SitePreview, WebsiteView
    from citewell.core.library import (
        CrawlOptions,
        CrawlState,
        Member,
        PageQuery,
        RemovedWebsite,
        Website,
    )
    from citewell.ingest.archive.read import Imported
    from citewell.store.releases import StoredRelease
    from citewell.tools.tool import Call
    from citewell.tools.webapp.reader import PageState
    from citewell.tools.webapp.work import JobGroup

LIBRARY_NEEDS: tuple[PartName, ...] = (*websites.CHANGE_NEEDS, "fetcher", "embedder")

WEBSITES_AT_ONCE = 25
PAGES_AT_ONCE = 50
MOST_PAGES = 10_000
"""The highest limit of a site."""
_CALLER = "web app"
_FAILURES_AT_ONCE = 100
_DROPPED: tuple[CrawlState, ...] = ("duplicate", "alias", "left_out", "gone")
_MAX_TAGS = 20
_MAX_TAG_CHARACTERS = 60


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
    urls: Mapping[CrawlState, int]
    """How many addresses the last crawl met, by what became of them."""

    @property
    def failed(self) -> int:
        """How many pages could not be read."""
        return self.urls.get("failed", 0)

    @property
    def failures_left_out(self) -> int:
        """How many of them are not in `failures`."""
        return self.failed - sum(len(group.pages) for group in self.failures)

    @property
    def dropped(self) -> Mapping[CrawlState, int]:
        """Addresses that gave no page of their own, although nothing failed."""
        return {state: self.urls[state] for state in _DROPPED if self.urls.get(state)}

    @property
    def more_known(self) -> int:
        """How many pages were known when the limit ended the crawl; 0 where a person did."""
        is_full = self.urls.get("read", 0) >= self.view.website.options.max_pages
        return self.urls.get("waiting", 0) if is_full else 0

    @property
    def higher_limit(self) -> int:
        """A limit that leaves room for the known pages, and for what they link to."""
        limit = self.view.website.options.max_pages
        return min(MOST_PAGES, max(2 * limit, _rounded_up(limit + self.more_known)))


@frozen
class PageListing:
    """One screen of pages, and how many there are in all."""

    pages: Sequence[PageState]
    total: int
    held: frozenset[int]
    """Those that stay as long as their site does."""


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
        urls=await store.crawls.count_urls(source_id),
    )


def _rounded_up(count: int) -> int:
    """Return the next number of full hundreds."""
    return -(-count // 100) * 100


async def _holder_of(source_id: int, call: Call) -> Website | None:
    library = call.parts.store.library
    holder = (await library.holders_of([source_id])).get(source_id)
    if holder is None:
        return None
    return await library.get_website(holder, project=call.caller.project)


async def list_pages(
    query: PageQuery,
    call: Call,
    *,
    tag: str | None = None,
    release: str | None = None,
    under: str | None = None,
) -> PageListing:
    """Return one screen of the pages of the caller's project.

    Of a tag, a release, or below an address (`under`) where given.
    """
    list_websites.TOOL.refuse_others(call.caller)
    seen = visible_pages(call)
    where = replace(
        seen,
        tags=(*seen.tags, *((tag,) if tag else ())),
        releases=(release,) if release else None,
        url_prefix=under,
    )
    listed = await call.parts.store.browse_pages(where, query)
    holders = await call.parts.store.library.holders_of([page.source_id for page in listed.pages])
    return PageListing(
        pages=[page_state(page, call) for page in listed.pages],
        total=listed.total,
        held=frozenset(page for page, holder in holders.items() if holder != page),
    )


async def list_releases(call: Call) -> list[StoredRelease]:
    """Return the releases that pages of the caller's project document, with how many each."""
    list_websites.TOOL.refuse_others(call.caller)
    return await call.parts.store.releases.list_releases(call.caller.project)


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
        FetchError: its host has no address, or none that is allowed: nothing is added.
    """
    process.TOOL.refuse_others(call.caller)
    await websites.check_address(call.parts, draft.url)
    tags = (*call.settings.scope_tags, *draft.tags)
    mine = replace(draft, project=call.caller.project, tags=tags)
    processed = await websites.process_website(call.parts, mine, caller=_CALLER)
    return processed.website.source_id


async def raise_limit(source_id: int, call: Call) -> None:
    """Read a site again that ended at its limit of pages, with a higher one.

    Raises:
        NotFound: there is no such website.
    """
    process.TOOL.refuse_others(call.caller)
    shown = await view_website(source_id, call)
    website = shown.view.website
    options = replace(website.options, max_pages=shown.higher_limit)
    again = WebsiteDraft(url=website.url, kind="site", tags=website.tags, options=options)
    await add_website(again, call)


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
