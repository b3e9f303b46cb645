"""HostStore on PostgreSQL: pauses in a table, slots as locks that end with their connection."""

from __future__ import annotations

import logging
import random
from collections import defaultdict
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import psycopg

from citewell.store.postgres.connection import store_errors
from citewell.store.postgres.statements import SQL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from psycopg import AsyncConnection

    from citewell.store.postgres.connection import Database

    Session = AsyncConnection[dict[str, Any]]

logger = logging.getLogger(__name__)

_FIRST_PAUSE_SECONDS = 0.02
_LONGEST_PAUSE_SECONDS = 0.5


class PostgresHosts:
    """Turns on hosts; see HostStore for what each method promises."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection: Session | None = None
        self._using = anyio.Lock()
        self._held: defaultdict[str, set[int]] = defaultdict(set)
        """The slots of each host that this process's connection holds."""

    async def reserve_start(self, host: str, *, delay_seconds: float) -> float:
        """Return how many seconds from now a request may start; the next one is so much later."""
        values = {"host": host, "delay_seconds": delay_seconds}

        async def work(connection: Session) -> float:
            row = await (await connection.execute(SQL["reserve_start"], values)).fetchone()
            assert row is not None, "what is written comes back"
            return float(row["wait_seconds"])

        return await self._database.write(work)

    @asynccontextmanager
    async def hold_slot(self, host: str, *, limit: int) -> AsyncIterator[None]:
        """Wait for one of the host's `limit` slots and hold it while inside."""
        pause = _FIRST_PAUSE_SECONDS
        while (taken := await self._take(host, limit)) is None:
            await anyio.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
        connection, slot = taken
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await self._give_back(connection, host, slot)

    async def aclose(self) -> None:
        """Let go of every slot."""
        async with self._using:
            if self._connection is not None:
                await self._connection.close()

    async def _take(self, host: str, limit: int) -> tuple[Session, int] | None:
        taken: tuple[Session, int] | None = None
        # A lock taken but not recorded, because its task was cancelled, would never be released.
        with anyio.CancelScope(shield=True), store_errors():
            async with self._using:
                connection = await self._connected()
                values = {"host": host, "limit": limit, "held": list(self._held.get(host, ()))}
                row = await (await connection.execute(SQL["take_slot"], values)).fetchone()
                if row is not None:
                    self._held[host].add(row["slot"])
                    taken = connection, row["slot"]
        return taken

    async def _give_back(self, connection: Session, host: str, slot: int) -> None:
        async with self._using:
            if connection is not self._connection or connection.closed:
                # The slot was released with its connection.
                return
            self._held[host].discard(slot)
            if not self._held[host]:
                del self._held[host]
            try:
                await connection.execute(SQL["give_slot_back"], {"host": host, "slot": slot})
            except psycopg.Error as error:
                logger.info("a connection that held slots broke: %s", type(error).__name__)
                await connection.close()

    async def _connected(self) -> Session:
        if self._connection is None or self._connection.closed:
            self._held.clear()
            self._connection = await self._database.connect_apart()
            await self._connection.execute(SQL["forget_paces"])
        return self._connection
