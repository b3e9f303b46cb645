"""Plain tables: columns that line up, on a terminal and in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDEST_CELL = 60


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the rows under their heads; a long cell is cut, and a wide character counts as two."""
    shown = [[one_line(cell, limit=_WIDEST_CELL) for cell in row] for row in (heads, *rows)]
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
