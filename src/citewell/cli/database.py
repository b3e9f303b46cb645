"""The database that a command works on, as its user names it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from citewell.core.errors import NotFound
from citewell.store.open import database_file

if TYPE_CHECKING:
    from pathlib import Path


def refuse_missing_database(address: str) -> None:
    """Refuse to make an empty database where one was to be read.

    Raises:
        NotFound: the address names a file that does not exist.
    """
    file = database_file(address)
    if file is None or file.exists():
        return
    if not address:
        raise NotFound(
            f"nothing is indexed yet: there is no database {file}",
            suggestion='Begin with `citewell ask URL "…"` or `citewell ingest URL`.',
        )
    raise NotFound(f"there is no database {file}", suggestion=_suggest(file))


def new_database(address: str) -> Path | None:
    """Return the file that a command is named and that it would make, None if it exists.

    Raises:
        NotFound: not even its folder exists.
    """
    file = database_file(address) if address else None
    if file is None or file.exists():
        return None
    if not file.parent.is_dir():
        raise NotFound(
            f"there is no folder {file.parent} for the database {file.name}",
            suggestion="Check the path of the database, or make the folder first.",
        )
    return file


def describe_database(address: str) -> str:
    """Return where the database is, without its password, and how large it is if that is known."""
    file = database_file(address)
    if file is None:
        parts = urlsplit(address)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    return f"{file} ({_size(database_bytes(file))})"


def database_bytes(file: Path) -> int:
    """Return the size of a SQLite database with what is not yet written back into its file."""
    files = (file, file.with_name(f"{file.name}-wal"))
    return sum(part.stat().st_size for part in files if part.exists())


def _suggest(file: Path) -> str:
    if not file.parent.is_dir():
        return f"There is no folder {file.parent} either: check the path."
    others = sorted(other.name for other in file.parent.glob("*.db"))
    listed = f"; {file.parent} holds {', '.join(others[:5])}" if others else ""
    return f"Check the path of the database{listed}."


def _size(count: int) -> str:
    size, units = float(count), ["B", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size /= 1000
        units.pop(0)
    return f"{size:.1f} {units[0]}" if size < 10 and size != count else f"{size:.0f} {units[0]}"
