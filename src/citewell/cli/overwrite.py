"""Files that a command writes where another file may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.errors import InvalidArgument

if TYPE_CHECKING:
    from pathlib import Path

_ZIP = b"PK"


def refuse_to_overwrite(path: Path, *, kind: str) -> None:
    """Refuse a file that cannot be an earlier one of the same `kind`; those are ZIP files.

    Raises:
        InvalidArgument: it is something else.
    """
    try:
        with path.open("rb") as file:
            start = file.read(len(_ZIP))
    except OSError:
        # It does not exist, or writing it will say what is wrong.
        return
    if start not in (b"", _ZIP):
        raise InvalidArgument(f"{path} exists and is not {kind}: name another file, or delete it")
