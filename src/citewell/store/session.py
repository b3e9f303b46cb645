"""What a driver offers to the nouns: named statements, alone or together in one transaction."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, wraps
from typing import Any, Literal, Protocol, TypeVar, overload

from citewell.core.errors import StoreError

Channel = Literal["jobs", "render_requests", "render_outcomes"]
Result = TypeVar("Result")
Values = Mapping[str, object]


class Row(Protocol):
    """A row of a result; its columns are read by name."""

    def __getitem__(self, column: str, /) -> Any:  # noqa: ANN401 - whatever the column holds
        """Return the value of a column."""


class Session(Protocol):
    """Runs named statements in one transaction.

    Values are plain Python: a datetime and a list of texts or numbers are written in the form that
    the database has for them. `read_datetime` and `read_list` turn them back.
    """

    async def fetch_all(self, statement: str, values: Values | None = None) -> list[Row]:
        """Return all rows of a statement."""

    async def fetch_one(self, statement: str, values: Values | None = None) -> Row | None:
        """Return the first row of a statement, or None."""

    async def fetch_packed(self, statement: str, values: Values) -> list[list[Any]]:
        """Return the rows of a statement that both databases have in a form of their own."""

    async def execute(self, statement: str, values: Values | None = None) -> int:
        """Run a statement and return how many rows it changed."""

    async def execute_many(self, statement: str, rows: Sequence[Values]) -> None:
        """Run a statement once for each of `rows`."""

    async def lock(self, purpose: str, key: str = "") -> None:
        """Acquire this lock and hold it until the end of the transaction.

        SQLite needs none: it has one writing transaction at a time.
        """

    async def notify(self, channel: Channel, payload: str = "") -> None:
        """Notify the listeners of the channel once this transaction is committed."""


Work = Callable[[Session], Coroutine[Any, Any, Result]]
"""What runs in one transaction. It may await its session and nothing else, and may run again."""


class Database(Protocol):
    """Runs statements in a transaction each, or several in one.

    Several are passed as a function: SQLite runs all of it in one thread, and PostgreSQL runs it
    again when it lost against another transaction.
    """

    can_notify: bool
    """Whether a process hears what others notify it of, or has to look for itself."""

    async def fetch_all(self, statement: str, values: Values | None = None) -> list[Row]:
        """Return all rows of a statement that only reads."""

    async def fetch_one(self, statement: str, values: Values | None = None) -> Row | None:
        """Return the first row of a statement that only reads, or None."""

    async def execute(self, statement: str, values: Values | None = None) -> int:
        """Run a statement and return how many rows it changed."""

    async def view(self, work: Work[Result]) -> Result:
        """Return what `work`, which only reads, makes of one unchanging view of the database."""

    async def transaction(self, work: Work[Result]) -> Result:
        """Return what `work` returns once all it wrote is committed; if it fails, nothing is."""

    def listen(self, channel: Channel) -> AsyncGenerator[str]:
        """Yield the payloads of a channel until the iterator is closed.

        An empty one comes at first and after every interruption, since some may have been missed.
        Where processes cannot notify each other it never yields.
        """


@overload
def read_datetime(value: datetime | str) -> datetime: ...
@overload
def read_datetime(value: datetime | str | None) -> datetime | None: ...
def read_datetime(value: datetime | str | None) -> datetime | None:
    """Return a time that a row holds."""
    return _parse_datetime(value) if isinstance(value, str) else value


def read_list(value: list[Any] | str) -> tuple[Any, ...]:
    """Return a list that a row holds."""
    return _parse_list(value) if isinstance(value, str) else tuple(value)


def refuses_nonsense(parse: Callable[[str], Result]) -> Callable[[str], Result]:
    """Make a parser of stored text raise StoreError for text that we cannot have written."""

    @wraps(parse)
    def parse_stored(text: str) -> Result:
        try:
            return parse(text)
        except (LookupError, TypeError, ValueError) as error:
            raise StoreError("the database is damaged: it contains an invalid value") from error

    return parse_stored


# The chunks of a page share its tags and its time, and those of a section its headings.
@lru_cache(maxsize=4096)
@refuses_nonsense
def _parse_datetime(text: str) -> datetime:
    return datetime.fromisoformat(text)


@lru_cache(maxsize=4096)
@refuses_nonsense
def _parse_list(text: str) -> tuple[Any, ...]:
    return tuple(json.loads(text))


def read_objects(value: list[dict[str, Any]] | str | None) -> list[dict[str, Any]]:
    """Return the JSON objects that a row holds, none for NULL."""
    objects: list[dict[str, Any]] = json.loads(value) if isinstance(value, str) else value or []
    return objects
