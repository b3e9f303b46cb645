"""Writing a large page in short transactions, so that no other writer waits long.

Its rows are first written under an id that no page has. One transaction then makes them those of
the page and puts those they replace under another such id: it only renames rows. What was replaced
is removed afterwards, in slices too. Readers see the page as it was or as it is, and so does
whoever comes after a writer that was cut off at any point. The table `unlisted` has the ids.
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
from citewell.store.sqlite.prepared_page import PARTS
from citewell.store.sqlite.session import SQL

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from citewell.core.storage import PutResult
    from citewell.store.sqlite.connection import Database
    from citewell.store.sqlite.prepared_page import PreparedPage

logger = logging.getLogger(__name__)

# Some 40 ms of CPU each.
_CHUNKS_AT_ONCE = 1_000
_ROWS_AT_ONCE = 5_000
# SQLite looks for the lock that another process holds every 1 to 25 ms, later less often.
_PAUSE_SECONDS = 0.02
# A writer that wrote no slice for so long is taken for dead; if it was not, it starts again.
_LEASE_SECONDS = 60
_ATTEMPTS = 3
LEAST_FREE_BYTES = 256_000_000
_LEFT = "rows of an unfinished page are left in the database: %s"
# Reindexing a chunk in place takes 45 µs, all in the transaction that lists the page.
_MOST_REWORDED = 500


@frozen
class _Plan:
    """How a page differs from what is stored, and the state in which that was so."""

    state: tuple[object, ...]
    parts: list[str]
    changes: put.ChunkChanges


@frozen
class _Ids:
    """Ids that no page has: of rows that will be the page's, and of those that were."""

    staged: int
    gone: int


def is_large(page: PreparedPage) -> bool:
    """Return whether writing the page in one transaction would keep other writers waiting."""
    rows = sum(len(page.parts[part]) for part in PARTS)
    return len(page.chunks) > put.MANY_CHUNKS or rows > _ROWS_AT_ONCE


def has_room(database: Database) -> bool:
    """Return whether the disk surely holds a large page, and what it takes to remove it again.

    Slices that were written stay when the next one finds the disk full, and removing rows needs
    room as well; a transaction that fails gives everything back.
    """
    free = database.free_bytes
    return free is None or free >= LEAST_FREE_BYTES


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


async def remove_some_leftovers(database: Database) -> None:
    """Remove one slice of what a writer that was cut off left, so that a caller waits little."""
    try:
        if await database.read(_find_leftover) is not None:
            await database.write_unlisted(_remove_some)
    except StoreError as error:
        logger.warning(_LEFT, error)


async def remove_leftovers(database: Database) -> None:
    """Remove the rows of writers that were cut off, as far as the database can be written."""
    try:
        while await database.read(_find_leftover) is not None:
            await database.write_unlisted(_remove_some)
            await anyio.sleep(_PAUSE_SECONDS)
    except StoreError as error:
        logger.warning(_LEFT, error)


async def _put_unless_changed(database: Database, page: PreparedPage) -> PutResult | None:
    """Write the page; None when another writer changed it meanwhile, or took this one for dead."""
    plan = await database.read(partial(_compare, page=page))
    ids = await database.write(_reserve_ids)
    try:
        for write_slice in _slices(page, plan, ids):
            if not await database.write_unlisted(partial(_in_time, ids=ids, work=write_slice)):
                return None
            await anyio.sleep(_PAUSE_SECONDS)
        return await database.write_unlisted(partial(_list_page, page=page, plan=plan, ids=ids))
    finally:
        await _clean_up(database, ids)


def _compare(connection: sqlite3.Connection, page: PreparedPage) -> _Plan:
    before = put.page_before(connection, page)
    return _Plan(
        state=_state(connection, page),
        # No page has id 0, so all of a new page is changed.
        parts=put.changed_parts(connection, page, source_id=before["source_id"] if before else 0),
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
    staged, gone = (
        int(connection.execute(SQL["reserve_page_number"]).fetchone()[0]) for _ in range(2)
    )
    now = time.time()
    connection.executemany(SQL["begin_unlisted"], [(staged, now), (gone, now)])
    return _Ids(staged=staged, gone=gone)


def _slices(
    page: PreparedPage, plan: _Plan, ids: _Ids
) -> Iterator[Callable[[sqlite3.Connection], None]]:
    """Yield the work of each transaction that writes rows of the page under `ids.staged`."""
    new = plan.changes.new
    for start in range(0, len(new), _CHUNKS_AT_ONCE):
        some = new[start : start + _CHUNKS_AT_ONCE]
        yield partial(put.add_chunks, chunks=some, source_id=ids.staged)
    for part in plan.parts:
        rows = page.parts[part]
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part_of_rows = rows[start : start + _ROWS_AT_ONCE]
            yield partial(put.put_part, part=part, rows=part_of_rows, source_id=ids.staged)


def _in_time(
    connection: sqlite3.Connection, ids: _Ids, work: Callable[[sqlite3.Connection], None]
) -> bool:
    """Do `work` unless another process took this one for dead."""
    if not _touch(connection, ids.staged, now=time.time()):
        return False
    work(connection)
    return True


def _list_page(
    connection: sqlite3.Connection, page: PreparedPage, plan: _Plan, ids: _Ids
) -> PutResult | None:
    """Make the staged rows those of the page, and put those that they replace aside."""
    is_ours = _touch(connection, ids.staged, now=time.time())
    if not is_ours or _state(connection, page) != plan.state:
        return None
    before = put.page_before(connection, page)
    source_id = put.put_head(connection, page, before, new_id=ids.staged)
    into_page = {"from_id": ids.staged, "to_id": source_id}
    for part in plan.parts:
        if before is not None:
            aside = {"from_id": source_id, "to_id": ids.gone}
            connection.execute(SQL[f"pass_{part}"], aside)
        if source_id != ids.staged:
            connection.execute(SQL[f"pass_{part}"], into_page)
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
            _touch(connection, source_id, now=0)

    try:
        await database.write(let_go)
    except StoreError as error:
        logger.warning("rows of an unfinished page stay for a minute: %s", error)
    await remove_leftovers(database)


def _touch(connection: sqlite3.Connection, source_id: int, *, now: float) -> bool:
    """Note when an id was last used; return whether it is still one that no page has."""
    values = {"source_id": source_id, "now": now}
    return connection.execute(SQL["touch_unlisted"], values).rowcount > 0


def _find_leftover(connection: sqlite3.Connection) -> int | None:
    # A time that is yet to come was written by a clock that has been set back since.
    now = time.time()
    values = {"left_before": now - _LEASE_SECONDS, "ahead_of": now + _LEASE_SECONDS}
    row = connection.execute(SQL["left_unlisted"], values).fetchone()
    return None if row is None else int(row["source_id"])


def _remove_some(connection: sqlite3.Connection) -> None:
    """Remove some rows that a writer left."""
    # Looked for in the transaction: a writer that only seemed dead may have listed its page since.
    source_id = _find_leftover(connection)
    if source_id is None:
        return
    key = {"source_id": source_id}
    some = key | {"limit": _CHUNKS_AT_ONCE}
    if connection.execute(SQL["remove_unlisted_chunks"], some).rowcount:
        return
    some = key | {"limit": _ROWS_AT_ONCE}
    for part in PARTS:
        if connection.execute(SQL[f"remove_{part}"], some).rowcount:
            return
    connection.execute(SQL["end_unlisted"], key)
