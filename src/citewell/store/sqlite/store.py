"""The Store on SQLite."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from typing_extensions import override

from citewell.core.storage import CorpusStats
from citewell.store.filters import allowed_pages
from citewell.store.pages import StoredPages
from citewell.store.rows import read_record
from citewell.store.sqlite.connection import Database

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from citewell.core.records import Hit, PageDraft, SearchFilter
    from citewell.core.storage import PutResult
    from citewell.store.session import Session
    from citewell.store.sqlite.vector_search import VectorSearch
    from citewell.store.sqlite.word_search import WordSearch


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteLimits:
    """When a store works in another way, since the disk or the caller's patience is short."""

    least_free_bytes: int = 256_000_000
    """With less room on the disk, a large page is written and removed in one transaction.

    Slices that were written stay when the next one finds the disk full, and removing rows needs
    room as well; a transaction that fails gives everything back.
    """
    most_chunks_to_wait_for: int = 200_000
    """The first search waits for the codes of this many; with more it uses words.

    Loading 19,000 took 0.06 s of CPU time, so that the longest wait is under a second: less than a
    command of the shell takes to start, and it searches only once.
    """


_USUAL_LIMITS = SqliteLimits()


async def open_sqlite_store(
    path: Path | None,
    *,
    is_ours: bool = False,
    model: str | None = None,
    busy_timeout_seconds: float = 10.0,
    limits: SqliteLimits = _USUAL_LIMITS,
) -> SqliteStore:
    """Return the store in the file at `path`, or in memory for None.

    A file that `is_ours`, folder included, is made private to its owner.
    """
    database = await Database.open(path, is_ours=is_ours, busy_timeout_seconds=busy_timeout_seconds)
    unlisted = await database.fetch_one("has_unlisted")
    if unlisted is not None and unlisted["is_any"]:
        from citewell.store.sqlite.unlisted import remove_leftovers

        await remove_leftovers(database)
    return SqliteStore(database, model=model, limits=limits)


class SqliteStore(StoredPages):
    """Pages, vectors and graph in one SQLite database."""

    _database: Database

    def __init__(
        self, database: Database, *, model: str | None, limits: SqliteLimits = _USUAL_LIMITS
    ) -> None:
        super().__init__(database, model=model, delete_page=_delete_page)
        self.hosts = None
        self._limits = limits

    # Search and write modules are imported on first use: numpy alone takes longer than most reads.
    @cached_property
    def _words(self) -> WordSearch:
        from citewell.store.sqlite.word_search import WordSearch

        return WordSearch()

    @cached_property
    def _vectors(self) -> VectorSearch:
        from citewell.store.sqlite.vector_search import VectorSearch

        return VectorSearch(most_chunks_to_wait_for=self._limits.most_chunks_to_wait_for)

    @override
    async def put_page(self, draft: PageDraft) -> PutResult:
        from citewell.store.responses import pack_response
        from citewell.store.sqlite import put, sliced_put
        from citewell.store.sqlite.prepared_page import prepare_page
        from citewell.store.sqlite.unlisted import remove_some_leftovers

        response = await pack_response(draft.response) if draft.response is not None else None
        page = await prepare_page(draft, response=response)
        if not sliced_put.is_large(page):
            result = await self._database.write(partial(put.put_page, page=page))
            await remove_some_leftovers(self._database)
            if result is not None:
                return result
        if not self._has_room:
            return await self._database.write(partial(put.put_whole_page, page=page))
        return await sliced_put.put_in_slices(self._database, page)

    @override
    async def delete_page(self, source_id: int, *, of_website: int | None = None) -> bool:
        from citewell.store.sqlite import sliced_removal

        if self._has_room and await sliced_removal.is_large(self._database, source_id):
            return await sliced_removal.remove_in_slices(
                self._database, source_id, of_website=of_website
            )
        return await super().delete_page(source_id, of_website=of_website)

    @property
    def _has_room(self) -> bool:
        """Whether the disk surely holds a large page, and what it takes to remove it again."""
        free = self._database.free_bytes
        return free is None or free >= self._limits.least_free_bytes

    @override
    async def corpus_stats(self, where: SearchFilter) -> CorpusStats:
        async def work(session: Session) -> CorpusStats:
            allowed = await allowed_pages(session, where)
            if allowed is None:
                counts = await session.fetch_one("count_everything", {"model": self._model})
                assert counts is not None, "the corpus has a row"
                embedded = counts["embedded"]
            else:
                values = {"source_ids": allowed.source_ids, "model": self._model}
                counts = await session.fetch_one("count_pages", values)
                counted = await session.fetch_one("count_embedded_of_pages", values)
                assert counts is not None, "an aggregate has a row"
                assert counted is not None, "an aggregate has a row"
                embedded = counted["embedded"]
            return read_record(CorpusStats, counts, embedded_chunks=embedded)

        return await self._database.view(work)

    @override
    async def count_pages(self, where: SearchFilter) -> int:
        async def work(session: Session) -> int:
            allowed = await allowed_pages(session, where)
            if allowed is None:
                counts = await session.fetch_one("count_everything", {"model": self._model})
                assert counts is not None, "the corpus has a row"
                return int(counts["pages"])
            return len(json.loads(allowed.source_ids))

        return await self._database.view(work)

    @override
    async def search_words(
        self, words: Sequence[str], *, where: SearchFilter, limit: int
    ) -> list[Hit]:
        return await self._database.read(
            partial(self._words.search, words=words, where=where, limit=limit)
        )

    @override
    async def words_held(self, words: Sequence[str], *, where: SearchFilter) -> frozenset[str]:
        if not words:
            return frozenset()
        return await self._database.read(partial(self._words.held, words=words, where=where))

    @override
    async def vectors_ready(self, *, model: str) -> bool:
        if not self._database.is_in_file or self._vectors.is_loaded(model):
            return True
        is_ready = partial(self._vectors.is_ready, model, self._database.read_here)
        return await anyio.to_thread.run_sync(is_ready)

    @override
    async def search_vectors(
        self, vector: npt.NDArray[np.float32], *, model: str, where: SearchFilter, limit: int
    ) -> list[Hit]:
        return await self._database.read(
            partial(self._vectors.search, vector=vector, model=model, where=where, limit=limit)
        )

    @override
    async def compare_vectors(
        self, chunk_ids: Sequence[int], vector: npt.NDArray[np.float32], *, model: str
    ) -> dict[int, float]:
        from citewell.store.sqlite import vector_search

        return await self._database.read(
            partial(vector_search.compare_vectors, chunk_ids=chunk_ids, vector=vector, model=model)
        )

    @override
    async def get_vectors(
        self, chunk_ids: Sequence[int], *, model: str
    ) -> dict[int, npt.NDArray[np.float32]]:
        from citewell.store.sqlite import vector_search

        return await self._database.read(
            partial(vector_search.get_vectors, chunk_ids=chunk_ids, model=model)
        )

    @override
    async def put_vectors(
        self, vectors: Mapping[int, npt.NDArray[np.float32]], *, model: str
    ) -> int:
        from citewell.store.sqlite import vector_search

        return await self._database.write(
            partial(vector_search.put_vectors, vectors=vectors, model=model)
        )

    @override
    async def pass_over(self, chunk_ids: Sequence[int], *, model: str) -> None:
        from citewell.store.sqlite import vector_search

        await self._database.write(
            partial(vector_search.pass_over, chunk_ids=chunk_ids, model=model)
        )

    @override
    async def aclose(self) -> None:
        if "_vectors" in vars(self):
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._vectors.close)
        await self._database.aclose()


async def _delete_page(session: Session, source_id: int) -> bool:
    return await session.execute("delete_page", {"source_id": source_id}) > 0
