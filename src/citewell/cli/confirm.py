"""Asks before something is deleted for good."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from citewell.core.errors import InvalidArgument
from citewell.core.text import join_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_LISTED = 10


def refuse_unless_agreed(things: Sequence[str], *, is_agreed: bool) -> None:
    """Ask the person at the terminal whether `things` are to be deleted, unless they agreed before.

    Raises:
        InvalidArgument: they did not agree, or nobody is there to be asked.
    """
    if is_agreed or not things:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidArgument("nothing was deleted: add --yes to delete without being asked")
    listed = [f"  {thing}" for thing in things[:_MOST_LISTED]]
    if len(things) > _MOST_LISTED:
        listed.append(f"  … and {len(things) - _MOST_LISTED} more")
    print(join_lines(["To be deleted:", *listed]), file=sys.stderr)
    print("Delete? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InvalidArgument("Nothing was deleted.", declined=True)
