"""Reading pages and their chunks, the same on every database."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from typing_extensions import override

from citewell.core.off_loop import in_thread
from citewell.core.records import Page, PageText
from citewell.store.filters import allowed_pages
from citewell.store.nouns import Nouns
from citewell.store.protocol import Store
from citewell.store.rows import (
    read_chunk,
    read_image,
    read_link,
    read_page_info,
    read_record,
    read_section,
)
from citewell.store.session import read_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from datetime import datetime
    from typing import Any

    from citewell.core.graph import Edge, EdgeKind, GraphCounts, Node, NodeRef
    from citewell.core.library import LooseFolder, PageList, PageQuery
    from citewell.core.records import PageInfo, SearchFilter, StoredChunk
    from citewell.store.session import Database, Row, Session


# A link is about as many characters of JSON, which is what SQLite gives.
_CHARACTERS_PER_OBJECT = 100
_LONG_CHARACTERS = 100_000


class StoredPages(Nouns, Store):
    """What a Store is on any database; writing pages and searching is left to each."""

    def __init__(
        self,
        database: Database,
        *,
        model: str | None,
        delete_page: Callable[[Session, int], Coroutine[Any, Any, bool]],
    ) -> None:
        super().__init__(database, delete_page=self.delete_page)
        self._database = database
        self._model = model
        self._delete_page = delete_page

    @override
    async def touch_page(
        self, source_id: int, *, fetched_at: datetime, etag: str | None, last_modified: str | None
    ) -> None:
        values = {
            "source_id": source_id,
            "fetched_at": fetched_at,
            "etag": etag,
            "last_modified": last_modified,
        }
        await self._database.execute("touch_page", values)

    @override
    async def delete_page(self, source_id: int, *, of_website: int | None = None) -> bool:
        async def work(session: Session) -> bool:
            holder = {"source_id": source_id, "website_id": of_website}
            if of_website is not None and await session.fetch_one("is_page_held", holder):
                return False
            return await self._delete_page(session, source_id)

        return await self._database.transaction(work)

    @override
    async def vectors_ready(self, *, model: str) -> bool:
        return True

    @override
    async def words_held(self, words: Sequence[str], *, where: SearchFilter) -> frozenset[str]:
        held = [word for word in words if await self.search_words([word], where=where, limit=1)]
        return frozenset(held)

    @override
    async def find_page(self, url: str, *, project: str) -> PageInfo | None:
        values = {"url": url, "project": project, "model": self._model}
        row = await self._database.fetch_one("find_page", values)
        return None if row is None else read_page_info(row)

    @override
    async def get_page(self, source_id: int) -> Page | None:
        values = {"source_id": source_id, "model": self._model}
        row = await self._database.fetch_one("whole_page", values)
        if row is None:
            return None
        # Tens of thousands of links take a tenth of a second, and others wait.
        return await in_thread(_read_page, row) if _is_long(row) else _read_page(row)

    @override
    async def page_texts(self, source_ids: Sequence[int]) -> dict[int, PageText]:
        values = {"source_ids": [*source_ids], "model": self._model}
        return {
            row["source_id"]: PageText(
                info=read_page_info(row),
                text=row["whole_text"],
                images=tuple(map(read_image, read_objects(row["all_images"]))),
                screen=row["screen"],
            )
            for row in await self._database.fetch_all("page_texts", values)
        }

    @override
    async def text_hashes(self, source_ids: Sequence[int]) -> dict[int, str]:
        rows = await self._database.fetch_all("text_hashes", {"source_ids": [*source_ids]})
        return {row["source_id"]: row["text_hash"] for row in rows}

    @override
    async def page_titles(self, urls: Sequence[str], *, project: str) -> dict[str, str]:
        values = {"urls": [*urls], "project": project}
        rows = await self._database.fetch_all("page_titles", values)
        return {row["url"]: row["title"] for row in rows}

    @override
    async def list_pages(
        self, where: SearchFilter, *, limit: int, after_source_id: int = 0
    ) -> list[PageInfo]:
        async def work(session: Session) -> list[PageInfo]:
            allowed = await allowed_pages(session, where)
            values = {
                "source_ids": allowed.source_ids if allowed is not None else None,
                "after_source_id": after_source_id,
                "limit": limit,
                "model": self._model,
            }
            return [read_page_info(row) for row in await session.fetch_all("list_pages", values)]

        return await self._database.view(work)

    @override
    async def browse_pages(self, where: SearchFilter, query: PageQuery) -> PageList:
        # Its module makes fifteen records, of which a search needs none.
        from citewell.core.library import PageList

        async def work(session: Session) -> PageList:
            allowed = await allowed_pages(session, where)
            values = {
                **asdict(query),
                "matching": query.matching.lower() if query.matching else None,
                "source_ids": allowed.source_ids if allowed is not None else None,
                "model": self._model,
            }
            rows = await session.fetch_all("browse_pages", values)
            counted = await session.fetch_one("count_browsed_pages", values)
            assert counted is not None, "an aggregate has a row"
            return PageList(
                pages=tuple(read_page_info(row) for row in rows), total=counted["total"]
            )

        return await self._database.view(work)

    @override
    async def loose_folders(self, where: SearchFilter) -> list[LooseFolder]:
        from citewell.core.library import LooseFolder

        async def work(session: Session) -> list[LooseFolder]:
            allowed = await allowed_pages(session, where)
            values = {"source_ids": allowed.source_ids if allowed is not None else None}
            rows = await session.fetch_all("loose_folders", values)
            return [read_record(LooseFolder, row) for row in rows]

        return await self._database.view(work)

    @override
    async def list_outdated_pages(
        self,
        extractor: int,
        *,
        limit: int,
        after_source_id: int = 0,
        with_response: bool = False,
    ) -> list[PageInfo]:
        values = {
            "extractor": extractor,
            "with_response": int(with_response),
            "after_source_id": after_source_id,
            "limit": limit,
            "model": self._model,
        }
        rows = await self._database.fetch_all("list_outdated_pages", values)
        return [read_page_info(row) for row in rows]

    @override
    async def load_chunks(self, chunk_ids: Sequence[int]) -> list[StoredChunk]:
        values = {"chunk_ids": [*chunk_ids]}
        return [read_chunk(row) for row in await self._database.fetch_all("load_chunks", values)]

    @override
    async def chunks_of_page(
        self, source_id: int, *, first_ordinal: int = 0, last_ordinal: int | None = None
    ) -> list[StoredChunk]:
        values = {
            "source_id": source_id,
            "first_ordinal": first_ordinal,
            "last_ordinal": last_ordinal,
        }
        return [read_chunk(row) for row in await self._database.fetch_all("chunks_of_page", values)]

    @override
    async def chunks_to_embed(
        self, *, model: str, limit: int, source_ids: Sequence[int] | None = None
    ) -> list[tuple[int, str]]:
        values: dict[str, object] = {"model": model, "limit": limit}
        statement = "chunks_to_embed"
        if source_ids is not None:
            values["source_ids"] = [*source_ids]
            statement = "chunks_to_embed_of_pages"
        rows = await self._database.fetch_all(statement, values)
        return [(row["chunk_id"], row["embedded_text"]) for row in rows]

    @override
    async def embedded_texts(self, chunk_ids: Sequence[int]) -> dict[int, str]:
        rows = await self._database.fetch_all("embedded_texts", {"chunk_ids": [*chunk_ids]})
        return {row["chunk_id"]: row["embedded_text"] for row in rows}

    # The graph is imported on first use, for the sake of commands that need none.
    @override
    async def find_nodes(self, refs: Sequence[NodeRef], *, where: SearchFilter) -> list[Node]:
        from citewell.store import graph

        return await self._database.view(partial(graph.find_nodes, refs=refs, where=where))

    @override
    async def find_entities(self, names: Sequence[str], *, where: SearchFilter) -> list[Node]:
        from citewell.store import graph

        return await self._database.view(partial(graph.find_entities, names=names, where=where))

    @override
    async def edges_of(
        self, refs: Sequence[NodeRef], *, kinds: Sequence[EdgeKind], where: SearchFilter, limit: int
    ) -> list[Edge]:
        from citewell.store import graph

        return await self._database.view(
            partial(graph.edges_of, refs=refs, kinds=kinds, where=where, limit=limit)
        )

    @override
    async def chunks_of_sections(self, refs: Sequence[NodeRef], *, limit: int) -> list[StoredChunk]:
        from citewell.store import graph

        return await self._database.view(partial(graph.chunks_of_sections, refs=refs, limit=limit))

    @override
    async def graph_counts(self, where: SearchFilter) -> GraphCounts:
        from citewell.store import graph

        return await self._database.view(partial(graph.graph_counts, where=where))


def _is_long(row: Row) -> bool:
    """Return whether a row of `whole_page` holds very many sections, links and images."""
    held = [row[name] or () for name in ("all_sections", "all_links", "all_images")]
    sizes = (len(each) * (1 if isinstance(each, str) else _CHARACTERS_PER_OBJECT) for each in held)
    return sum(sizes) > _LONG_CHARACTERS


def _read_page(row: Row) -> Page:
    return Page(
        info=read_page_info(row),
        text=row["whole_text"],
        sections=tuple(map(read_section, read_objects(row["all_sections"]))),
        links=tuple(map(read_link, read_objects(row["all_links"]))),
        images=tuple(map(read_image, read_objects(row["all_images"]))),
        canonical_url=row["canonical_url"],
        description=row["description"],
        structured_data=row["structured_data"],
        screen=row["screen"],
    )
