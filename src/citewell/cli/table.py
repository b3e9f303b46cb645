"""Plain tables: columns that line up, on a terminal and in a file."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from citewell.core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDEST_CELL = 60
_LEAST_CUT = 30
_EMPTY = ("", "-")


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the rows under their heads; a long cell is cut, and a wide character counts as two.

    On a terminal that is too narrow, empty columns are left out and the widest one is cut to what
    is left for it; where that is too little to read, each row becomes a few lines of its own.
    """
    table = _aligned(heads, rows, widest=_WIDEST_CELL)
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    if columns is None or _table_width(table) <= columns:
        return table
    heads, rows = _without_empty_columns(heads, rows)
    table = _aligned(heads, rows, widest=_WIDEST_CELL)
    if (excess := _table_width(table) - columns) <= 0:
        return table
    longest = max(_width(cell) for row in rows for cell in row)
    room = min(longest, _WIDEST_CELL) - excess
    table = _aligned(heads, rows, widest=max(room, _LEAST_CUT))
    if _table_width(table) <= columns:
        return table
    return "\n\n".join(_stacked(heads, row, columns) for row in rows)


def _without_empty_columns(
    heads: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    kept = [
        column for column in range(len(heads)) if any(row[column] not in _EMPTY for row in rows)
    ]
    return [heads[column] for column in kept], [[row[column] for column in kept] for row in rows]


def _stacked(heads: Sequence[str], row: Sequence[str], columns: int) -> str:
    width = max(map(len, heads))
    room = max(10, columns - width - 2)
    filled = [(head, cell) for head, cell in zip(heads, row, strict=True) if cell not in _EMPTY]
    return "\n".join(f"{head:<{width}}  {one_line(cell, limit=room)}" for head, cell in filled)


def _table_width(table: str) -> int:
    return max(map(_width, table.splitlines()))


def _aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], *, widest: int) -> str:
    shown = [[one_line(cell, limit=widest) for cell in row] for row in (heads, *rows)]
    widths = [max(map(_width, column)) for column in zip(*shown, strict=True)]
    return "\n".join(
        "  ".join(
            cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in shown
    )


def _width(cell: str) -> int:
    if cell.isascii():
        return len(cell)
    # Its tables take longer to import than most commands that print a table.
    from rich.cells import cell_len

    return cell_len(cell)
