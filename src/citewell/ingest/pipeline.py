"""From URL to searchable page: the steps, in order."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import anyio

from citewell.core.errors import EmptyPage, ExtractionError, FetchError, PageNotFound
from citewell.core.progress import OnProgress, Progress, no_progress
from citewell.core.records import FetchedPage, PageDraft, PageInfo
from citewell.core.text import counted
from citewell.ingest.embed import EmbeddingQueue
from citewell.ingest.extract.version import EXTRACTOR_VERSION
from citewell.ingest.kept_response import fetched_from, response_of
from citewell.ingest.outcome import IngestOutcome, has_labels, is_of_its_url, is_stale
from citewell.ingest.reading import PageReader
from citewell.ingest.site_learning import SiteLearning
from citewell.ingest.site_search import search_site
from citewell.web.body import OpenedBody, open_body
from citewell.web.render.second_look import SecondLook
from citewell.web.urls import canonical_url, is_file_url, page_address

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Self

    from citewell.core.records import ExtractedPage
    from citewell.core.storage import PageResponse
    from citewell.inference.protocols import Embedder
    from citewell.ingest.packed_page import ReadPage
    from citewell.store.protocol import Store
    from citewell.web.fetcher import Fetcher
    from citewell.web.render.protocol import RenderMode

logger = logging.getLogger(__name__)

Admit = Callable[[FetchedPage, "ExtractedPage"], Awaitable[bool]]
"""Asked of a page that was read and is about to be stored."""


class Ingester:
    """Fetches, extracts, chunks and stores pages, and has their vectors made in the background.

    `on_change` is called when the text of a page has changed, or its site removed it.
    """

    def __init__(
        self,
        *,
        store: Store,
        fetcher: Fetcher,
        embedder: Embedder | None,
        stale_after_days: float,
        second_look: SecondLook | None = None,
        response_max_bytes: int = 0,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._on_change = on_change
        self._response_max_bytes = response_max_bytes
        self._fetcher = fetcher
        self._second_look = second_look or SecondLook(mode="never")
        self._stale_after_days = stale_after_days
        self._embedding = EmbeddingQueue(store, embedder) if embedder is not None else None
        self._page_locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()
        self.sandbox = fetcher.sandbox
        self._reader = PageReader(fetcher.sandbox)
        self._sites = SiteLearning(store)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        tasks = await self._stack.enter_async_context(anyio.create_task_group())
        self._stack.callback(tasks.cancel_scope.cancel)
        if self._embedding is not None:
            tasks.start_soon(self._embedding.run)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    async def find_page(self, url: str, *, project: str) -> PageInfo | None:
        """Return the page stored for `url`, however the URL is spelt."""
        return await self._store.find_page(page_address(url), project=project)

    async def ingest(
        self,
        url: str,
        *,
        project: str,
        force: bool = False,
        tags: tuple[str, ...] = (),
        content_type: str | None = None,
        admit: Admit | None = None,
        on_progress: OnProgress = no_progress,
    ) -> IngestOutcome:
        """Make sure that `url` is stored and fresh; fetch it when it is not, or when `force`d.

        The page has `tags` afterwards, beside those that it had before, and the `content_type`;
        None leaves that as it was. Where `admit`, of a crawler, says no to what was read, nothing
        is stored.

        Raises:
            CitewellError: it is not stored and could not be read.
        """
        address = page_address(url)
        await _report(on_progress, f"Checking if {address} is indexed...")
        async with self._page_locks.setdefault(f"{project} {address}", anyio.Lock()):
            stored = await self._find_own(address, project=project)
            if stored is not None and is_file_url(address):
                # Whoever put it there brings the next version too; no call reads a file.
                return IngestOutcome(url=url, page=stored)
            lacks_labels = stored is not None and not has_labels(stored, tags, content_type)
            if stored is not None and not (force or lacks_labels or self.is_stale(stored)):
                self._wake_embedding(stored)
                return IngestOutcome(url=url, page=stored)
            await _report(on_progress, f"Scraping {address}...")
            try:
                # "Not modified" would bring nothing that could be stored with the labels, nor what
                # the page asks of crawlers, unless its response is kept.
                needs_body = lacks_labels or (admit is not None and not await self._keeps(stored))
                fetched = await self._fetch(address, None if needs_body else stored)
                outcome = await self._store_fetched(
                    fetched,
                    stored,
                    project=project,
                    tags=tags,
                    content_type=content_type,
                    admit=admit,
                )
            except FetchError as error:
                if stored is None:
                    raise
                if isinstance(error, PageNotFound):
                    await self._note_missing(stored)
                logger.warning("kept the stored copy of %s: %s", address, error.message)
                return IngestOutcome(url=url, page=stored, error=error)
            if stored is not None and await self._store.citations.mark_found(stored.source_id):
                self._on_change()
        page = outcome.page
        if page is None:
            return outcome
        await self._reread_early(page)
        self._wake_embedding(page)
        message = f"Indexed {address} ({counted(page.chunks, 'chunk')}, {page.tokens:,} tokens)"
        await _report(on_progress, message)
        return outcome

    async def search_site(
        self, url: str, weights: Mapping[str, float], *, limit: int
    ) -> list[tuple[str, str]]:
        """Return what the site's own search index names; see `ingest.site_search`."""
        return await search_site(self._fetcher, url, weights, limit=limit)

    async def ingest_fetched(
        self, fetched: FetchedPage, *, project: str, tags: tuple[str, ...] = ()
    ) -> IngestOutcome:
        """Store a page that came by another way than the web, such as a file of a docs folder.

        Raises:
            CitewellError: it could not be read.
        """
        address = page_address(fetched.url)
        async with self._page_locks.setdefault(f"{project} {address}", anyio.Lock()):
            stored = await self._find_own(address, project=project)
            outcome = await self._store_fetched(
                fetched, stored, project=project, tags=tags, content_type=None, admit=None
            )
        if outcome.page is not None:
            await self._reread_early(outcome.page)
            self._wake_embedding(outcome.page)
        return outcome

    async def reread(self, page: PageInfo) -> IngestOutcome | None:
        """Read a stored page again from the response kept beside it; nothing is fetched.

        None: no response is kept, or the page was deleted or replaced meanwhile.

        Raises:
            CitewellError: it could not be read; the page stays as it was.
        """
        async with self._page_locks.setdefault(f"{page.project} {page.url}", anyio.Lock()):
            response = await self._store.responses.get_response(page.source_id)
            stored = await self._store.find_page(page.url, project=page.project)
            if response is None or stored is None or stored.source_id != page.source_id:
                return None
            fetched = await self._open_response(response, stored)
            read = await self._read(fetched, project=stored.project)
            outcome = await self._put(
                fetched, read, stored, project=stored.project, response=response
            )
        if outcome.page is not None:
            self._wake_embedding(outcome.page)
        return outcome

    async def read_live(
        self, url: str, *, render: RenderMode | None = None, wait_for: str = ""
    ) -> tuple[FetchedPage, ExtractedPage]:
        """Fetch and extract a page as it is now; nothing is stored.

        `render` says when a browser shows it first; None means as for every other page. The browser
        waits for `wait_for`, a text or a CSS selector.

        Raises:
            CitewellError: it could not be read.
        """
        fetched = await self._fetcher.fetch(canonical_url(url))
        return await self._second_look.read(
            fetched,
            self._reader.extract,
            text_of=lambda extracted: extracted.text,
            mode=render,
            wait_for=wait_for,
        )

    async def read_whole_text(self, page: PageInfo | FetchedPage) -> str | None:
        """Return all that a reader of a page can see; nothing is fetched.

        None: it is a stored page whose response is not kept.

        Raises:
            CitewellError: it could not be read.
        """
        fetched = await self.open_kept(page) if isinstance(page, PageInfo) else page
        return None if fetched is None else await self._reader.extract_whole_text(fetched)

    async def open_kept(self, page: PageInfo) -> FetchedPage | None:
        """Return a stored page as it was fetched, or None where its response is not kept.

        Raises:
            CitewellError: the response cannot be opened.
        """
        response = await self._store.responses.get_response(page.source_id)
        return None if response is None else await self._open_response(response, page)

    async def note_gone(self, page: PageInfo) -> None:
        """Record that the site removed a stored page; call it before the page is deleted."""
        await self._store.citations.mark_gone(page.source_id, now=datetime.now(UTC))
        self._on_change()

    async def _note_missing(self, page: PageInfo) -> None:
        await self._store.citations.mark_missing(page.source_id, now=datetime.now(UTC))
        self._on_change()

    async def embed_now(
        self, source_ids: Sequence[int], *, on_progress: OnProgress = no_progress
    ) -> int:
        """Wait until these pages have all their vectors; return how many were made."""
        if self._embedding is None:
            return 0
        return await self._embedding.embed_all(source_ids=source_ids, on_progress=on_progress)

    def is_stale(self, page: PageInfo) -> bool:
        """Return whether the page was fetched too long ago to be trusted as it is."""
        return is_stale(page, after_days=self._stale_after_days)

    async def _read(self, fetched: FetchedPage, *, project: str) -> ReadPage:
        """Read a page; what repeats over its site does not name it, and is in no chunk."""
        repeats = await self._sites.repeats(fetched.final_url, project=project)
        read = await self._reader.read(fetched, repeats)
        self._sites.add_page(fetched.final_url, read[0], project=project)
        return read

    async def _reread_early(self, page: PageInfo) -> None:
        """Read pages of the site again that were read before it was known what repeats."""
        for url in self._sites.take_early(page.final_url, project=page.project):
            early = await self._store.find_page(url, project=page.project)
            try:
                if early is not None:
                    await self.reread(early)
            except (EmptyPage, ExtractionError) as error:
                logger.warning("%s stays as it was read before: %s", url, error.message)

    async def _open_response(self, response: PageResponse, page: PageInfo) -> FetchedPage:
        opened = await self._fetcher.sandbox.run(
            open_body, response.body, response.content_type, response.final_url
        )
        return fetched_from(response, OpenedBody(*opened), page)

    async def _find_own(self, address: str, *, project: str) -> PageInfo | None:
        """Return the page stored for an address; text that a caller supplied is none."""
        stored = await self._store.find_page(address, project=project)
        return stored if stored is not None and is_of_its_url(stored) else None

    async def _keeps(self, stored: PageInfo | None) -> bool:
        if stored is None:
            return False
        return await self._store.responses.get_response(stored.source_id) is not None

    async def _fetch(self, address: str, stored: PageInfo | None) -> FetchedPage:
        if stored is None:
            return await self._fetcher.fetch(address)
        return await self._fetcher.fetch(
            address, etag=stored.etag, last_modified=stored.last_modified
        )

    async def _store_fetched(
        self,
        fetched: FetchedPage,
        stored: PageInfo | None,
        *,
        project: str,
        tags: tuple[str, ...],
        content_type: str | None,
        admit: Admit | None,
    ) -> IngestOutcome:
        if fetched.not_modified:
            assert stored is not None, "only a conditional request is answered with 304"
            await self._store.touch_page(
                stored.source_id,
                fetched_at=fetched.fetched_at,
                etag=fetched.etag or stored.etag,
                last_modified=fetched.last_modified or stored.last_modified,
            )
            return IngestOutcome(url=fetched.url, page=stored)
        fetched, page = await self._second_look.read(
            fetched,
            partial(self._read, project=project),
            text_of=lambda read: read[0].text,
            # A browser asks for pages of the web only.
            mode="never" if is_file_url(fetched.url) else None,
        )
        extracted = page[0]
        if admit is not None and not await admit(fetched, extracted):
            return IngestOutcome(url=fetched.url, page=stored, read=(fetched, extracted))
        known = stored
        if known is None and fetched.final_url != page_address(fetched.url):
            # Two addresses that end at the same place are one page, under the name it had first.
            known = await self._find_own(fetched.final_url, project=project)
        return await self._put(
            fetched,
            page,
            known,
            project=project,
            tags=tags,
            content_type=content_type,
            response=response_of(fetched),
        )

    async def _put(
        self,
        fetched: FetchedPage,
        read: ReadPage,
        known: PageInfo | None,
        *,
        project: str,
        tags: tuple[str, ...] = (),
        content_type: str | None = None,
        response: PageResponse,
    ) -> IngestOutcome:
        """Store what was read in place of the `known` page, and its response as far as it fits."""
        extracted, chunks, entities = read
        url = known.url if known is not None else page_address(fetched.url)
        draft = PageDraft(
            url=url,
            fetched=fetched,
            extracted=extracted,
            chunks=chunks,
            project=project,
            tags=tuple(dict.fromkeys((*(known.tags if known is not None else ()), *tags))),
            entities=entities,
            content_type=content_type or (known.content_type if known is not None else "general"),
            extractor=EXTRACTOR_VERSION,
            response=response if self._response_max_bytes else None,
        )
        result = await self._store.put_page(draft)
        if draft.response is not None:
            await self._store.responses.drop_oldest_responses(max_bytes=self._response_max_bytes)
        if result.text_changed:
            self._on_change()
        return IngestOutcome(
            url=fetched.url,
            page=await self._store.find_page(url, project=project),
            changed=result.created or result.text_changed,
            read=(fetched, extracted),
            chunks_removed=(0 if known is None else known.chunks) - result.chunks_kept,
            chunks_added=result.chunks - result.chunks_kept,
        )

    def _wake_embedding(self, page: PageInfo) -> None:
        if self._embedding is not None and page.embedded_chunks < page.chunks:
            self._embedding.wake()


async def _report(on_progress: OnProgress, message: str) -> None:
    await on_progress(Progress(phase="ingest", message=message))
