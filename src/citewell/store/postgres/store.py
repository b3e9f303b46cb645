"""The Store on PostgreSQL."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from typing_extensions import override

from citewell.core.storage import CorpusStats
from citewell.store.filters import filter_values
from citewell.store.pages import StoredPages
from citewell.store.postgres import put, vector_search
from citewell.store.postgres.connection import Database
from citewell.store.postgres.hosts import PostgresHosts
from citewell.store.postgres.vector_search import VectorSearch
from citewell.store.postgres.word_search import (
    MANY_CHUNKS,
    WordSearch,
    have_common_words_counted,
)
from citewell.store.responses import pack_response
from citewell.store.rows import read_record
from citewell.store.word_index import index_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from citewell.core.records import Hit, PageDraft, SearchFilter
    from citewell.core.storage import PutResult
    from citewell.store.session import Session


async def open_postgres_store(
    address: str,
    *,
    schema: str,
    is_chosen: bool,
    model: str | None,
    busy_timeout_seconds: float,
) -> PostgresStore:
    """Return the store in a schema of the database at `address`."""
    database = await Database.open(
        address,
        schema=schema,
        is_chosen=is_chosen,
        busy_timeout_seconds=busy_timeout_seconds,
    )
    return PostgresStore(database, model=model)


class PostgresStore(StoredPages):
    """Pages, vectors and graph in one PostgreSQL database."""

    _database: Database

    def __init__(self, database: Database, *, model: str | None) -> None:
        super().__init__(database, model=model, delete_page=_delete_page)
        self._words = WordSearch(database)
        self._vectors = VectorSearch(database)
        self._chunks_written = 0
        self._hosts = PostgresHosts(database)
        self.hosts = self._hosts

    @override
    async def put_page(self, draft: PageDraft) -> PutResult:
        response = await pack_response(draft.response) if draft.response is not None else None
        index = await index_words(draft)
        result = await self._database.write(
            partial(put.put_page, draft=draft, response=response, index=index)
        )
        self._chunks_written += result.chunks
        if self._chunks_written >= MANY_CHUNKS:
            self._chunks_written = 0
            await have_common_words_counted(self._database)
        return result

    @override
    async def corpus_stats(self, where: SearchFilter) -> CorpusStats:
        values = filter_values(where) | {"model": self._model}
        row = await self._database.fetch_one("corpus_stats", values)
        assert row is not None, "an aggregate has a row"
        return read_record(CorpusStats, row)

    @override
    async def count_pages(self, where: SearchFilter) -> int:
        row = await self._database.fetch_one("count_pages", filter_values(where))
        assert row is not None, "an aggregate has a row"
        return int(row["pages"])

    @override
    async def search_words(
        self, words: Sequence[str], *, where: SearchFilter, limit: int
    ) -> list[Hit]:
        return await self._words.search(words, where=where, limit=limit)

    @override
    async def search_vectors(
        self, vector: npt.NDArray[np.float32], *, model: str, where: SearchFilter, limit: int
    ) -> list[Hit]:
        return await self._vectors.search(vector, model=model, where=where, limit=limit)

    @override
    async def compare_vectors(
        self, chunk_ids: Sequence[int], vector: npt.NDArray[np.float32], *, model: str
    ) -> dict[int, float]:
        return await self._vectors.compare(chunk_ids, vector, model=model) if chunk_ids else {}

    @override
    async def get_vectors(
        self, chunk_ids: Sequence[int], *, model: str
    ) -> dict[int, npt.NDArray[np.float32]]:
        if not chunk_ids:
            return {}
        return await self._database.look(
            partial(vector_search.get_vectors, chunk_ids=chunk_ids, model=model)
        )

    @override
    async def put_vectors(
        self, vectors: Mapping[int, npt.NDArray[np.float32]], *, model: str
    ) -> int:
        stored = await self._database.write(
            partial(vector_search.put_vectors, vectors=vectors, model=model)
        )
        await vector_search.index_vectors(self._database, model)
        return stored

    @override
    async def pass_over(self, chunk_ids: Sequence[int], *, model: str) -> None:
        await self._database.write(
            partial(vector_search.pass_over, chunk_ids=chunk_ids, model=model)
        )

    @override
    async def aclose(self) -> None:
        await self._hosts.aclose()
        await self._database.aclose()


async def _delete_page(session: Session, source_id: int) -> bool:
    key = {"source_id": source_id}
    await session.execute("lock_page", key)
    await session.execute("forget_mentions_of_page", key)
    deleted = await session.execute("delete_page", key)
    await session.execute("remove_unnamed_entities")
    return deleted > 0
