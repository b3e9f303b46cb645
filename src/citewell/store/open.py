"""Opening a store by its address: the only importer of a backend."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from citewell.core.errors import SettingsError

if TYPE_CHECKING:
    from citewell.store.protocol import Store

DEFAULT_SCHEMA = "citewell"

_SQLITE = "sqlite://"
_POSTGRES = ("postgresql://", "postgres://")
_MEMORY = ("", "/", "/:memory:", ":memory:")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
# Channels are named after the schema; identifiers have at most 63 bytes.
_SCHEMA_NAME = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,39}")
_FORMS = "write sqlite:///absolute/path.db or postgresql://user@host/database"


async def open_store(
    address: str,
    *,
    model: str | None = None,
    busy_timeout_seconds: float = 10.0,
    schema: str = DEFAULT_SCHEMA,
    is_chosen: bool = False,
) -> Store:
    """Return the store at `address`, created or migrated as needed.

    `sqlite:///absolute/path.db` or the path itself is a file, `sqlite://` lives in memory until it
    is closed, and an empty address is a file in the user's data directory, which only the user can
    read. `postgresql://…` is a database with pgvector, in which ten servers may start together.
    There, everything is in one `schema`; a database that holds tables of others is refused unless
    it `is_chosen` for the library. Pages count as embedded when they have vectors of `model`, or
    of any model when it is None.

    An opening that fails leaves nothing behind.

    Raises:
        SettingsError: the address is not one a store can have.
        StoreError: the database cannot be opened.
    """
    if any(character < " " for character in address):
        raise SettingsError(f"CITEWELL_DATABASE_URL has several lines: {_FORMS}")
    if address.startswith(_POSTGRES):
        return await _open_postgres(
            address,
            schema=schema,
            is_chosen=is_chosen,
            model=model,
            timeout_seconds=busy_timeout_seconds,
        )
    path = _sqlite_path(address)

    from citewell.store.sqlite.store import open_sqlite_store

    return await open_sqlite_store(
        path, is_ours=not address, model=model, busy_timeout_seconds=busy_timeout_seconds
    )


def database_file(address: str) -> Path | None:
    """Return the file of a SQLite database; None where the database is in memory or on a server.

    Raises:
        SettingsError: the address is not one a store can have.
    """
    return None if address.startswith(_POSTGRES) else _sqlite_path(address)


async def _open_postgres(
    address: str, *, schema: str, is_chosen: bool, model: str | None, timeout_seconds: float
) -> Store:
    if not _SCHEMA_NAME.fullmatch(schema):
        raise SettingsError(
            f"CITEWELL_POSTGRES_SCHEMA cannot be {schema!r}: use up to 40 lower-case letters, "
            "digits and underscores, not beginning with a digit or pg_"
        )
    try:
        from citewell.store.postgres.store import open_postgres_store
    except ImportError as error:
        from citewell.core.extras import install_command

        raise SettingsError(
            "CITEWELL_DATABASE_URL names PostgreSQL, whose driver is not installed: "
            f"{install_command('postgres')}"
        ) from error
    return await open_postgres_store(
        address,
        schema=schema,
        is_chosen=is_chosen,
        model=model,
        busy_timeout_seconds=timeout_seconds,
    )


def _sqlite_path(address: str) -> Path | None:
    """Return the file that `address` names, or None for a database in memory."""
    if not address:
        from platformdirs import user_data_path

        return user_data_path("citewell") / "citewell.db"
    if not address.startswith(_SQLITE):
        scheme = _SCHEME.match(address)
        if scheme is None and (path := Path(address).expanduser()).is_absolute():
            return path
        problem = f"does not support {scheme[1]} databases" if scheme else "is not a URL"
        raise SettingsError(f"CITEWELL_DATABASE_URL {problem}: {_FORMS}")
    place = unquote(address.removeprefix(_SQLITE))
    if "\0" in place:
        raise SettingsError("CITEWELL_DATABASE_URL names a file with a null character")
    if place in _MEMORY:
        return None
    # Four slashes are the form of SQLAlchemy, three that of everyone else.
    place = place.removeprefix("/") if place.startswith("//") else place
    # A Windows path has its drive after the slash: sqlite:///C:/data/citewell.db.
    path = Path(place[1:] if place[2:3] == ":" else place)
    if not path.is_absolute():
        raise SettingsError(
            "CITEWELL_DATABASE_URL must name the file by its absolute path",
            suggestion="Write sqlite:/// followed by the path without its first slash.",
        )
    return path
