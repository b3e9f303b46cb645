"""Removing a large page in short transactions, so that no other writer waits long.

One transaction removes the page and puts its rows under an id that no page has; they are removed
afterwards, in slices.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import anyio

from citewell.store.sqlite import put
from citewell.store.sqlite.page_parts import LINK_PARTS, PARTS
from citewell.store.sqlite.session import SQL
from citewell.store.sqlite.unlisted import (
    ROWS_AT_ONCE,
    remove_leftovers,
    reserve_id,
    unlist,
    write_and_pause,
)

if TYPE_CHECKING:
    import sqlite3

    from citewell.store.sqlite.connection import Database

# Rows without a page are possible only while foreign keys are off, and then they remove nothing.
REMOVED_WITH_PAGE = (
    "remove_page_body",
    "remove_tags",
    "remove_mentions",
    "remove_memberships",
    "drop_response",
    "remove_earlier_fetches",
    "remove_citations",
    "delete_page",
)


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
    counted = connection.execute(SQL["chunks_and_words"], key).fetchone()
    # Touched at 0: whoever comes next may remove the rows.
    gone = reserve_id(connection, now=0)
    into_nothing = {"from_id": source_id, "to_id": gone}
    connection.execute(SQL["pass_chunks"], into_nothing)
    for part in PARTS:
        if part not in LINK_PARTS:
            connection.execute(SQL[f"pass_{part}"], into_nothing)
    unlist(connection, put.row_ids(connection, source_id).links_id, now=0)
    connection.execute(SQL["count_unlisted_vectors"], {"gone_id": gone})
    values = {"chunks": -counted["chunks"], "words": -counted["words"]}
    connection.execute(SQL["count_chunks"], values)
    removed = [connection.execute(SQL[name], key).rowcount for name in REMOVED_WITH_PAGE]
    return removed[-1] > 0
