"""The rows of a page's parts: comparing them with the stored ones, and writing what differs.

Rows are updated in place: replacing a row would update every index again while other writers wait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from citewell.store.sqlite.session import SQL

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from citewell.store.sqlite.prepared_page import PreparedPage

    Row = tuple[object, ...]


class _Columns(NamedTuple):
    """Where a row of a part, which has no page id, has its columns; `change_…` takes the others."""

    key: tuple[int, ...]
    indexed: tuple[int, ...]
    others: tuple[int, ...]

    def key_of(self, row: Row) -> Row:
        return tuple(row[column] for column in self.key)

    def indexed_of(self, row: Row) -> Row:
        return tuple(row[column] for column in self.indexed)

    def others_of(self, row: Row) -> Row:
        return tuple(row[column] for column in self.others)


_COLUMNS = {
    "sections": _Columns(key=(0,), indexed=(1,), others=(2, 3, 4, 5, 6)),
    "links": _Columns(key=(0,), indexed=(1, 4), others=(2, 3, 5, 6)),
    "images": _Columns(key=(0,), indexed=(), others=(1, 2, 3, 4, 5)),
    "symbols": _Columns(key=(0, 2), indexed=(1,), others=(3,)),
}
PARTS = tuple(_COLUMNS)
"""What has a row each, is replaced with its page and has no identity of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartChanges:
    """How the rows of one part differ from those that are stored."""

    part: str
    added: list[Row]
    """New rows, and those whose indexed columns differ."""
    changed: list[Row]
    """Values of `change_…`, for rows that differ in columns of no index."""
    gone: list[Row]
    """Values of `drop_…`, for rows that the page no longer has."""

    def __len__(self) -> int:
        """How many rows are written."""
        return len(self.added) + len(self.changed) + len(self.gone)


def compare_parts(
    connection: sqlite3.Connection, page: PreparedPage, *, rows_id: int
) -> list[PartChanges]:
    """Return the changes of the parts that differ from what is stored."""
    cursor = connection.cursor()
    cursor.row_factory = None
    changes = []
    for part in PARTS:
        stored = cursor.execute(SQL[f"{part}_before"], {"rows_id": rows_id})
        change = _compare(part, stored, page.parts[part], rows_id=rows_id)
        if change:
            changes.append(change)
    return changes


def put_changes(
    connection: sqlite3.Connection, changes: Iterable[PartChanges], *, rows_id: int
) -> None:
    """Write the changes of a page's parts."""
    for change in changes:
        put_part(connection, change.part, change.added, rows_id=rows_id)
        connection.executemany(SQL[f"change_{change.part}"], change.changed)
        connection.executemany(SQL[f"drop_{change.part}"], change.gone)


def put_part(
    connection: sqlite3.Connection, part: str, rows: Sequence[Row], *, rows_id: int
) -> None:
    """Write rows of a part, each in place of the row that has its key."""
    connection.executemany(SQL[f"put_{part}"], [(rows_id, *row) for row in rows])


def _compare(part: str, stored: Iterable[Row], rows: Sequence[Row], *, rows_id: int) -> PartChanges:
    columns = _COLUMNS[part]
    before = {columns.key_of(row): row for row in stored}
    added, changed = [], []
    for row in rows:
        key = columns.key_of(row)
        old = before.pop(key, None)
        if old is None or columns.indexed_of(old) != columns.indexed_of(row):
            added.append(row)
        elif old != row:
            changed.append((*columns.others_of(row), rows_id, *key))
    gone = [(rows_id, *key) for key in before]
    return PartChanges(part=part, added=added, changed=changed, gone=gone)
