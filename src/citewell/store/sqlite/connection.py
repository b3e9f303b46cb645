"""The connections to one SQLite database: a writer, a few readers, and their errors as ours."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import time
from collections import deque
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, TypeVar

import anyio

from citewell.core.errors import StoreBusy, StoreError
from citewell.core.places import Places
from citewell.store.sqlite.private_file import private_file
from citewell.store.sqlite.schema import bring_up_to_date
from citewell.store.sqlite.session import SQL, SqliteSession, run_to_end

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator
    from pathlib import Path
    from typing import Self

    from citewell.store.session import Channel, Row, Values
    from citewell.store.session import Work as SessionWork

Result = TypeVar("Result")

# STRICT tables came with this version.
_OLDEST_SQLITE = (3, 37, 0)
_READERS = 4


def _md5(text: str | None) -> str | None:
    return None if text is None else hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


# Functions that PostgreSQL has, so that statements can be shared.
_FUNCTIONS: dict[str, tuple[int, Callable[..., str | float | None]]] = {
    "md5": (1, _md5),
    "seconds_now": (0, time.time),
}

_MESSAGES = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "the database may not be written",
    sqlite3.SQLITE_CANTOPEN: "the database file cannot be opened",
    sqlite3.SQLITE_PERM: "the database file may not be opened",
    sqlite3.SQLITE_NOTADB: "the file is not a database",
    sqlite3.SQLITE_CORRUPT: "the database is damaged",
    sqlite3.SQLITE_IOERR: "the database could not be read or written",
    sqlite3.SQLITE_TOOBIG: "a text is too large for the database",
}
_SUGGESTIONS = {
    sqlite3.SQLITE_FULL: "Free some space on it first: removing pages needs some too, for the log.",
}


class Database:
    """Runs work on one database, each call in its own transaction and in a thread.

    A file has one writer, used by one piece of work at a time, and a few readers that see the
    last commit. In memory there is one connection, and every piece of work waits its turn.
    """

    can_notify = False

    def __init__(
        self, path: Path | None, *, is_ours: bool = False, busy_timeout_seconds: float
    ) -> None:
        self._path = path
        self._is_ours = is_ours
        self._busy_timeout_seconds = busy_timeout_seconds
        self._writer: sqlite3.Connection | None = None
        self._idle_readers: deque[sqlite3.Connection] = deque()
        self._writing = Places(1)
        self._reading = Places(_READERS) if path is not None else self._writing

    @property
    def is_in_file(self) -> bool:
        """Whether several connections can read side by side."""
        return self._path is not None

    @property
    def free_bytes(self) -> int | None:
        """How much room the disk of the file has left; None for a database in memory."""
        return None if self._path is None else shutil.disk_usage(self._path.parent).free

    @classmethod
    async def open(
        cls, path: Path | None, *, is_ours: bool = False, busy_timeout_seconds: float
    ) -> Self:
        """Return the database at `path` (in memory for None) with its schema up to date.

        A file that `is_ours`, folder included, is made private to its owner.
        """
        database = cls(path, is_ours=is_ours, busy_timeout_seconds=busy_timeout_seconds)
        await database._writing.run(database._open_writer)
        return database

    async def read(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return what `work` makes of one unchanging view of the database."""
        return await self._reading.run(self._read, work)

    async def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run `work` in a transaction and return its result once committed.

        A caller that is cancelled meanwhile goes on only after the commit or the rollback.
        """
        return await self._writing.run(self._write, work)

    async def view(self, work: SessionWork[Result]) -> Result:
        """Return what `work`, which only reads, makes of one unchanging view of the database."""
        return await self.read(lambda connection: run_to_end(work(SqliteSession(connection))))

    async def transaction(self, work: SessionWork[Result]) -> Result:
        """Run `work` in a transaction and return its result once committed."""
        return await self.write(lambda connection: run_to_end(work(SqliteSession(connection))))

    async def fetch_all(self, statement: str, values: Values | None = None) -> list[Row]:
        """Return all rows of a statement that only reads."""
        return await self.view(lambda session: session.fetch_all(statement, values))

    async def fetch_one(self, statement: str, values: Values | None = None) -> Row | None:
        """Return the first row of a statement that only reads, or None."""
        return await self.view(lambda session: session.fetch_one(statement, values))

    async def execute(self, statement: str, values: Values | None = None) -> int:
        """Run a statement and return how many rows it changed."""
        return await self.transaction(lambda session: session.execute(statement, values))

    async def listen(self, _channel: Channel) -> AsyncGenerator[str]:
        """Never yield: SQLite cannot notify another process."""
        await anyio.sleep_forever()
        yield ""

    async def aclose(self) -> None:
        """Close once the running write has ended; later work raises StoreError."""
        with anyio.CancelScope(shield=True):
            await self._writing.run(self._close)

    def _open_writer(self) -> None:
        if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
            raise StoreError("this Python's SQLite is too old; version 3.37 or later is needed")
        place = (
            nullcontext() if self._path is None else private_file(self._path, is_ours=self._is_ours)
        )
        with store_errors(), place:
            connection = self._connect()
            try:
                bring_up_to_date(connection)
                connection.executescript(SQL["configure_writer"])
            except BaseException:
                connection.close()
                raise
        self._writer = connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path or ":memory:",
            timeout=self._busy_timeout_seconds,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        connection.row_factory = sqlite3.Row
        connection.executescript(SQL["configure_connection"])
        for name, (arguments, function) in _FUNCTIONS.items():
            connection.create_function(name, arguments, function)
        return connection

    def read_here(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return what `work` makes of one unchanging view, in the thread that calls this."""
        return self._read(work)

    def _read(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        with store_errors():
            connection = self._take_reader()
            try:
                connection.execute(SQL["begin_read"])
                return work(connection)
            finally:
                connection.rollback()
                self._give_back(connection)

    def _take_reader(self) -> sqlite3.Connection:
        if self._path is None:
            return self._open_connection()
        self._open_connection()
        try:
            return self._idle_readers.pop()
        except IndexError:
            connection = self._connect()
            connection.executescript(SQL["configure_reader"])
            return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        if self._writer is None:
            connection.close()
        elif connection is not self._writer:
            self._idle_readers.append(connection)

    def _write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        with store_errors():
            connection = self._open_connection()
            connection.execute(SQL["begin_write"])
            try:
                result = work(connection)
                connection.execute(SQL["commit"])
            except BaseException:
                connection.rollback()
                raise
            return result

    def _open_connection(self) -> sqlite3.Connection:
        if self._writer is None:
            raise StoreError("the store is closed")
        return self._writer

    def _close(self) -> None:
        if self._writer is None:
            return
        writer, self._writer = self._writer, None
        while self._idle_readers:
            self._idle_readers.pop().close()
        with store_errors():
            try:
                writer.executescript(SQL["finish"])
            except sqlite3.OperationalError as error:
                # Another process has the database open and will checkpoint the log itself, or
                # there is no room for that; then whoever opens it next does.
                if error.sqlite_errorcode & 0xFF not in _BUSY | {sqlite3.SQLITE_FULL}:
                    raise
            finally:
                writer.close()


_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})


@contextmanager
def store_errors() -> Iterator[None]:
    """Turn SQLite's errors into StoreError, with a message that is safe to show."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in _BUSY:
            raise StoreBusy("the database is busy with another process") from error
        message = _MESSAGES.get(code, "the database refused the operation")
        raise StoreError(message, suggestion=_SUGGESTIONS.get(code)) from error
    except UnicodeEncodeError as error:
        raise StoreError("a text contains half of a surrogate pair and cannot be stored") from error
