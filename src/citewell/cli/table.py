"""Plain tables: columns that line up, on a terminal and in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from citewell.core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDEST_CELL = 60


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the rows under their heads; a long cell is cut, and a wide character counts as two."""
    shown = [[one_line(cell, limit=_WIDEST_CELL) for cell in row] for row in (heads, *rows)]
    widths = [max(map(cell_len, column)) for column in zip(*shown, strict=True)]
    return "\n".join(
        "  ".join(
            set_cell_size(cell, width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in shown
    )
