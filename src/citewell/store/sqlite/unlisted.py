"""Rows of chunks, sections, links, images and symbols that no page has, and removing them.

They wait to become those of a page, or to be removed, which takes several short transactions. The
table `unlisted` has their ids, and when each was last used.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, TypeVar

import anyio

from citewell.core.errors import StoreError
from citewell.store.sqlite.page_parts import PARTS
from citewell.store.sqlite.session import SQL

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from citewell.store.sqlite.connection import Database

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

# Some 40 ms of CPU each; a chunk that is removed takes twice as long as one that is written.
CHUNKS_AT_ONCE = 400
ROWS_AT_ONCE = 5_000
# They are written in pieces until the time of a transaction is over: on a busy machine, or a slow
# disk, fewer rows keep others waiting as long.
PIECES_AT_ONCE = 8
CHUNKS_PER_PIECE = CHUNKS_AT_ONCE // PIECES_AT_ONCE
ROWS_PER_PIECE = ROWS_AT_ONCE // PIECES_AT_ONCE
SLICE_SECONDS = 0.04
# SQLite looks for the lock that another process holds after 1, 3, 8, 18, 33, 53, 78, 103, 128, 178,
# 228 and 328 ms: the longer it has waited, the longer the pause in which it looks again.
_SHORTEST_PAUSE_SECONDS = 0.025
_LONGEST_PAUSE_SECONDS = 0.1
_PAUSE_SHARE = 0.5
# A writer that wrote no slice for so long is taken for dead; if it was not, it starts again.
_LEASE_SECONDS = 60
_LEFT = "rows of an unfinished page are left in the database: %s"


def reserve_rows(connection: sqlite3.Connection) -> int:
    """Return an id that no page names or ever named, for rows that nobody is to see."""
    rows_id = int(connection.execute(SQL["reserve_rows"]).fetchone()[0])
    unlist(connection, rows_id, now=time.time())
    return rows_id


def unlist(connection: sqlite3.Connection, rows_id: int, *, now: float) -> None:
    """Note that no page has the rows of this id."""
    connection.execute(SQL["begin_unlisted"], {"rows_id": rows_id, "now": now})


def touch(connection: sqlite3.Connection, rows_id: int, *, now: float) -> bool:
    """Note when an id was last used; return whether it is still one that no page has."""
    values = {"rows_id": rows_id, "now": now}
    return connection.execute(SQL["touch_unlisted"], values).rowcount == 1


def slice_end() -> float:
    """Return when the transaction that begins now is to end, by the monotonic clock."""
    return time.monotonic() + SLICE_SECONDS


async def write_and_pause(
    database: Database, work: Callable[[sqlite3.Connection], Result]
) -> Result:
    """Run `work` in a transaction, then leave other processes time to write."""
    begun = time.monotonic()
    result = await database.write(work)
    pause = _PAUSE_SHARE * (time.monotonic() - begun)
    await anyio.sleep(min(max(pause, _SHORTEST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS))
    return result


async def remove_some_leftovers(database: Database) -> None:
    """Remove one slice of what a writer that was cut off left, so that a caller waits little."""
    try:
        if await database.read(_find_leftover) is not None:
            await database.write(_remove_some)
    except StoreError as error:
        logger.warning(_LEFT, error)


async def remove_leftovers(database: Database) -> None:
    """Remove the rows of interrupted writers, if the database can be written."""
    try:
        while await database.read(_find_leftover) is not None:
            await write_and_pause(database, _remove_some)
    except StoreError as error:
        logger.warning(_LEFT, error)


def _find_leftover(connection: sqlite3.Connection) -> int | None:
    # A time that is yet to come was written by a clock that has been set back since.
    now = time.time()
    values = {"left_before": now - _LEASE_SECONDS, "ahead_of": now + _LEASE_SECONDS}
    row = connection.execute(SQL["left_unlisted"], values).fetchone()
    return None if row is None else int(row["rows_id"])


def _remove_some(connection: sqlite3.Connection) -> None:
    """Remove some rows that a writer left, until the time of a slice is over."""
    ends_at = slice_end()
    for _ in range(PIECES_AT_ONCE):
        if not _remove_piece(connection) or time.monotonic() >= ends_at:
            return


def _remove_piece(connection: sqlite3.Connection) -> bool:
    """Remove a few rows that a writer left; return whether there were any."""
    # Looked for in the transaction: a writer that only seemed dead may have listed its page since.
    rows_id = _find_leftover(connection)
    if rows_id is None:
        return False
    key = {"rows_id": rows_id}
    some = key | {"limit": CHUNKS_PER_PIECE}
    if connection.execute(SQL["remove_unlisted_chunks"], some).rowcount:
        return True
    some = key | {"limit": ROWS_PER_PIECE}
    if any(connection.execute(SQL[f"remove_{part}"], some).rowcount for part in PARTS):
        return True
    connection.execute(SQL["remove_page_body"], key)
    connection.execute(SQL["end_unlisted"], key)
    return True
