"""Removing a large page in short transactions, so that no other writer waits long.

One transaction removes the page; its rows, which then are those of no page, are removed afterwards,
in slices.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import anyio

from citewell.store.sqlite import put
from citewell.store.sqlite.session import SQL
from citewell.store.sqlite.unlisted import (
    ROWS_AT_ONCE,
    remove_leftovers,
    unlist,
    write_and_pause,
)

if TYPE_CHECKING:
    import sqlite3

    from citewell.store.sqlite.connection import Database


async def is_large(database: Database, source_id: int) -> bool:
    """Return whether removing the page in one transaction would keep other writers waiting."""
    row = await database.fetch_one("page_rows", {"source_id": source_id})
    return row is not None and bool(
        row["chunks"] > put.MANY_CHUNKS or row["other_rows"] > ROWS_AT_ONCE
    )


async def remove_in_slices(
    database: Database, source_id: int, *, of_website: int | None = None
) -> bool:
    """Remove the page unless a website other than `of_website` holds it; return whether it did.

    A caller that is cancelled waits for it.
    """
    with anyio.CancelScope(shield=True):
        remove = partial(_remove_page, source_id=source_id, of_website=of_website)
        is_removed = await write_and_pause(database, remove)
        if is_removed:
            await remove_leftovers(database)
    return is_removed


def _remove_page(connection: sqlite3.Connection, source_id: int, of_website: int | None) -> bool:
    key = {"source_id": source_id}
    holder = key | {"website_id": of_website}
    if of_website is not None and connection.execute(SQL["is_page_held"], holder).fetchone():
        return False
    rows_id = put.rows_of_page(connection, source_id)
    counted = connection.execute(SQL["chunks_and_words"], {"rows_id": rows_id}).fetchone()
    # Touched at 0: whoever comes next may remove the rows.
    unlist(connection, rows_id, now=0)
    # No page has the id 0.
    connection.execute(SQL["count_listed_vectors"], {"listed_id": 0, "unlisted_id": rows_id})
    values = {"chunks": -counted["chunks"], "words": -counted["words"]}
    connection.execute(SQL["count_chunks"], values)
    return connection.execute(SQL["delete_page"], key).rowcount > 0
