"""A database file, with its folder, that only its owner can read: it holds questions and notes."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from citewell.core.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_FILE_MODE = 0o600
_FOLDER_MODE = 0o700
_COMPANIONS = ("", "-wal", "-shm", "-journal")


@contextmanager
def private_file(path: Path, *, is_ours: bool) -> Iterator[None]:
    """Create the file and missing folders; remove them again if the block fails.

    SQLite gives the files beside a database the permissions of the database. What exists already
    is left as it is, unless it `is_ours`: then it is made private, too.

    Raises:
        StoreError: the folder cannot be made.
    """
    missing = [above for above in (path.parent, *path.parent.parents) if not above.is_dir()]
    is_new = False
    try:
        _make_folders(missing[::-1])
        is_new = _make_file(path)
        if is_ours:
            _tighten(path)
        yield
    except BaseException:
        # Another process may have filled it in the meantime.
        if is_new and path.exists() and path.stat().st_size == 0:
            path.unlink()
        with suppress(OSError):
            for folder in missing:
                folder.rmdir()
        raise


def _make_folders(folders: Sequence[Path]) -> None:
    try:
        for folder in folders:
            folder.mkdir(mode=_FOLDER_MODE, exist_ok=True)
    except OSError as error:
        raise StoreError("the database's folder cannot be made") from error


def _make_file(path: Path) -> bool:
    """Make an empty file; return False when there is one, or when SQLite will say why not."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, _FILE_MODE))
    except OSError:
        return False
    return True


def _tighten(path: Path) -> None:
    # Files of other users, and file systems without permissions, are left alone.
    with suppress(OSError):
        path.parent.chmod(_FOLDER_MODE)
    for companion in _COMPANIONS:
        with suppress(OSError):
            path.with_name(path.name + companion).chmod(_FILE_MODE)
