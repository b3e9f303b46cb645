"""Reading and removing pages and their chunks, inside the caller's transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from citewell.core.records import Page, PageText
from citewell.core.storage import CorpusStats
from citewell.store.sqlite import rows
from citewell.store.sqlite.connection import SQL, timestamp
from citewell.store.sqlite.filters import allowed_pages

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from datetime import datetime

    from citewell.core.records import PageInfo, SearchFilter, StoredChunk
    from citewell.store.session import Session


def touch_page(
    connection: sqlite3.Connection,
    source_id: int,
    *,
    fetched_at: datetime,
    etag: str | None,
    last_modified: str | None,
) -> None:
    """Note a fetch that found the page unchanged; a validator that is None stays as it was."""
    values = {
        "source_id": source_id,
        "fetched_at": timestamp(fetched_at),
        "etag": etag,
        "last_modified": last_modified,
    }
    connection.execute(SQL["touch_page"], values)


async def delete_page(session: Session, source_id: int) -> bool:
    """Remove the page and all it implies; return whether it was there."""
    return await session.execute("delete_page", {"source_id": source_id}) > 0


def find_page(
    connection: sqlite3.Connection, url: str, *, project: str, model: str | None
) -> PageInfo | None:
    """Return the page stored under `url`, else the first one whose redirects ended there."""
    found = connection.execute(SQL["find_page"], {"url": url, "project": project}).fetchone()
    return page_info(connection, found["source_id"], model=model) if found else None


def page_info(
    connection: sqlite3.Connection, source_id: int, *, model: str | None
) -> PageInfo | None:
    """Return the page without its text, or None when it is not there."""
    values = {"source_id": source_id, "model_id": _model_id(connection, model)}
    row = connection.execute(SQL["page_info"], values).fetchone()
    return rows.page_info(row) if row else None


def get_page(connection: sqlite3.Connection, source_id: int, *, model: str | None) -> Page | None:
    """Return the page with its text and structure, or None when it is not there."""
    info = page_info(connection, source_id, model=model)
    if info is None:
        return None
    key = {"source_id": source_id}
    body = connection.execute(SQL["page_body"], key).fetchone()
    return Page(
        info=info,
        text=body["text"],
        sections=tuple(map(rows.section, connection.execute(SQL["page_sections"], key))),
        links=tuple(map(rows.link, connection.execute(SQL["page_links"], key))),
        images=tuple(map(rows.image, connection.execute(SQL["page_images"], key))),
        canonical_url=body["canonical_url"],
        description=body["description"],
        structured_data=body["structured_data"],
    )


def page_texts(
    connection: sqlite3.Connection, source_ids: Sequence[int], *, model: str | None
) -> dict[int, PageText]:
    """Return the pages that are there, each with its text and images."""
    found: dict[int, PageText] = {}
    for source_id in source_ids:
        info = page_info(connection, source_id, model=model)
        if info is not None:
            key = {"source_id": source_id}
            found[source_id] = PageText(
                info=info,
                text=connection.execute(SQL["page_text"], key).fetchone()[0],
                images=tuple(map(rows.image, connection.execute(SQL["page_images"], key))),
            )
    return found


def list_pages(
    connection: sqlite3.Connection,
    where: SearchFilter,
    *,
    limit: int,
    after_source_id: int,
    model: str | None,
) -> list[PageInfo]:
    """Return the pages that pass `where`, by rising source_id."""
    allowed = allowed_pages(connection, where)
    values = {
        "source_ids": allowed.source_ids if allowed is not None else None,
        "after_source_id": after_source_id,
        "limit": limit,
        "model_id": _model_id(connection, model),
    }
    return [rows.page_info(row) for row in connection.execute(SQL["list_pages"], values)]


def list_outdated_pages(
    connection: sqlite3.Connection,
    extractor: int,
    *,
    limit: int,
    after_source_id: int,
    model: str | None,
) -> list[PageInfo]:
    """Return pages made by an older version of the extractor, by rising source_id."""
    values = {
        "extractor": extractor,
        "after_source_id": after_source_id,
        "limit": limit,
        "model_id": _model_id(connection, model),
    }
    return [rows.page_info(row) for row in connection.execute(SQL["list_outdated_pages"], values)]


def count_pages(connection: sqlite3.Connection, where: SearchFilter) -> int:
    """Return how many pages pass `where`."""
    allowed = allowed_pages(connection, where)
    values = {"source_ids": allowed.source_ids if allowed is not None else None}
    return int(connection.execute(SQL["count_pages"], values).fetchone()["pages"])


def corpus_stats(
    connection: sqlite3.Connection, where: SearchFilter, *, model: str | None
) -> CorpusStats:
    """Return how much passes `where`."""
    allowed = allowed_pages(connection, where)
    values = {
        "source_ids": allowed.source_ids if allowed is not None else None,
        "model_id": _model_id(connection, model),
    }
    counts = connection.execute(SQL["count_pages"], values).fetchone()
    counting = "count_embedded" if allowed is None else "count_embedded_of_pages"
    embedded = connection.execute(SQL[counting], values).fetchone()[0]
    return CorpusStats(
        pages=counts["pages"],
        chunks=counts["chunks"],
        tokens=counts["tokens"],
        embedded_chunks=embedded,
    )


def load_chunks(connection: sqlite3.Connection, chunk_ids: Sequence[int]) -> list[StoredChunk]:
    """Return the chunks in the order asked; ids that are gone are left out."""
    found = connection.execute(SQL["load_chunks"], {"chunk_ids": json.dumps([*chunk_ids])})
    return [rows.stored_chunk(row) for row in found]


def chunks_of_page(
    connection: sqlite3.Connection,
    source_id: int,
    *,
    first_ordinal: int,
    last_ordinal: int | None,
) -> list[StoredChunk]:
    """Return the chunks of the page from `first_ordinal` through `last_ordinal`, in order."""
    values = {
        "source_id": source_id,
        "first_ordinal": first_ordinal,
        "last_ordinal": last_ordinal,
    }
    return [rows.stored_chunk(row) for row in connection.execute(SQL["chunks_of_page"], values)]


def _model_id(connection: sqlite3.Connection, model: str | None) -> int | None:
    """Return the id that chunks carry for `model`; None, for any model, stays None."""
    if model is None:
        return None
    found = connection.execute(SQL["find_model"], {"name": model}).fetchone()
    # No chunk carries -1: a model that has made no vectors yet.
    return found["model_id"] if found else -1
