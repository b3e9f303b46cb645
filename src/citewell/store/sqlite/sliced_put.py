"""Writing a large page in short transactions, so that no other writer waits long.

Its new chunks, its links and images, and all rows of a new page, are first written under ids that
no page has. One transaction then makes them those of the page, puts the chunks that they replace
under another such id, and changes the other rows in place. What was replaced is removed afterwards,
in slices too.
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
    LINK_PARTS,
    NO_ROWS,
    PARTS,
    PartChanges,
    RowIds,
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
    reserve_links,
    touch,
    unlist,
    write_and_pause,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from citewell.core.storage import PutResult
    from citewell.store.sqlite.connection import Database
    from citewell.store.sqlite.prepared_page import PreparedPage

logger = logging.getLogger(__name__)

_ATTEMPTS = 3
# Reindexing a chunk in place takes 45 µs, all in the transaction that lists the page.
_MOST_REWORDED = 500
# A link whose URL changed takes 5 µs there; replacing all of them takes one update.
_MOST_LINKS_CHANGED = 2_500


@frozen
class _Plan:
    """How a page differs from what is stored, and the state in which that was so."""

    state: tuple[object, ...]
    is_new: bool
    staged: Mapping[str, Sequence[tuple[object, ...]]]
    """The rows of parts that are written in full, under other ids."""
    in_place: list[PartChanges]
    changes: put.ChunkChanges


@frozen
class _Ids:
    """Ids that no page has: of rows that will be the page's, and of those that were."""

    staged: RowIds
    gone: int

    @property
    def all(self) -> tuple[int, ...]:
        return (*self.staged, self.gone)


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
    ids = put.row_ids(connection, before["source_id"]) if before is not None else NO_ROWS
    parts = compare_parts(connection, page, ids=ids)
    changed_links = sum(len(change) for change in parts if change.part in LINK_PARTS)
    full = PARTS if before is None else LINK_PARTS if changed_links > _MOST_LINKS_CHANGED else ()
    return _Plan(
        state=_state(connection, page),
        is_new=before is None,
        staged={part: page.parts[part] for part in full},
        in_place=[change for change in parts if change.part not in full],
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
    staged = RowIds(
        source_id=reserve_id(connection, now=now), links_id=reserve_links(connection, now=now)
    )
    return _Ids(staged=staged, gone=reserve_id(connection, now=now))


def _slices(plan: _Plan, ids: _Ids) -> Iterator[Callable[[sqlite3.Connection], None]]:
    """Yield the work of each transaction that writes rows of the page under `ids.staged`."""
    new = plan.changes.new
    for start in range(0, len(new), CHUNKS_AT_ONCE):
        some = new[start : start + CHUNKS_AT_ONCE]
        yield partial(put.add_chunks, chunks=some, source_id=ids.staged.source_id)
    for part, rows in plan.staged.items():
        for start in range(0, len(rows), ROWS_AT_ONCE):
            some_rows = rows[start : start + ROWS_AT_ONCE]
            yield partial(put_part, part=part, rows=some_rows, ids=ids.staged)


def _in_time(
    connection: sqlite3.Connection, ids: _Ids, work: Callable[[sqlite3.Connection], None]
) -> bool:
    """Do `work` unless another process took this one for dead."""
    if not touch(connection, ids.all, now=time.time()):
        return False
    work(connection)
    return True


def _list_page(
    connection: sqlite3.Connection, page: PreparedPage, plan: _Plan, ids: _Ids
) -> PutResult | None:
    """Make the staged rows those of the page, and put the chunks that they replace aside."""
    is_ours = touch(connection, ids.all, now=time.time())
    if not is_ours or _state(connection, page) != plan.state:
        return None
    before = put.page_before(connection, page)
    source_id = put.put_head(connection, page, before, new_id=ids.staged.source_id)
    _list_parts(connection, plan, ids=ids, source_id=source_id)
    _list_chunks(connection, plan.changes, ids=ids, source_id=source_id)
    put.put_kept_chunks(connection, plan.changes)
    put_mentions(connection, page.draft, source_id=source_id)
    for row_id in ids.staged:
        connection.execute(SQL["end_unlisted"], {"source_id": row_id})
    return put.put_result(page, before, source_id=source_id, kept=plan.changes.kept)


def _list_parts(connection: sqlite3.Connection, plan: _Plan, *, ids: _Ids, source_id: int) -> None:
    before = put.row_ids(connection, source_id)
    put_changes(connection, plan.in_place, ids=before)
    if source_id != ids.staged.source_id:
        into_page = {"from_id": ids.staged.source_id, "to_id": source_id}
        for part in plan.staged.keys() - LINK_PARTS:
            connection.execute(SQL[f"pass_{part}"], into_page)
    if plan.staged:
        # Touched at 0: whoever comes next may remove the rows.
        unlist(connection, before.links_id, now=0)
        values = {"source_id": source_id, "links_id": ids.staged.links_id}
        connection.execute(SQL["replace_links"], values)


def _list_chunks(
    connection: sqlite3.Connection, changes: put.ChunkChanges, *, ids: _Ids, source_id: int
) -> None:
    gone = json.dumps([chunk.chunk_id for chunk in changes.gone])
    connection.execute(SQL["unlist_chunks"], {"gone_id": ids.gone, "chunk_ids": gone})
    connection.execute(SQL["count_unlisted_vectors"], {"gone_id": ids.gone})
    if source_id != ids.staged.source_id:
        into_page = {"from_id": ids.staged.source_id, "to_id": source_id}
        connection.execute(SQL["pass_chunks"], into_page)
    put.count_chunks(connection, added=changes.new, unlisted=changes.gone)


async def _clean_up(database: Database, ids: _Ids) -> None:
    """Remove what is left under these ids; if that fails, whoever comes next does."""

    def let_go(connection: sqlite3.Connection) -> None:
        touch(connection, ids.all, now=0)

    try:
        await database.write(let_go)
    except StoreError as error:
        logger.warning("rows of an unfinished page stay for a minute: %s", error)
    await remove_leftovers(database)
