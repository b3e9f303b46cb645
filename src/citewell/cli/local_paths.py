"""Files and folders that a command is given in place of URLs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence


def local_paths(arguments: Sequence[str]) -> list[Path]:
    """Return the arguments as paths when they name files; none when they are URLs.

    Raises:
        InvalidArgument: some are paths and some are not.
    """
    are_paths = ["://" not in each and Path(each).exists() for each in arguments]
    if not any(are_paths):
        return []
    if not all(are_paths):
        path, other = arguments[are_paths.index(True)], arguments[are_paths.index(False)]
        raise InvalidArgument(
            f"{path!r} is a path and {other!r} is none: give paths or URLs, not both at once"
        )
    return [Path(each) for each in arguments]
