"""Opening a store by its address: the only importer of a backend."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from platformdirs import user_data_path

from citewell.core.errors import SettingsError

if TYPE_CHECKING:
    from citewell.store.protocol import Store

_SQLITE = "sqlite://"
_POSTGRES = ("postgresql://", "postgres://")
_MEMORY = ("", "/", "/:memory:", ":memory:")


async def open_store(
    address: str, *, model: str | None = None, busy_timeout_seconds: float = 10.0
) -> Store:
    """Return the store at `address`, made or brought to the current schema as needed.

    `sqlite:///absolute/path.db` is a file, `sqlite://` lives in memory until it is closed, an empty
    address is a file in the user's data directory, and `postgresql://…` a database with pgvector,
    in which ten servers may start at once. Pages count as embedded when they have
    vectors of `model`, or of any model when it is None.

    Raises:
        SettingsError: the address is not one a store can have.
        StoreError: the database cannot be opened.
    """
    if address.startswith(_POSTGRES):
        return await _open_postgres(address, model=model, timeout_seconds=busy_timeout_seconds)
    path = _sqlite_path(address)

    from citewell.store.sqlite.store import open_sqlite_store

    return await open_sqlite_store(path, model=model, busy_timeout_seconds=busy_timeout_seconds)


async def _open_postgres(address: str, *, model: str | None, timeout_seconds: float) -> Store:
    try:
        from citewell.store.postgres.store import open_postgres_store
    except ImportError as error:
        raise SettingsError(
            "CITEWELL_DATABASE_URL names PostgreSQL, whose driver is not installed: "
            "pip install 'citewell[postgres]'"
        ) from error
    return await open_postgres_store(address, model=model, busy_timeout_seconds=timeout_seconds)


def _sqlite_path(address: str) -> Path | None:
    """Return the file that `address` names, or None for a database in memory."""
    if not address:
        return user_data_path("citewell") / "citewell.db"
    if not address.startswith(_SQLITE):
        raise SettingsError(
            "CITEWELL_DATABASE_URL must be sqlite:///absolute/path.db or postgresql://…",
            suggestion="Correct it, or leave it unset to use the user's data directory.",
        )
    place = unquote(address.removeprefix(_SQLITE))
    if place in _MEMORY:
        return None
    # A Windows path has its drive after the slash: sqlite:///C:/data/citewell.db.
    path = Path(place[1:] if place[2:3] == ":" else place)
    if not path.is_absolute():
        raise SettingsError(
            "CITEWELL_DATABASE_URL must name the file by its absolute path",
            suggestion="Write sqlite:/// followed by the path without its first slash.",
        )
    return path
