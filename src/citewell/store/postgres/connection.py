"""The connections to one PostgreSQL database; each piece of work is one transaction."""

from __future__ import annotations

import logging
import time
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import anyio
import anyio.to_thread
import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from citewell.core.errors import SettingsError, StoreBusy, StoreError
from citewell.store.postgres.real_numbers import send_arrays_as_reals
from citewell.store.postgres.schema import bring_up_to_date
from citewell.store.postgres.session import PostgresSession
from citewell.store.postgres.statements import SQL

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Awaitable,
        Callable,
        Iterator,
    )
    from typing import Self

    from psycopg import AsyncConnection

    from citewell.store.session import Channel, Row, Values
    from citewell.store.session import Work as SessionWork

    Work = Callable[[AsyncConnection[dict[str, Any]]], Awaitable["Result"]]

Result = TypeVar("Result")

logger = logging.getLogger(__name__)

_MOST_CONNECTIONS = 10
_CONNECT_TIMEOUT_SECONDS = 5
# Longer than a restart takes, short enough that callers of a dead server soon get an error.
_PATIENCE_SECONDS = 4.0
_PATIENCE_WHILE_AWAY_SECONDS = 1.0
# How long a connection that has just been used is assumed to be alive.
_TRUSTED_SECONDS = 0.5
# To take back a connection; a broken one is closed by the pool.
_RETURN_SECONDS = 5.0
_CONNECTING: dict[str, Any] = {
    "autocommit": True,
    "row_factory": dict_row,
    "connect_timeout": _CONNECT_TIMEOUT_SECONDS,
    "application_name": "citewell",
    # Planning takes longer than most statements run, and connections take turns.
    "prepare_threshold": 1,
}
# A listening connection sends nothing, so the operating system must notice its end.
_LASTING: dict[str, Any] = {
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 1.0
# A write that lost a conflict changed nothing and can be retried.
_ATTEMPTS = 4
# An immediate retry would only fail again.
_NOT_BROKEN = (PoolTimeout, PoolClosed, psycopg.errors.QueryCanceled)
_LOST = (psycopg.errors.DeadlockDetected, psycopg.errors.SerializationFailure)


class Database:
    """Runs work on one database; connections that broke are replaced."""

    can_notify = True

    def __init__(
        self, address: str, *, schema: str, search_path: str, busy_timeout_seconds: float
    ) -> None:
        self._address = address
        self._schema = schema
        self._search_path = search_path
        self._is_away = False
        self._lent = 0
        self._used_at: WeakKeyDictionary[AsyncConnection[dict[str, Any]], float] = (
            WeakKeyDictionary()
        )
        self._pool: AsyncConnectionPool[AsyncConnection[dict[str, Any]]] = AsyncConnectionPool(
            address,
            open=False,
            min_size=1,
            max_size=_MOST_CONNECTIONS,
            timeout=busy_timeout_seconds,
            # After this the pool gives up and the next caller reconnects; its default of minutes
            # would keep it asleep long after the server is back. Shorter than our own limit, since
            # a caller that is already waiting starts no connection.
            reconnect_timeout=_PATIENCE_SECONDS - 1.0,
            check=self._check,
            configure=self._configure,
            kwargs=_CONNECTING,
        )

    @classmethod
    async def open(
        cls, address: str, *, schema: str, is_chosen: bool, busy_timeout_seconds: float
    ) -> Self:
        """Return the database at `address` with its schema up to date."""
        search_path = await anyio.to_thread.run_sync(
            partial(_bring_up_to_date, address, schema, is_chosen=is_chosen)
        )
        database = cls(
            address,
            schema=schema,
            search_path=search_path,
            busy_timeout_seconds=busy_timeout_seconds,
        )
        with store_errors():
            await database._pool.open()
        return database

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection[dict[str, Any]]]:
        """Lend a connection."""
        connection = await self._take()
        self._lent += 1
        try:
            yield connection
            self._used_at[connection] = time.monotonic()
        finally:
            self._lent -= 1
            # A cancelled caller would leave the connection open and lost on its way back.
            with anyio.move_on_after(_RETURN_SECONDS, shield=True):
                await self._pool.putconn(connection)

    async def _take(self) -> AsyncConnection[dict[str, Any]]:
        """Return a connection; wait long only while others hold all of them."""
        patience = _PATIENCE_WHILE_AWAY_SECONDS if self._is_away else _PATIENCE_SECONDS
        try:
            connection = await self._pool.getconn(timeout=patience)
        except PoolTimeout:
            self._is_away = not self._lent
            if self._is_away:
                raise
            connection = await self._pool.getconn()
        self._is_away = False
        return connection

    async def _check(self, connection: AsyncConnection[dict[str, Any]]) -> None:
        """Refuse a broken connection; checking costs a round trip, so recent use suffices."""
        if time.monotonic() - self._used_at.get(connection, 0.0) > _TRUSTED_SECONDS:
            await AsyncConnectionPool.check_connection(connection)

    async def _configure(self, connection: AsyncConnection[dict[str, Any]]) -> None:
        send_arrays_as_reals(connection)
        await connection.execute(SQL["set_up_session"], {"search_path": self._search_path})

    async def look(self, work: Work[Result]) -> Result:
        """Return the result of `work`, which only reads.

        Each statement sees the database as it is when it runs. Work on a connection that turns out
        to be broken is run again.
        """
        with store_errors():
            try:
                async with self._connection() as connection:
                    return await work(connection)
            except psycopg.OperationalError as error:
                if isinstance(error, _NOT_BROKEN):
                    raise
                logger.info("a connection had broken; reading again")
            async with self._connection() as connection:
                return await work(connection)

    async def read(self, work: Work[Result]) -> Result:
        """Return what `work` makes of one unchanging view of the database."""

        async def in_one_view(connection: AsyncConnection[dict[str, Any]]) -> Result:
            await connection.set_read_only(True)
            await connection.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
            try:
                async with connection.transaction():
                    return await work(connection)
            finally:
                if not connection.closed:
                    await connection.set_read_only(None)
                    await connection.set_isolation_level(None)

        return await self.look(in_one_view)

    async def view(self, work: SessionWork[Result]) -> Result:
        """Return what `work`, which only reads, makes of one unchanging view of the database."""
        return await self.read(lambda connection: work(PostgresSession(connection)))

    async def transaction(self, work: SessionWork[Result]) -> Result:
        """Run `work` in a transaction and return its result once committed."""
        return await self.write(lambda connection: work(PostgresSession(connection)))

    async def fetch_all(self, statement: str, values: Values | None = None) -> list[Row]:
        """Return all rows of a statement that only reads."""
        return await self.look(
            lambda connection: PostgresSession(connection).fetch_all(statement, values)
        )

    async def fetch_one(self, statement: str, values: Values | None = None) -> Row | None:
        """Return the first row of a statement that only reads, or None."""
        return await self.look(
            lambda connection: PostgresSession(connection).fetch_one(statement, values)
        )

    async def execute(self, statement: str, values: Values | None = None) -> int:
        """Run a statement and return how many rows it changed."""
        return await self.write(
            lambda connection: PostgresSession(connection).execute(statement, values)
        )

    async def write(self, work: Work[Result]) -> Result:
        """Run `work` in a transaction and return its result once committed.

        `work` may run more than once: one that lost against another write starts again.
        """
        with store_errors():
            for attempt in range(1, _ATTEMPTS + 1):
                try:
                    async with self._connection() as connection, connection.transaction():
                        return await work(connection)
                except _LOST:
                    if attempt == _ATTEMPTS:
                        raise
                    logger.info("a write lost against another one and starts again")
        raise AssertionError("the last attempt returns or raises")

    async def run_alone(self, work: Work[Result]) -> Result:
        """Return what `work` returns outside of any transaction, as some commands demand."""
        with store_errors():
            async with self._connection() as connection:
                await connection.execute(SQL["no_time_limit"])
                try:
                    return await work(connection)
                finally:
                    await self._configure(connection)

    async def connect_apart(self) -> AsyncConnection[dict[str, Any]]:
        """Return a long-lived connection outside of the pool; the caller closes it.

        Raises:
            psycopg.Error: the database cannot be reached, or was closed.
        """
        if self._pool.closed:
            raise PoolClosed("the database is closed")
        connection: AsyncConnection[dict[str, Any]] = await psycopg.AsyncConnection.connect(
            self._address, **_CONNECTING, **_LASTING
        )
        try:
            await connection.execute(SQL["use_search_path"], {"search_path": self._search_path})
        except BaseException:
            await connection.close()
            raise
        return connection

    async def listen(self, channel: Channel) -> AsyncGenerator[str]:
        """Yield the payloads of a channel until the iterator is closed.

        An empty one comes at first and after every interruption, since some may have been missed.
        It ends with its reader, or after an interruption when the database was closed.
        """
        statement = sql.SQL(SQL["listen"]).format(
            channel=sql.Identifier(f"{self._schema}_{channel}")
        )
        pause = _FIRST_PAUSE_SECONDS
        while not self._pool.closed:
            try:
                connection = await self.connect_apart()
                # Not by the connection's own context: a cancelled reader never gets past the
                # rollback there, and the connection would stay open.
                try:
                    await connection.execute(statement)
                    pause = _FIRST_PAUSE_SECONDS
                    yield ""
                    async for notice in connection.notifies():
                        yield notice.payload
                finally:
                    await connection.close()
            except psycopg.Error as error:
                logger.info("listening for notices was interrupted: %s", type(error).__name__)
            await anyio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    async def aclose(self) -> None:
        """Close every connection; later work raises StoreError."""
        with anyio.CancelScope(shield=True):
            await self._pool.close()


@contextmanager
def store_errors() -> Iterator[None]:
    """Turn the driver's errors into StoreError, with a message that is safe to show."""
    try:
        yield
    except PoolClosed as error:
        raise StoreError("the store is closed") from error
    except (PoolTimeout, *_LOST, psycopg.errors.LockNotAvailable) as error:
        raise StoreBusy("the database is busy or cannot be reached") from error
    except psycopg.errors.QueryCanceled as error:
        raise StoreBusy("the database took too long") from error
    except psycopg.errors.DiskFull as error:
        raise StoreError("the database's disk is full") from error
    except psycopg.OperationalError as error:
        raise StoreError("the database cannot be reached") from error
    except psycopg.Error as error:
        raise StoreError("the database refused the operation") from error
    except UnicodeEncodeError as error:
        raise StoreError("a text contains half of a surrogate pair and cannot be stored") from error


def _bring_up_to_date(address: str, schema: str, *, is_chosen: bool) -> str:
    """Bring the library up to date and return the search path of its connections."""
    try:
        conninfo_to_dict(address)
    except psycopg.ProgrammingError as error:
        raise SettingsError(
            "CITEWELL_DATABASE_URL cannot be parsed: write postgresql://user@host:5432/database"
        ) from error
    with store_errors(), _schema_errors(schema):
        connecting = _CONNECTING | {"prepare_threshold": None}
        with psycopg.connect(address, **connecting) as connection:
            return bring_up_to_date(connection, schema=schema, is_chosen=is_chosen)


@contextmanager
def _schema_errors(schema: str) -> Iterator[None]:
    try:
        yield
    except (psycopg.errors.UndefinedFile, psycopg.errors.FeatureNotSupported) as error:
        raise StoreError(
            "the PostgreSQL server lacks the extension pgvector",
            suggestion="Install pgvector on the server, or name a server that has it.",
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise StoreError(
            f'the PostgreSQL role may not make the schema "{schema}" or the extension vector',
            suggestion=(
                f"Have the owner of the database run: CREATE EXTENSION vector; "
                f'CREATE SCHEMA "{schema}" AUTHORIZATION the role of the URL.'
            ),
        ) from error
