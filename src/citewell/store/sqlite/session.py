"""Named statements on one connection to SQLite."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from citewell.store.sql import load_statements

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Coroutine, Sequence

    from citewell.store.session import Channel, Row, Values

Result = TypeVar("Result")

SQL = load_statements("sqlite")


class SqliteSession:
    """Named statements on one connection, in the thread that has it.

    Its methods are coroutines only so that the same work runs on every database: they never wait.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def fetch_all(self, statement: str, values: Values | None = None) -> list[Row]:
        """Return all rows of a statement."""
        return self._run(statement, values).fetchall()

    async def fetch_one(self, statement: str, values: Values | None = None) -> Row | None:
        """Return the first row of a statement, or None."""
        row: Row | None = self._run(statement, values).fetchone()
        return row

    async def execute(self, statement: str, values: Values | None = None) -> int:
        """Run a statement and return how many rows it changed."""
        return self._run(statement, values).rowcount

    async def execute_many(self, statement: str, rows: Sequence[Values]) -> None:
        """Run a statement once for each of `rows`."""
        self._connection.executemany(SQL[statement], map(adapt_values, rows))

    async def lock(self, purpose: str, key: str = "") -> None:
        """Do nothing: the transaction is the only one that writes."""

    async def notify(self, channel: Channel, payload: str = "") -> None:
        """Do nothing: nobody can listen."""

    async def fetch_packed(self, statement: str, values: Values) -> list[list[Any]]:
        """Return the rows that a statement packs into one JSON list.

        Python releases its lock at every row: two searches side by side would spend most of their
        time handing it to each other.
        """
        packed: list[list[Any]] = json.loads(self._run(statement, values).fetchone()[0])
        return packed

    def _run(self, statement: str, values: Values | None) -> sqlite3.Cursor:
        return self._connection.execute(SQL[statement], adapt_values(values or {}))


def run_to_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Return what `work` returns; it is run in this thread, without an event loop."""
    try:
        work.send(None)
    except StopIteration as end:
        result: Result = end.value
        return result
    work.close()
    raise AssertionError("work in a transaction waited for something other than its session")


def adapt_values(values: Values) -> dict[str, object]:
    """Return the values of a statement in the forms that SQLite has for them."""
    return {name: _adapt(value) for name, value in values.items()}


def _adapt(value: object) -> object:
    if isinstance(value, datetime):
        return timestamp(value)
    if isinstance(value, list | tuple):
        return json.dumps(value, ensure_ascii=False)
    return value


def timestamp(moment: datetime) -> str:
    """Return `moment` as the store writes it: in UTC, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
