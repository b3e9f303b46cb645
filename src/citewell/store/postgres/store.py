"""The Store on PostgreSQL."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from citewell.store.nouns import Nouns
from citewell.store.postgres import filters, graph, pages, put, rows, vector_search
from citewell.store.postgres.connection import Database
from citewell.store.postgres.hosts import PostgresHosts
from citewell.store.postgres.statements import SQL
from citewell.store.postgres.vector_search import VectorSearch
from citewell.store.postgres.word_search import (
    MANY_CHUNKS,
    WordSearch,
    have_common_words_counted,
)
from citewell.store.responses import pack_response

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import numpy as np
    import numpy.typing as npt

    from citewell.core.graph import Edge, EdgeKind, GraphCounts, Node, NodeRef
    from citewell.core.records import (
        Hit,
        Page,
        PageDraft,
        PageInfo,
        PageText,
        SearchFilter,
        StoredChunk,
    )
    from citewell.core.storage import CorpusStats, PutResult
    from citewell.store.host_protocol import HostStore


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


class PostgresStore(Nouns):
    """Pages, vectors and graph in one PostgreSQL database; Store says what each method promises."""

    def __init__(self, database: Database, *, model: str | None) -> None:
        super().__init__(database, delete_page=pages.delete_page)
        self._database = database
        self._model = model
        self._words = WordSearch(database)
        self._vectors = VectorSearch(database)
        self._chunks_written = 0
        self._hosts = PostgresHosts(database)
        self.hosts: HostStore | None = self._hosts

    async def put_page(self, draft: PageDraft) -> PutResult:
        """Write a page and all it implies in one transaction, replacing what its URL held."""
        response = await pack_response(draft.response) if draft.response is not None else None
        result = await self._database.write(partial(put.put_page, draft=draft, response=response))
        self._chunks_written += result.chunks
        if self._chunks_written >= MANY_CHUNKS:
            self._chunks_written = 0
            await have_common_words_counted(self._database)
        return result

    async def touch_page(
        self, source_id: int, *, fetched_at: datetime, etag: str | None, last_modified: str | None
    ) -> None:
        """Note that the page was fetched again and had not changed."""
        values = {
            "source_id": source_id,
            "fetched_at": fetched_at,
            "etag": etag,
            "last_modified": last_modified,
        }
        await self._database.write(lambda connection: connection.execute(SQL["touch_page"], values))

    async def delete_page(self, source_id: int) -> bool:
        """Remove a page and all it implies; return whether it was there."""
        return await self._database.transaction(
            lambda session: pages.delete_page(session, source_id)
        )

    async def find_page(self, url: str, *, project: str) -> PageInfo | None:
        """Return the page stored under `url`, or whose redirects ended there."""
        return await self._database.read(
            partial(pages.find_page, url=url, project=project, model=self._model)
        )

    async def get_page(self, source_id: int) -> Page | None:
        """Return a page with its text, sections, links and images."""
        return await self._database.look(
            partial(pages.get_page, source_id=source_id, model=self._model)
        )

    async def page_texts(self, source_ids: Sequence[int]) -> dict[int, PageText]:
        """Return these pages as they are quoted from; those that are gone are left out."""
        return await self._database.look(
            partial(pages.page_texts, source_ids=source_ids, model=self._model)
        )

    async def list_pages(
        self, where: SearchFilter, *, limit: int, after_source_id: int = 0
    ) -> list[PageInfo]:
        """Return pages by rising source_id, those after `after_source_id` only."""
        return await self._database.read(
            partial(
                pages.list_pages,
                where=where,
                limit=limit,
                after_source_id=after_source_id,
                model=self._model,
            )
        )

    async def list_outdated_pages(
        self, extractor: int, *, limit: int, after_source_id: int = 0
    ) -> list[PageInfo]:
        """Return pages made by an older version of the extractor, by rising source_id."""
        values = {
            "extractor": extractor,
            "after_source_id": after_source_id,
            "limit": limit,
            "model": self._model,
        }
        listed = await self._database.query("list_outdated_pages", values)
        return [rows.page_info(row) for row in listed]

    async def corpus_stats(self, where: SearchFilter) -> CorpusStats:
        """Return how many pages, chunks, tokens and vectors the filter lets through."""
        return await self._database.look(
            partial(pages.corpus_stats, where=where, model=self._model)
        )

    async def count_pages(self, where: SearchFilter) -> int:
        """Return how many pages the filter lets through."""
        return await self._database.look(partial(filters.count_pages, where=where))

    async def search_words(
        self, words: Sequence[str], *, where: SearchFilter, limit: int
    ) -> list[Hit]:
        """Return the chunks that best match `words` by BM25, best first."""
        return await self._words.search(words, where=where, limit=limit)

    async def search_vectors(
        self, vector: npt.NDArray[np.float32], *, model: str, where: SearchFilter, limit: int
    ) -> list[Hit]:
        """Return the chunks whose vectors of `model` are nearest to `vector`; score = cosine."""
        return await self._vectors.search(vector, model=model, where=where, limit=limit)

    async def compare_vectors(
        self, chunk_ids: Sequence[int], vector: npt.NDArray[np.float32], *, model: str
    ) -> dict[int, float]:
        """Return the cosine to `vector` of those of these chunks that have one of `model`."""
        return await self._vectors.compare(chunk_ids, vector, model=model) if chunk_ids else {}

    async def load_chunks(self, chunk_ids: Sequence[int]) -> list[StoredChunk]:
        """Return the chunks with these ids, in the order asked; ids that are gone are left out."""
        return await self._database.look(partial(pages.load_chunks, chunk_ids=chunk_ids))

    async def chunks_of_page(
        self, source_id: int, *, first_ordinal: int = 0, last_ordinal: int | None = None
    ) -> list[StoredChunk]:
        """Return a page's chunks from `first_ordinal` through `last_ordinal`, in order."""
        return await self._database.look(
            partial(
                pages.chunks_of_page,
                source_id=source_id,
                first_ordinal=first_ordinal,
                last_ordinal=last_ordinal,
            )
        )

    async def get_vectors(
        self, chunk_ids: Sequence[int], *, model: str
    ) -> dict[int, npt.NDArray[np.float32]]:
        """Return the vectors of `model` that these chunks have."""
        if not chunk_ids:
            return {}
        return await self._database.look(
            partial(vector_search.get_vectors, chunk_ids=chunk_ids, model=model)
        )

    async def put_vectors(
        self, vectors: Mapping[int, npt.NDArray[np.float32]], *, model: str
    ) -> int:
        """Give chunks their vectors in one transaction; return how many of them still exist."""
        given = await self._database.write(
            partial(vector_search.put_vectors, vectors=vectors, model=model)
        )
        await vector_search.index_vectors(self._database, model)
        return given

    async def pass_over(self, chunk_ids: Sequence[int], *, model: str) -> None:
        """Note that `model` does not embed these chunks: only words find them, nothing waits."""
        await self._database.write(
            partial(vector_search.pass_over, chunk_ids=chunk_ids, model=model)
        )

    async def chunks_to_embed(
        self, *, model: str, limit: int, source_ids: Sequence[int] | None = None
    ) -> list[tuple[int, str]]:
        """Return (chunk_id, embedded_text) of chunks without a vector of `model`, oldest first."""
        return await self._database.look(
            partial(vector_search.chunks_to_embed, model=model, limit=limit, source_ids=source_ids)
        )

    async def embedded_texts(self, chunk_ids: Sequence[int]) -> dict[int, str]:
        """Return what the embedder should see of these chunks."""
        return await self._database.look(partial(vector_search.embedded_texts, chunk_ids=chunk_ids))

    async def find_nodes(self, refs: Sequence[NodeRef], *, where: SearchFilter) -> list[Node]:
        """Return the nodes in the order asked; those that are gone or hidden are left out."""
        return await self._database.read(partial(graph.find_nodes, refs=refs, where=where))

    async def find_entities(self, names: Sequence[str], *, where: SearchFilter) -> list[Node]:
        """Return the entities of these names, however spelt, in the order asked."""
        return await self._database.read(partial(graph.find_entities, names=names, where=where))

    async def edges_of(
        self, refs: Sequence[NodeRef], *, kinds: Sequence[EdgeKind], where: SearchFilter, limit: int
    ) -> list[Edge]:
        """Return the edges that leave these nodes, at most `limit` of each kind."""
        return await self._database.read(
            partial(graph.edges_of, refs=refs, kinds=kinds, where=where, limit=limit)
        )

    async def chunks_of_sections(self, refs: Sequence[NodeRef], *, limit: int) -> list[StoredChunk]:
        """Return the first `limit` chunks of each of these sections, in the order asked."""
        return await self._database.read(partial(graph.chunks_of_sections, refs=refs, limit=limit))

    async def graph_counts(self, where: SearchFilter) -> GraphCounts:
        """Return how many nodes, links and mentions the filter lets through."""
        return await self._database.read(partial(graph.graph_counts, where=where))

    async def aclose(self) -> None:
        """Close the database; later calls raise StoreError."""
        await self._hosts.aclose()
        await self._database.aclose()
