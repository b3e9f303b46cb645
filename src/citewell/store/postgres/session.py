"""Named statements on one connection to PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.store.postgres.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import AsyncConnection, AsyncCursor

    from citewell.store.session import Channel, Row, Values


class PostgresSession:
    """Named statements on one connection."""

    def __init__(self, connection: AsyncConnection[dict[str, Any]]) -> None:
        self._connection = connection

    async def fetch_all(self, statement: str, values: Values | None = None) -> list[Row]:
        """Return all rows of a statement."""
        return [*await (await self._run(statement, values)).fetchall()]

    async def fetch_one(self, statement: str, values: Values | None = None) -> Row | None:
        """Return the first row of a statement, or None."""
        return await (await self._run(statement, values)).fetchone()

    async def execute(self, statement: str, values: Values | None = None) -> int:
        """Run a statement and return how many rows it changed."""
        return (await self._run(statement, values)).rowcount

    async def execute_many(self, statement: str, rows: Sequence[Values]) -> None:
        """Run a statement once for each of `rows`."""
        async with self._connection.cursor() as cursor:
            await cursor.executemany(SQL[statement], [*rows])

    async def lock(self, purpose: str, key: str = "") -> None:
        """Wait until no other transaction holds this lock, and hold it until the end of this."""
        await self._run("lock_until_commit", {"purpose": purpose, "key": key})

    async def notify(self, channel: Channel, payload: str = "") -> None:
        """Notify the listeners of the channel once this transaction is committed."""
        await self._run("notify", {"channel": channel, "payload": payload})

    async def fetch_packed(self, statement: str, values: Values) -> list[list[Any]]:
        """Return the rows of a statement as plain lists."""
        return [[*row.values()] for row in await (await self._run(statement, values)).fetchall()]

    async def _run(self, statement: str, values: Values | None) -> AsyncCursor[dict[str, Any]]:
        adapted = {name: _adapt(value) for name, value in (values or {}).items()}
        return await self._connection.execute(SQL[statement], adapted)


def _adapt(value: object) -> object:
    # To the driver a tuple is a row, and a list an array.
    return list(value) if isinstance(value, tuple) else value
