"""The Store on SQLite."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from citewell.store.nouns import Nouns
from citewell.store.sqlite import pages
from citewell.store.sqlite.connection import Database

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

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
    from citewell.store.sqlite.vector_search import VectorSearch
    from citewell.store.sqlite.word_search import WordSearch


async def open_sqlite_store(
    path: Path | None, *, is_ours: bool, model: str | None, busy_timeout_seconds: float
) -> SqliteStore:
    """Return the store in the file at `path`, or in memory for None.

    A file that `is_ours`, folder included, is made private to its owner.
    """
    database = await Database.open(path, is_ours=is_ours, busy_timeout_seconds=busy_timeout_seconds)
    return SqliteStore(database, model=model)


class SqliteStore(Nouns):
    """Pages, vectors and graph in one SQLite database; see Store for what each method promises."""

    def __init__(self, database: Database, *, model: str | None) -> None:
        super().__init__(database, delete_page=pages.delete_page)
        self._database = database
        self._model = model
        self.hosts: HostStore | None = None

    # What searches and writes is imported on first use: numpy alone takes longer than most reads.
    @cached_property
    def _words(self) -> WordSearch:
        from citewell.store.sqlite.word_search import WordSearch

        return WordSearch()

    @cached_property
    def _vectors(self) -> VectorSearch:
        from citewell.store.sqlite.vector_search import VectorSearch

        return VectorSearch()

    async def put_page(self, draft: PageDraft) -> PutResult:
        """Write a page and all it implies in one transaction, replacing what its URL held."""
        from citewell.store.responses import pack_response
        from citewell.store.sqlite import put

        response = await pack_response(draft.response) if draft.response is not None else None
        return await self._database.write(partial(put.put_page, draft=draft, response=response))

    async def touch_page(
        self, source_id: int, *, fetched_at: datetime, etag: str | None, last_modified: str | None
    ) -> None:
        """Note that the page was fetched again and had not changed."""
        await self._database.write(
            partial(
                pages.touch_page,
                source_id=source_id,
                fetched_at=fetched_at,
                etag=etag,
                last_modified=last_modified,
            )
        )

    async def delete_page(self, source_id: int) -> bool:
        """Remove a page and all it implies; return whether it was there."""
        return await self._database.transaction(
            lambda session: pages.delete_page(session, source_id)
        )

    async def find_page(self, url: str, *, project: str) -> PageInfo | None:
        """Return the page stored under `url`, or redirected to it."""
        return await self._database.read(
            partial(pages.find_page, url=url, project=project, model=self._model)
        )

    async def get_page(self, source_id: int) -> Page | None:
        """Return a page with its text, sections, links and images."""
        return await self._database.read(
            partial(pages.get_page, source_id=source_id, model=self._model)
        )

    async def page_texts(self, source_ids: Sequence[int]) -> dict[int, PageText]:
        """Return these pages as they are quoted from; those that are gone are left out."""
        return await self._database.read(
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
        return await self._database.read(
            partial(
                pages.list_outdated_pages,
                extractor=extractor,
                limit=limit,
                after_source_id=after_source_id,
                model=self._model,
            )
        )

    async def corpus_stats(self, where: SearchFilter) -> CorpusStats:
        """Return how many pages, chunks, tokens and vectors the filter lets through."""
        return await self._database.read(
            partial(pages.corpus_stats, where=where, model=self._model)
        )

    async def count_pages(self, where: SearchFilter) -> int:
        """Return how many pages the filter lets through."""
        return await self._database.read(partial(pages.count_pages, where=where))

    async def search_words(
        self, words: Sequence[str], *, where: SearchFilter, limit: int
    ) -> list[Hit]:
        """Return the chunks that best match `words` by BM25, best first."""
        return await self._database.read(
            partial(self._words.search, words=words, where=where, limit=limit)
        )

    async def search_vectors(
        self, vector: npt.NDArray[np.float32], *, model: str, where: SearchFilter, limit: int
    ) -> list[Hit]:
        """Return the chunks whose vectors of `model` are nearest to `vector`; score = cosine."""
        return await self._database.read(
            partial(self._vectors.search, vector=vector, model=model, where=where, limit=limit)
        )

    async def compare_vectors(
        self, chunk_ids: Sequence[int], vector: npt.NDArray[np.float32], *, model: str
    ) -> dict[int, float]:
        """Return the cosine to `vector` of those of these chunks that have one of `model`."""
        from citewell.store.sqlite import vector_search

        return await self._database.read(
            partial(vector_search.compare_vectors, chunk_ids=chunk_ids, vector=vector, model=model)
        )

    async def load_chunks(self, chunk_ids: Sequence[int]) -> list[StoredChunk]:
        """Return the chunks with these ids, in the order asked; ids that are gone are left out."""
        return await self._database.read(partial(pages.load_chunks, chunk_ids=chunk_ids))

    async def chunks_of_page(
        self, source_id: int, *, first_ordinal: int = 0, last_ordinal: int | None = None
    ) -> list[StoredChunk]:
        """Return a page's chunks from `first_ordinal` through `last_ordinal`, in order."""
        return await self._database.read(
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
        from citewell.store.sqlite import vector_search

        return await self._database.read(
            partial(vector_search.get_vectors, chunk_ids=chunk_ids, model=model)
        )

    async def put_vectors(
        self, vectors: Mapping[int, npt.NDArray[np.float32]], *, model: str
    ) -> int:
        """Give chunks their vectors in one transaction; return how many of them still exist."""
        from citewell.store.sqlite import vector_search

        return await self._database.write(
            partial(vector_search.put_vectors, vectors=vectors, model=model)
        )

    async def pass_over(self, chunk_ids: Sequence[int], *, model: str) -> None:
        """Note that `model` does not embed these chunks: only words find them, nothing waits."""
        from citewell.store.sqlite import vector_search

        await self._database.write(
            partial(vector_search.pass_over, chunk_ids=chunk_ids, model=model)
        )

    async def chunks_to_embed(
        self, *, model: str, limit: int, source_ids: Sequence[int] | None = None
    ) -> list[tuple[int, str]]:
        """Return (chunk_id, embedded_text) of chunks without a vector of `model`, oldest first."""
        from citewell.store.sqlite import vector_search

        return await self._database.read(
            partial(vector_search.chunks_to_embed, model=model, limit=limit, source_ids=source_ids)
        )

    async def embedded_texts(self, chunk_ids: Sequence[int]) -> dict[int, str]:
        """Return what the embedder should see of these chunks."""
        from citewell.store.sqlite import vector_search

        return await self._database.read(partial(vector_search.embedded_texts, chunk_ids=chunk_ids))

    async def find_nodes(self, refs: Sequence[NodeRef], *, where: SearchFilter) -> list[Node]:
        """Return the nodes in the order asked; those that are gone or hidden are left out."""
        from citewell.store.sqlite import graph

        return await self._database.read(partial(graph.find_nodes, refs=refs, where=where))

    async def find_entities(self, names: Sequence[str], *, where: SearchFilter) -> list[Node]:
        """Return the entities of these names, however spelt, in the order asked."""
        from citewell.store.sqlite import graph

        return await self._database.read(partial(graph.find_entities, names=names, where=where))

    async def edges_of(
        self, refs: Sequence[NodeRef], *, kinds: Sequence[EdgeKind], where: SearchFilter, limit: int
    ) -> list[Edge]:
        """Return the edges that leave these nodes, at most `limit` of each kind."""
        from citewell.store.sqlite import graph

        return await self._database.read(
            partial(graph.edges_of, refs=refs, kinds=kinds, where=where, limit=limit)
        )

    async def chunks_of_sections(self, refs: Sequence[NodeRef], *, limit: int) -> list[StoredChunk]:
        """Return the first `limit` chunks of each of these sections, in the order asked."""
        from citewell.store.sqlite import graph

        return await self._database.read(partial(graph.chunks_of_sections, refs=refs, limit=limit))

    async def graph_counts(self, where: SearchFilter) -> GraphCounts:
        """Return how many nodes, links and mentions the filter lets through."""
        from citewell.store.sqlite import graph

        return await self._database.read(partial(graph.graph_counts, where=where))

    async def aclose(self) -> None:
        """Close the database; later calls raise StoreError."""
        await self._database.aclose()
