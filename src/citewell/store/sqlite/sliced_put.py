"""Writing a large page in short transactions, so that no other writer waits long.

Its new chunks, and all rows of a new page, are first written under an id that no page has. One
transaction then makes them those of the page, puts the chunks that they replace under another such
id, and changes the other rows in place. What was replaced is removed afterwards, in slices too.
Readers see the page as it was or as it is, and so does whoever comes after a writer that was cut
off at any point. The table `unlisted` has the ids.
"""

from __future__ import annotations

import json
import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from citewell.core.errors import StoreError
from citewell.core.frozen import frozen
from citewell.store.sqlite import put
from citewell.store.sqlite.mentions import put_mentions
from citewell.store.sqlite.page_parts import (
    PARTS,
    PartChanges,
    compare_parts,
    put_changes,
    put_part,
)
from citewell.store.sqlite.session import SQL
from citewell.store.sqlite.unlisted import (
    CHUNKS_AT_ONCE,
    ROWS_AT_ONCE,
    remove_leftovers,
    reserve_id,
    touch,
    write_and_pause,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from citewell.core.storage import PutResult
    from citewell.store.sqlite.connection import Database
    from citewell.store.sqlite.prepared_page import PreparedPage

logger = logging.getLogger(__name__)

_ATTEMPTS = 3
# Reindexing a chunk in place takes 45 µs, all in the transaction that lists the page.
_MOST_REWORDED = 500


@frozen
class _Plan:
    """How a page differs from what is stored, and the state in which that was so."""

    state: tuple[object, ...]
    is_new: bool
    parts: list[PartChanges]
    changes: put.ChunkChanges


@frozen
class _Ids:
    """Ids that no page has: of rows that will be the page's, and of those that were."""

    staged: int
    gone: int


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
    ids = await database.write(_reserve_ids)
    try:
        for write_slice in _slices(plan, ids):
            work = partial(_in_time, ids=ids, work=write_slice)
            if not await write_and_pause(database, work):
                return None
        return await write_and_pause(database, partial(_list_page, page=page, plan=plan, ids=ids))
    finally:
        await _clean_up(database, ids)


def _compare(connection: sqlite3.Connection, page: PreparedPage) -> _Plan:
    before = put.page_before(connection, page)
    return _Plan(
        state=_state(connection, page),
        is_new=before is None,
        # No page has id 0, so all of a new page is added.
        parts=compare_parts(connection, page, source_id=before["source_id"] if before else 0),
        changes=put.compare_chunks(connection, page, before, most_reworded=_MOST_REWORDED),
    )


def _state(connection: sqlite3.Connection, page: PreparedPage) -> tuple[Any, ...]:
    """Return what differs after any writing of the page; nothing when there is none."""
    before = put.page_before(connection, page)
    if before is None:
        return ()
    key = {"source_id": before["source_id"]}
    return (*before, *connection.execute(SQL["sum_of_chunk_ids"], key).fetchone())


def _reserve_ids(connection: sqlite3.Connection) -> _Ids:
    now = time.time()
    return _Ids(staged=reserve_id(connection, now=now), gone=reserve_id(connection, now=now))


def _slices(plan: _Plan, ids: _Ids) -> Iterator[Callable[[sqlite3.Connection], None]]:
    """Yield the work of each transaction that writes rows of the page under `ids.staged`."""
    new = plan.changes.new
    for start in range(0, len(new), CHUNKS_AT_ONCE):
        some = new[start : start + CHUNKS_AT_ONCE]
        yield partial(put.add_chunks, chunks=some, source_id=ids.staged)
    for change in plan.parts if plan.is_new else ():
        for start in range(0, len(change.added), ROWS_AT_ONCE):
            rows = change.added[start : start + ROWS_AT_ONCE]
            yield partial(put_part, part=change.part, rows=rows, source_id=ids.staged)


def _in_time(
    connection: sqlite3.Connection, ids: _Ids, work: Callable[[sqlite3.Connection], None]
) -> bool:
    """Do `work` unless another process took this one for dead."""
    if not touch(connection, ids.staged, now=time.time()):
        return False
    work(connection)
    return True


def _list_page(
    connection: sqlite3.Connection, page: PreparedPage, plan: _Plan, ids: _Ids
) -> PutResult | None:
    """Make the staged rows those of the page, and put the chunks that they replace aside."""
    is_ours = touch(connection, ids.staged, now=time.time())
    if not is_ours or _state(connection, page) != plan.state:
        return None
    before = put.page_before(connection, page)
    source_id = put.put_head(connection, page, before, new_id=ids.staged)
    into_page = {"from_id": ids.staged, "to_id": source_id}
    if not plan.is_new:
        put_changes(connection, plan.parts, source_id=source_id)
    elif source_id != ids.staged:
        for change in plan.parts:
            connection.execute(SQL[f"pass_{change.part}"], into_page)
    _list_chunks(connection, plan.changes, ids=ids, source_id=source_id)
    put.put_kept_chunks(connection, plan.changes)
    put_mentions(connection, page.draft, source_id=source_id)
    connection.execute(SQL["end_unlisted"], {"source_id": ids.staged})
    return put.put_result(page, before, source_id=source_id, kept=plan.changes.kept)


def _list_chunks(
    connection: sqlite3.Connection, changes: put.ChunkChanges, *, ids: _Ids, source_id: int
) -> None:
    gone = json.dumps([chunk.chunk_id for chunk in changes.gone])
    connection.execute(SQL["unlist_chunks"], {"gone_id": ids.gone, "chunk_ids": gone})
    connection.execute(SQL["count_unlisted_vectors"], {"gone_id": ids.gone})
    if source_id != ids.staged:
        into_page = {"from_id": ids.staged, "to_id": source_id}
        connection.execute(SQL["pass_chunks"], into_page)
    put.count_chunks(connection, added=changes.new, unlisted=changes.gone)


async def _clean_up(database: Database, ids: _Ids) -> None:
    """Remove what is left under these ids; if that fails, whoever comes next does."""

    def let_go(connection: sqlite3.Connection) -> None:
        for source_id in (ids.staged, ids.gone):
            touch(connection, source_id, now=0)

    try:
        await database.write(let_go)
    except StoreError as error:
        logger.warning("rows of an unfinished page stay for a minute: %s", error)
    await remove_leftovers(database)
