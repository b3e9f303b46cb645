"""Going through a site: what is read next, what is stored, and what became of each URL.

All that a crawl knows is in the store, so that another process can go on with it at any time.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import anyio

from citewell.core.crawl_failures import may_pass, note_of
from citewell.core.errors import (
    CitewellError,
    EmptyPage,
    FetchError,
    NotAUrl,
    NotFound,
    PageNotFound,
    RobotsDisallowed,
    StoreError,
    UnsupportedContent,
)
from citewell.core.ids import content_hash
from citewell.core.library import Crawl, CrawlOutcome, CrawlUrl, PageChange
from citewell.ingest.discover import discover_urls
from citewell.ingest.library_pages import LibraryParts, join_read_page
from citewell.ingest.outcome import PARALLEL_PAGES
from citewell.ingest.page_links import crawler_view
from citewell.ingest.refresh import compare_pages
from citewell.ingest.site_scope import SiteScope
from citewell.web.urls import canonical_url

if TYPE_CHECKING:
    from citewell.core.library import CrawlState, Website
    from citewell.core.records import ExtractedPage, FetchedPage, Page, PageInfo
    from citewell.ingest.outcome import IngestOutcome

# So many in a row that cannot be reached: the site is down, not the pages.
_FAILURES_OF_A_SITE = 8
_MEMBERS_AT_ONCE = 1_000


class SiteCrawler:
    """Goes through one site for one job; `is_refresh` fetches what is stored again, too."""

    def __init__(
        self, parts: LibraryParts, website: Website, *, job_id: int, is_refresh: bool
    ) -> None:
        self._parts = parts
        self._store = parts.store
        self._website = website
        self._site_id = website.source_id
        self._job_id = job_id
        self._is_refresh = is_refresh
        self._content_type = None if website.content_type == "general" else website.content_type
        self._scope = SiteScope(website.url, website.options)
        self._discovery = "links"
        self._started_at = parts.clock()
        self._unreachable: dict[str, FetchError] = {}
        """What waits for the last round, or for another attempt at the whole site."""
        self._failures_in_a_row = 0
        self._is_last_round = False
        self._has_added_members = False
        self._fault: StoreError | NotFound | None = None
        """What stops the whole crawl, not one page of it."""
        self._texts: dict[str, str] = {}
        """Hash of the text, and the URL that stores it, of what is being read right now."""
        self.bytes_read = 0
        """What the site has sent to this crawler."""

    async def is_begun(self) -> bool:
        """Return whether this job has found the URLs to begin with, in an earlier attempt."""
        crawl = await self._store.crawls.get_crawl(self._site_id)
        return crawl is not None and crawl.job_id == self._job_id

    async def start(self) -> bool:
        """Find the URLs to begin with, unless this job has done so; return whether it did now.

        Raises:
            CitewellError: the site cannot be reached or names no pages.
        """
        crawl = await self._store.crawls.get_crawl(self._site_id)
        is_new = crawl is None or crawl.job_id != self._job_id
        if is_new:
            found = await discover_urls(
                self._parts.fetcher, self._website.url, self._website.options
            )
            crawl = Crawl(
                job_id=self._job_id, discovery=found.discovery, started_at=self._parts.clock()
            )
            await self._store.crawls.start_crawl(self._site_id, crawl, found.urls)
        assert crawl is not None, "a crawl that is not new was found"
        self._discovery, self._started_at = crawl.discovery, crawl.started_at
        return is_new

    async def read_some(self, limit: int) -> bool:
        """Read up to `limit` more URLs; return whether there may be others.

        Raises:
            FetchError: the site does not answer any more; what was not read waits.
            StoreError: the database cannot be written.
            NotFound: somebody deleted the site meanwhile.
        """
        counts = await self._store.crawls.count_urls(self._site_id)
        room = self._website.options.max_pages - counts.get("read", 0)
        asked = min(limit, room) + len(self._unreachable)
        found = await self._store.crawls.next_urls(self._site_id, limit=max(asked, 0))
        urls = [at for at in found if at.url not in self._unreachable][: max(room, 0)]
        if not urls:
            # Aliases first: where every page names another, none counts as read before.
            return (
                (room > 0 and await self._add_members())
                or (room > 0 and await self._store.crawls.retry_aliases(self._site_id) > 0)
                or await self._begin_last_round(counts)
            )
        slots = anyio.Semaphore(PARALLEL_PAGES)
        async with anyio.create_task_group() as tasks:
            for at in urls:
                tasks.start_soon(self._read_in_turn, at, slots)
        if self._fault is not None:
            raise self._fault
        if self._failures_in_a_row >= _FAILURES_OF_A_SITE:
            raise next(iter(self._unreachable.values()))
        return True

    async def _begin_last_round(self, counts: dict[CrawlState, int]) -> bool:
        """Let what could not be reached be tried once more; return whether there is any.

        Raises:
            FetchError: it is most of the site, which will be tried again later as a whole.
        """
        if not self._unreachable:
            return False
        if len(self._unreachable) > counts.get("read", 0):
            raise next(iter(self._unreachable.values()))
        self._unreachable.clear()
        self._is_last_round = True
        return True

    async def _read_in_turn(self, at: CrawlUrl, slots: anyio.Semaphore) -> None:
        async with slots:
            try:
                outcome = await self._outcome_of(at)
                if outcome is not None:
                    await self._store.crawls.note_outcome(self._site_id, outcome)
            except (StoreError, NotFound) as error:
                # Raised here, it would come out of the task group in a group of its own.
                self._fault = error

    async def _outcome_of(self, at: CrawlUrl) -> CrawlOutcome | None:
        """Return what became of a URL, or None when it is to be tried once more."""
        try:
            outcome = await self._crawl_page(at)
        except FetchError as error:
            if may_pass(error) and not self._is_last_round:
                self._unreachable[at.url] = error
                self._failures_in_a_row += 1
                return None
            return CrawlOutcome(url=at.url, state=_state_of(error), error=note_of(error))
        except (StoreError, NotFound):
            raise
        except CitewellError as error:
            return CrawlOutcome(url=at.url, state="failed", error=note_of(error))
        if outcome.state == "read":
            self._failures_in_a_row = 0
        return outcome

    async def _crawl_page(self, at: CrawlUrl) -> CrawlOutcome:
        before = await self._stored(at.url)
        if before is not None and not self._scope.holds(at.url):
            refusal = _left_out(at, "it is outside of what the site includes", ())
            return await self._leave_out(refusal, before.info)
        if before is not None and self._is_unchanged(at, before.info):
            await join_read_page(self._parts, self._website, before.info)
            return CrawlOutcome(url=at.url, state="read", source_id=before.info.source_id)
        refusals: list[CrawlOutcome] = []

        async def admit(fetched: FetchedPage, extracted: ExtractedPage) -> bool:
            refusal = await self._refusal(at, fetched, extracted, is_stored=before is not None)
            if refusal is not None:
                refusals.append(refusal)
            return refusal is None

        result = await self._parts.ingester.ingest(
            at.url,
            project=self._website.project,
            force=self._is_refresh or self._follows_links,
            tags=self._website.tags,
            content_type=self._content_type,
            admit=admit,
        )
        self.bytes_read += result.bytes_read
        if result.error is not None:
            return await self._keep(at, result)
        if refusals:
            return await self._leave_out(refusals[0], result.page)
        return await self._store_outcome(at, result, before)

    @property
    def _follows_links(self) -> bool:
        return self._discovery == "links"

    async def _stored(self, url: str) -> Page | None:
        found = await self._store.find_page(url, project=self._website.project)
        return None if found is None else await self._store.get_page(found.source_id)

    def _is_unchanged(self, at: CrawlUrl, stored: PageInfo) -> bool:
        """Return whether the page was read by this crawl already, or the sitemap vouches for it."""
        if self._content_type not in (None, stored.content_type):
            return False
        if stored.fetched_at >= self._started_at and not self._follows_links:
            return True
        modified_at = _last_moment(at.modified_at)
        return modified_at is not None and stored.fetched_at > modified_at

    async def _refusal(
        self, at: CrawlUrl, fetched: FetchedPage, extracted: ExtractedPage, *, is_stored: bool
    ) -> CrawlOutcome | None:
        """Return why a page that was read is not stored, or None when it is."""
        view = crawler_view(fetched, extracted.links)
        links = self._links(at, view.links)
        wanted = self._website.options.language
        if not view.may_index:
            return _left_out(at, "it asks not to be indexed", links)
        if not self._scope.holds(canonical_url(fetched.final_url)):
            return _left_out(at, f"it leads out of the site, to {fetched.final_url}", ())
        if wanted is not None and extracted.language not in (wanted, "mixed"):
            return _left_out(at, f"its language is {extracted.language}", links)
        canonical = self._canonical_elsewhere(at, fetched, extracted)
        if canonical is not None:
            named = CrawlUrl(url=canonical, depth=at.depth)
            return CrawlOutcome(
                url=at.url, state="alias", canonical_url=canonical, links=(named, *links)
            )
        if is_stored:
            return None
        twin = await self._twin(at.url, content_hash(extracted.text))
        if twin is None:
            return None
        error = f"its text is that of {twin}"
        return CrawlOutcome(url=at.url, state="duplicate", error=error, links=links)

    def _canonical_elsewhere(
        self, at: CrawlUrl, fetched: FetchedPage, extracted: ExtractedPage
    ) -> str | None:
        """Return the URL of the site that the page names in place of its own."""
        if at.ignore_canonical or extracted.canonical_url is None:
            return None
        try:
            named = canonical_url(extracted.canonical_url)
        except NotAUrl:
            return None
        is_own = named in (at.url, canonical_url(fetched.final_url))
        return None if is_own or not self._scope.holds(named) else named

    async def _twin(self, url: str, text_hash: str) -> str | None:
        """Return the URL of another page of the site with this text."""
        # Before anything is awaited: the twin may be among the pages that are being read.
        first = self._texts.setdefault(text_hash, url)
        if first != url:
            return first
        member = await self._store.library.find_member_by_text(self._site_id, text_hash)
        return None if member is None or member.url == url else member.url

    def _links(self, at: CrawlUrl, urls: tuple[str, ...]) -> tuple[CrawlUrl, ...]:
        if not self._follows_links or at.depth >= self._website.options.max_depth:
            return ()
        return tuple(
            CrawlUrl(url=url, depth=at.depth + 1) for url in urls if self._scope.holds(url)
        )

    async def _keep(self, at: CrawlUrl, result: IngestOutcome) -> CrawlOutcome:
        """Note a stored page that could not be read again; one that is gone is removed."""
        page, error = result.page, result.error
        assert page is not None, "without a stored page the error is raised"
        assert error is not None, "there is something to note"
        if isinstance(error, PageNotFound):
            await self._parts.ingester.note_gone(page)
            await self._store.library.leave_page(self._site_id, page.source_id)
            change = PageChange(url=page.url, source_id=page.source_id, kind="removed")
            return CrawlOutcome(url=at.url, state="gone", change=change, chunks_removed=page.chunks)
        if may_pass(error):
            raise error
        change = PageChange(
            url=page.url, source_id=page.source_id, kind="failed", error=error.message
        )
        return CrawlOutcome(url=at.url, state="failed", error=note_of(error), change=change)

    async def _leave_out(self, refusal: CrawlOutcome, page: PageInfo | None) -> CrawlOutcome:
        """Take a page that was stored before, and is refused now, out of the site."""
        if page is None or not await self._store.library.leave_page(self._site_id, page.source_id):
            return refusal
        return CrawlOutcome(
            url=refusal.url,
            state=refusal.state,
            canonical_url=refusal.canonical_url,
            error=refusal.error,
            links=refusal.links,
            change=PageChange(url=page.url, source_id=page.source_id, kind="removed"),
            chunks_removed=page.chunks,
        )

    async def _store_outcome(
        self, at: CrawlUrl, result: IngestOutcome, before: Page | None
    ) -> CrawlOutcome:
        page = result.page
        assert page is not None, "a page that was admitted is stored"
        await join_read_page(self._parts, self._website, page, read=result.read)
        return CrawlOutcome(
            url=at.url,
            state="read" if page.url == at.url else "duplicate",
            source_id=page.source_id,
            change=await self._change(page, before, result),
            chunks_removed=result.chunks_removed,
            chunks_added=result.chunks_added,
            links=self._links(at, await self._links_of(page, result.read)),
        )

    async def _change(
        self, page: PageInfo, before: Page | None, result: IngestOutcome
    ) -> PageChange | None:
        if before is None:
            return PageChange(url=page.url, source_id=page.source_id, kind="added")
        if not result.changed:
            return None
        after = await self._store.get_page(page.source_id)
        return None if after is None else compare_pages(before, after)

    async def _links_of(
        self, page: PageInfo, read: tuple[FetchedPage, ExtractedPage] | None
    ) -> tuple[str, ...]:
        if not self._follows_links:
            return ()
        if read is not None:
            fetched, extracted = read
            return crawler_view(fetched, extracted.links).links
        # Not modified, which the site is asked only where the response is kept: it says which
        # links are not to be followed.
        stored = await self._store.get_page(page.source_id)
        kept = None if stored is None else await self._parts.ingester.open_kept(stored.info)
        return () if stored is None or kept is None else crawler_view(kept, stored.links).links

    async def _add_members(self) -> bool:
        """Let a refresh look at pages of the site that nothing led to; return whether it did now.

        How far away they were found is not known any more, so they come last, and as deep as can
        be: their links must not lead further than `max_depth`.
        """
        if not self._is_refresh or self._has_added_members:
            return False
        self._has_added_members = True
        depth = self._website.options.max_depth
        last = 0
        while True:
            members = await self._store.library.list_members(
                self._site_id, limit=_MEMBERS_AT_ONCE, after_source_id=last
            )
            urls = [CrawlUrl(url=member.url, depth=depth) for member in members]
            await self._store.crawls.add_urls(self._site_id, urls)
            if len(members) < _MEMBERS_AT_ONCE:
                return True
            last = members[-1].source_id


def _left_out(at: CrawlUrl, reason: str, links: tuple[CrawlUrl, ...]) -> CrawlOutcome:
    return CrawlOutcome(url=at.url, state="left_out", error=reason, links=links)


def _state_of(error: FetchError) -> CrawlState:
    if isinstance(error, PageNotFound):
        return "gone"
    if isinstance(error, RobotsDisallowed | UnsupportedContent | EmptyPage):
        return "left_out"
    return "failed"


def _last_moment(modified_at: str | None) -> datetime | None:
    """Return the last moment at which a page with this `lastmod` may have changed."""
    if modified_at is None:
        return None
    try:
        moment = datetime.fromisoformat(modified_at)
    except ValueError:
        return None  # a year or a month, or no date at all: it vouches for nothing
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment + timedelta(days=1) if len(modified_at) <= len("2026-03-14") else moment
