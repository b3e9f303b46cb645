"""Reading and removing pages and their chunks, inside the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.core.records import Page, PageText
from citewell.core.storage import CorpusStats
from citewell.store.postgres import rows
from citewell.store.postgres.filters import allowed_pages, filter_values
from citewell.store.postgres.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import AsyncConnection

    from citewell.core.records import PageInfo, SearchFilter, StoredChunk
    from citewell.store.session import Session

    Connection = AsyncConnection[dict[str, Any]]


async def delete_page(session: Session, source_id: int) -> bool:
    """Remove the page and all it implies; return whether it was there."""
    key = {"source_id": source_id}
    await session.execute("lock_page", key)
    await session.execute("forget_mentions_of_page", key)
    deleted = await session.execute("delete_page", key)
    await session.execute("remove_unnamed_entities")
    return deleted > 0


async def find_page(
    connection: Connection, url: str, *, project: str, model: str | None
) -> PageInfo | None:
    """Return the page stored under `url`, else the first one whose redirects ended there."""
    values = {"url": url, "project": project}
    found = await (await connection.execute(SQL["find_page"], values)).fetchone()
    return await page_info(connection, found["source_id"], model=model) if found else None


async def page_info(
    connection: Connection, source_id: int, *, model: str | None
) -> PageInfo | None:
    """Return the page without its text, or None when it is not there."""
    values = {"source_id": source_id, "model": model}
    row = await (await connection.execute(SQL["page_info"], values)).fetchone()
    return rows.page_info(row) if row else None


async def get_page(connection: Connection, source_id: int, *, model: str | None) -> Page | None:
    """Return the page with its text and structure, or None when it is not there."""
    values = {"source_id": source_id, "model": model}
    row = await (await connection.execute(SQL["whole_page"], values)).fetchone()
    if row is None:
        return None
    return Page(
        info=rows.page_info(row),
        text=row["whole_text"],
        sections=tuple(map(rows.section, row["all_sections"] or ())),
        links=tuple(map(rows.link, row["all_links"] or ())),
        images=tuple(map(rows.image, row["all_images"] or ())),
        canonical_url=row["canonical_url"],
        description=row["description"],
        structured_data=row["structured_data"],
    )


async def page_texts(
    connection: Connection, source_ids: Sequence[int], *, model: str | None
) -> dict[int, PageText]:
    """Return the pages that are there, each with its text and images."""
    values = {"source_ids": [*source_ids], "model": model}
    found = await connection.execute(SQL["page_texts"], values)
    return {
        row["source_id"]: PageText(
            info=rows.page_info(row),
            text=row["whole_text"],
            images=tuple(map(rows.image, row["all_images"] or ())),
        )
        for row in await found.fetchall()
    }


async def list_pages(
    connection: Connection,
    where: SearchFilter,
    *,
    limit: int,
    after_source_id: int,
    model: str | None,
) -> list[PageInfo]:
    """Return the pages that pass `where`, by rising source_id."""
    allowed = await allowed_pages(connection, where)
    values = {
        "source_ids": allowed.source_ids if allowed is not None else None,
        "after_source_id": after_source_id,
        "limit": limit,
        "model": model,
    }
    found = await connection.execute(SQL["list_pages"], values)
    return [rows.page_info(row) async for row in found]


async def corpus_stats(
    connection: Connection, where: SearchFilter, *, model: str | None
) -> CorpusStats:
    """Return how much passes `where`."""
    values = filter_values(where) | {"model": model}
    row = await (await connection.execute(SQL["corpus_stats"], values)).fetchone()
    assert row is not None, "an aggregate has a row"
    return CorpusStats(
        pages=row["pages"],
        chunks=row["chunks"],
        tokens=row["tokens"],
        embedded_chunks=row["embedded_chunks"],
    )


async def load_chunks(connection: Connection, chunk_ids: Sequence[int]) -> list[StoredChunk]:
    """Return the chunks in the order asked; ids that are gone are left out."""
    found = await connection.execute(SQL["load_chunks"], {"chunk_ids": [*chunk_ids]})
    return [rows.stored_chunk(row) for row in await found.fetchall()]


async def chunks_of_page(
    connection: Connection, source_id: int, *, first_ordinal: int, last_ordinal: int | None
) -> list[StoredChunk]:
    """Return the chunks of the page from `first_ordinal` through `last_ordinal`, in order."""
    values = {
        "source_id": source_id,
        "first_ordinal": first_ordinal,
        "last_ordinal": last_ordinal,
    }
    found = await connection.execute(SQL["chunks_of_page"], values)
    return [rows.stored_chunk(row) for row in await found.fetchall()]
