"""From URL to searchable page: the steps, in order."""

from __future__ import annotations

import logging
import os
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import anyio
from anyio import to_process, to_thread

from citewell.core.errors import CitewellError, FetchError
from citewell.core.records import FetchedPage, PageDraft, PageInfo
from citewell.core.results import OnProgress, Progress, no_progress
from citewell.ingest.chunk import chunk_page
from citewell.ingest.embed import EmbeddingQueue
from citewell.ingest.entities import find_entities
from citewell.ingest.extract.extract import extract_page
from citewell.web.urls import canonical_url

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType
    from typing import Self

    from citewell.core.records import Chunk, EntityMention, ExtractedPage
    from citewell.inference.protocols import Embedder
    from citewell.store.protocol import Store
    from citewell.web.fetcher import Fetcher

logger = logging.getLogger(__name__)

_PARALLEL_PAGES = 4
# Starting processes takes half a second and memory; from here on it pays.
_BULK_PAGES = 12

ReadPage = tuple["ExtractedPage", tuple["Chunk", ...], tuple["EntityMention", ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestOutcome:
    """What became of one URL.

    `error` without `page`: it could not be read. `error` with `page`: an older copy was kept.
    """

    url: str
    page: PageInfo | None
    changed: bool = False
    error: CitewellError | None = None


class Ingester:
    """Fetches, extracts, chunks and stores pages, and has their vectors made in the background."""

    def __init__(
        self,
        *,
        store: Store,
        fetcher: Fetcher,
        embedder: Embedder | None,
        stale_after_days: float,
    ) -> None:
        self._store = store
        self._fetcher = fetcher
        self._stale_after = timedelta(days=stale_after_days)
        self._embedding = EmbeddingQueue(store, embedder) if embedder is not None else None
        self._page_locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()
        self._reading = anyio.Lock()
        self._bulk_ingests = 0
        self._processes = anyio.CapacityLimiter(os.cpu_count() or 1)
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
        return await self._store.find_page(canonical_url(url), project=project)

    async def ingest_all(
        self,
        urls: Sequence[str],
        *,
        project: str,
        force: bool = False,
        tags: tuple[str, ...] = (),
        on_progress: OnProgress = no_progress,
    ) -> list[IngestOutcome]:
        """Ingest several URLs side by side; one that fails does not stop the others."""
        outcomes: dict[int, IngestOutcome] = {}
        limit = anyio.Semaphore(_PARALLEL_PAGES)

        async def ingest_one(place: int, url: str) -> None:
            async with limit:
                try:
                    outcomes[place] = await self.ingest(
                        url, project=project, force=force, tags=tags, on_progress=on_progress
                    )
                except CitewellError as error:
                    outcomes[place] = IngestOutcome(url=url, page=None, error=error)
            message = f"Read {len(outcomes)} of {len(urls)} pages"
            done, total = len(outcomes), len(urls)
            await on_progress(Progress(phase="ingest", message=message, done=done, total=total))

        is_bulk = len(urls) >= _BULK_PAGES
        self._bulk_ingests += is_bulk
        try:
            async with anyio.create_task_group() as tasks:
                for place, url in enumerate(urls):
                    tasks.start_soon(ingest_one, place, url)
        finally:
            self._bulk_ingests -= is_bulk
        return [outcomes[place] for place in range(len(urls))]

    async def ingest(
        self,
        url: str,
        *,
        project: str,
        force: bool = False,
        tags: tuple[str, ...] = (),
        on_progress: OnProgress = no_progress,
    ) -> IngestOutcome:
        """Make sure that `url` is stored and fresh; fetch it when it is not, or when `force`d.

        The page has `tags` afterwards, beside those that it had before.

        Raises:
            CitewellError: it is not stored and could not be read.
        """
        address = canonical_url(url)
        await _tell(on_progress, f"Checking if {address} is indexed...")
        async with self._page_locks.setdefault(f"{project} {address}", anyio.Lock()):
            stored = await self._store.find_page(address, project=project)
            lacks_tags = stored is not None and not set(tags) <= set(stored.tags)
            if stored is not None and not (force or lacks_tags or self.is_stale(stored)):
                self._wake_embedding(stored)
                return IngestOutcome(url=url, page=stored)
            await _tell(on_progress, f"Scraping {address}...")
            try:
                # "Not modified" would bring nothing that could be stored with the tags.
                fetched = await self._fetch(address, None if lacks_tags else stored)
            except FetchError as error:
                if stored is None:
                    raise
                logger.warning("kept the stored copy of %s: %s", address, error.message)
                return IngestOutcome(url=url, page=stored, error=error)
            outcome = await self._store_fetched(fetched, stored, project=project, tags=tags)
        page = outcome.page
        assert page is not None, "a fetched page is stored"
        self._wake_embedding(page)
        told = f"Indexed {address} ({page.chunks} chunks, {page.tokens} tokens)"
        await _tell(on_progress, told)
        return outcome

    async def read_live(self, url: str) -> tuple[FetchedPage, ExtractedPage]:
        """Fetch and extract a page as it is now; nothing is stored.

        Raises:
            CitewellError: it could not be read.
        """
        fetched = await self._fetcher.fetch(canonical_url(url))
        return fetched, await to_thread.run_sync(extract_page, fetched)

    async def embed_now(
        self, source_ids: Sequence[int], *, on_progress: OnProgress = no_progress
    ) -> int:
        """Wait until these pages have all their vectors; return how many were made."""
        if self._embedding is None:
            return 0
        return await self._embedding.embed_all(source_ids=source_ids, on_progress=on_progress)

    def is_stale(self, page: PageInfo) -> bool:
        """Return whether the page was fetched too long ago to be trusted as it is."""
        return datetime.now(UTC) - page.fetched_at > self._stale_after

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
        extracted, chunks, entities = await self._read(fetched)
        # Two addresses that end at the same place are one page, under the name it had first.
        known = stored or await self._store.find_page(fetched.final_url, project=project)
        url = known.url if known is not None else canonical_url(fetched.url)
        draft = PageDraft(
            url=url,
            fetched=fetched,
            extracted=extracted,
            chunks=chunks,
            project=project,
            tags=tuple(dict.fromkeys((*(known.tags if known is not None else ()), *tags))),
            entities=entities,
        )
        result = await self._store.put_page(draft)
        page = await self._store.find_page(url, project=project)
        return IngestOutcome(
            url=fetched.url, page=page, changed=result.created or result.text_changed
        )

    async def _read(self, fetched: FetchedPage) -> ReadPage:
        """Read a page in a thread, or in another process while many pages are being ingested."""
        if self._bulk_ingests:
            try:
                return await to_process.run_sync(
                    read_page, fetched, cancellable=True, limiter=self._processes
                )
            except anyio.BrokenWorkerProcess:
                # It was killed, or our caller's main module cannot be imported in a process.
                logger.warning("a reading process broke; reading %s in this one", fetched.url)
        # Reading is all Python: side by side, threads would only hand its lock to and fro.
        async with self._reading:
            return await to_thread.run_sync(read_page, fetched)

    def _wake_embedding(self, page: PageInfo) -> None:
        if self._embedding is not None and page.embedded_chunks < page.chunks:
            self._embedding.wake()


def read_page(fetched: FetchedPage) -> ReadPage:
    """Return a fetched page as canonical text, chunks and entities; CPU only, touches nothing."""
    extracted = extract_page(fetched)
    return extracted, chunk_page(extracted), find_entities(extracted)


async def _tell(on_progress: OnProgress, message: str) -> None:
    await on_progress(Progress(phase="ingest", message=message))
