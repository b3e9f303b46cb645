"""Writing a large page in short transactions, so that no other writer waits long.

Where little differs from what is stored, one transaction writes that. Otherwise all rows of the
page are written under an id that no page has, and one transaction, which is short however many they
are, makes it the id of the page. The rows that were the page's are removed afterwards, in slices
too.
Readers see the page as it was or as it is, and so does whoever comes after a writer that was cut
off at any point. The table `unlisted` has the ids.
"""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from citewell.core.errors import StoreError
from citewell.core.frozen import frozen
from citewell.store.sqlite import put
from citewell.store.sqlite.mentions import put_mentions
from citewell.store.sqlite.page_parts import PARTS, put_part
from citewell.store.sqlite.session import SQL
from citewell.store.sqlite.unlisted import (
    CHUNKS_AT_ONCE,
    CHUNKS_PER_PIECE,
    PIECES_AT_ONCE,
    ROWS_AT_ONCE,
    ROWS_PER_PIECE,
    remove_leftovers,
    reserve_rows,
    slice_end,
    touch,
    unlist,
    write_and_pause,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence

    from citewell.core.storage import PutResult
    from citewell.store.sqlite.connection import Database
    from citewell.store.sqlite.prepared_page import PreparedPage

logger = logging.getLogger(__name__)

_ATTEMPTS = 3


@frozen
class _Plan:
    """How a page differs from what is stored, and the state in which that was so."""

    state: tuple[object, ...]
    changes: put.RowChanges

    @property
    def is_short(self) -> bool:
        """Whether one transaction can write the changes."""
        rows = sum(len(change) for change in self.changes.parts)
        return len(self.changes.chunks) <= CHUNKS_AT_ONCE and rows <= ROWS_AT_ONCE


def is_large(page: PreparedPage) -> bool:
    """Return whether writing the page in one transaction would keep other writers waiting."""
    rows = sum(len(page.parts[part]) for part in PARTS)
    return len(page.chunks) > put.MANY_CHUNKS or rows > ROWS_AT_ONCE


async def put_in_slices(database: Database, page: PreparedPage) -> PutResult:
    """Write the page, replacing what its URL held; a caller that is cancelled waits for it.

    Raises:
        SuppliedTextRefused: the text is supplied, and a page of another origin has its URL.
    """
    with anyio.CancelScope(shield=True):
        result = await _put(database, page)
    return result  # noqa: RET504 - a scope can swallow what is raised inside it


async def _put(database: Database, page: PreparedPage) -> PutResult:
    await remove_leftovers(database)
    for _ in range(_ATTEMPTS):
        result = await _put_unless_changed(database, page)
        if result is not None:
            return result
    # Others keep writing the same page; this ends the race.
    return await database.write(partial(put.put_whole_page, page=page))


async def _put_unless_changed(database: Database, page: PreparedPage) -> PutResult | None:
    """Write the page; None when another writer changed it meanwhile, or took this one for dead."""
    plan = await database.read(partial(_compare, page=page))
    if plan.is_short:
        work = partial(_put_in_place, page=page, plan=plan)
        return await write_and_pause(database, work)
    rows_id = await database.write(reserve_rows)
    try:
        pieces = list(_pieces(page, plan, rows_id))
        while pieces:
            write_slice = partial(_write_slice, rows_id=rows_id, pieces=pieces)
            written = await write_and_pause(database, write_slice)
            if not written:
                return None
            del pieces[:written]
        listing = partial(_list_page, page=page, plan=plan, rows_id=rows_id)
        return await write_and_pause(database, listing)
    finally:
        await _clean_up(database, rows_id)


def _compare(connection: sqlite3.Connection, page: PreparedPage) -> _Plan:
    before = put.page_before(connection, page)
    return _Plan(
        state=_state(connection, before), changes=put.compare_rows(connection, page, before)
    )


def _state(connection: sqlite3.Connection, before: sqlite3.Row | None) -> tuple[Any, ...]:
    """Return what differs after any writing of the page; nothing when there is none."""
    if before is None:
        return ()
    key = {"rows_id": before["rows_id"]}
    return (*before, *connection.execute(SQL["sum_of_chunk_ids"], key).fetchone())


def _put_in_place(
    connection: sqlite3.Connection, page: PreparedPage, plan: _Plan
) -> PutResult | None:
    before = put.page_before(connection, page)
    if _state(connection, before) != plan.state:
        return None
    return put.put_in_place(connection, page, before, plan.changes)


def _pieces(
    page: PreparedPage, plan: _Plan, rows_id: int
) -> Iterator[Callable[[sqlite3.Connection], None]]:
    """Yield the steps of writing the rows of the page, each of which takes a moment."""
    for statement in put.KEEPING_TEXT:
        yield partial(_keep_text, page=page, plan=plan, statement=statement)
    yield partial(put.put_body, page=page, rows_id=rows_id)
    chunks = plan.changes.chunks.same
    for start in range(0, len(chunks), CHUNKS_PER_PIECE):
        some = chunks[start : start + CHUNKS_PER_PIECE]
        yield partial(put.add_chunks, chunks=some, rows_id=rows_id)
    for part in PARTS:
        rows = page.parts[part]
        for start in range(0, len(rows), ROWS_PER_PIECE):
            some_rows = rows[start : start + ROWS_PER_PIECE]
            yield partial(put_part, part=part, rows=some_rows, rows_id=rows_id)


def _keep_text(
    connection: sqlite3.Connection, page: PreparedPage, plan: _Plan, statement: str
) -> None:
    before = put.page_before(connection, page)
    if _state(connection, before) == plan.state:
        put.keep_text(connection, page, before, statement)


def _write_slice(
    connection: sqlite3.Connection,
    rows_id: int,
    pieces: Sequence[Callable[[sqlite3.Connection], None]],
) -> int:
    """Write the first pieces, for the time of a slice; return how many.

    None is written where another process took this one for dead.
    """
    ends_at = slice_end()
    if not touch(connection, rows_id, now=time.time()):
        return 0
    written = 0
    for write_piece in pieces[:PIECES_AT_ONCE]:
        write_piece(connection)
        written += 1
        if time.monotonic() >= ends_at:
            break
    return written


def _list_page(
    connection: sqlite3.Connection, page: PreparedPage, plan: _Plan, rows_id: int
) -> PutResult | None:
    """Make the rows those of the page, and those that it had rows of no page."""
    before = put.page_before(connection, page)
    is_ours = touch(connection, rows_id, now=time.time())
    if not is_ours or _state(connection, before) != plan.state:
        return None
    source_id = put.put_head(connection, page)
    rows_before = put.rows_of_page(connection, source_id)
    # Touched at 0: whoever comes next may remove the rows.
    unlist(connection, rows_before, now=0)
    connection.execute(SQL["next_revisions"])
    connection.execute(SQL["replace_rows"], {"source_id": source_id, "rows_id": rows_id})
    values = {"listed_id": rows_id, "unlisted_id": rows_before}
    connection.execute(SQL["count_listed_vectors"], values)
    chunks = plan.changes.chunks
    put.count_chunks(connection, added=page.chunks, unlisted=chunks.stored)
    put_mentions(connection, page.draft, source_id=source_id)
    connection.execute(SQL["end_unlisted"], {"rows_id": rows_id})
    return put.put_result(page, before, source_id=source_id, kept=chunks.kept)


async def _clean_up(database: Database, rows_id: int) -> None:
    """Remove what is left under this id; if that fails, whoever comes next does."""

    def let_go(connection: sqlite3.Connection) -> None:
        touch(connection, rows_id, now=0)

    try:
        await database.write(let_go)
    except StoreError as error:
        logger.warning("rows of an unfinished page stay for a minute: %s", error)
    await remove_leftovers(database)
