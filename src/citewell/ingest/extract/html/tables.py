"""Tables of a page as aligned pipe tables, spans flattened."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.ingest.extract.canonical import visible_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from citewell.ingest.extract.html.element import Element

# Wider cells are written out but not padded to: one long cell would fill every row with spaces.
_MAX_PADDING = 40
# Beyond these a cell is written once instead of into every row or column that it spans, and short
# rows are not filled up: a few spans would make millions of cells. No cell is left out.
_MAX_COLUMNS = 60
_MAX_CELLS = 60_000
_MAX_CELL_WITH_TABLE = 600
# Trac, and files as GitHub shows them.
_LISTING_CLASSES = ("code", "highlight", "js-file-line-container")
_BLOCKS_OF_LAYOUT = frozenset({"table", "h1", "h2", "h3", "form", "article", "section", "nav"})


@dataclass(frozen=True, slots=True)
class _Row:
    cells: list[str]
    is_header: bool


def is_data_table(table: Element) -> bool:
    """Return whether a table holds data; others only lay out the page."""
    role = table.attribute("role")
    if role in ("presentation", "none"):
        return False
    rows = rows_of(table)
    widths = [len(row.elements()) for row in rows]
    if not rows or max(widths) < 2:
        return any(cell.tag == "th" for row in rows for cell in row.elements()) and len(rows) > 1
    below = {element.tag for element in table.walk()}
    of_layout = below & _BLOCKS_OF_LAYOUT
    if of_layout and not (of_layout == {"table"} and _names_its_columns(rows)):
        return False
    if below & {"th", "caption", "thead"} or role in ("table", "grid"):
        return True
    longest = max(len(cell.text()) for row in rows for cell in row.elements())
    return longest <= 400 and (len(rows) > 1 or _has_border(table))


def _has_border(table: Element) -> bool:
    return table.attributes.get("border", "0") != "0"


def _names_its_columns(rows: list[Element]) -> bool:
    """Return whether a row of headers stands over rows of as many cells, none of them long.

    A table that such a cell holds is part of the data.
    """
    head = rows[0].elements()
    return len(rows) > 1 and all(
        len(row.elements()) == len(head) > 1
        and all(len(cell.text()) <= _MAX_CELL_WITH_TABLE for cell in row.elements())
        and (row is not rows[0] or all(cell.tag == "th" for cell in head))
        for row in rows
    )


def rows_of(table: Element) -> list[Element]:
    """Return the table's own rows, those of tables inside it left out."""
    rows: list[Element] = []
    for child in table.elements():
        if child.tag == "tr":
            rows.append(child)
        elif child.tag in ("thead", "tbody", "tfoot"):
            rows.extend(row for row in child.elements() if row.tag == "tr")
    return rows


def lines_of_code_table(table: Element) -> str:
    """Return the lines of a listing that has a row for each, after its number; "" for no such."""
    if not table.names or not table.has_class(*_LISTING_CLASSES):
        return ""
    rows = [row.elements() for row in rows_of(table)]
    if rows and not any(cell.text().strip().isdecimal() for cell in rows[0]):
        # "Line" and nothing, over them.
        rows = rows[1:]
    numbers = [cells[0].text().strip() or cells[0].attribute("data-line-number") for cells in rows]
    if not rows or not all(len(cells) == 2 for cells in rows):
        return ""
    if not all(map(str.isdecimal, numbers)):
        return ""
    lines = (_text_of_line(cells[1]) for cells in rows)
    return "\n".join(lines).strip("\n")


def _text_of_line(cell: Element) -> str:
    """Return a line of a listing with its indentation."""
    return cell.text().strip("\r\n").replace("\xa0", " ").rstrip()


def render_table(table: Element, cell_text: Callable[[Element], str]) -> list[str]:
    """Return the caption, if any, and the pipe table."""
    rows = _grid(rows_of(table), cell_text)
    rows = [row for row in rows if any(cell.strip() for cell in row.cells)]
    if not rows:
        return []
    titles: list[str] = []
    while len(rows) > 2 and rows[0].is_header and _is_title(rows[0]):
        titles.append(rows.pop(0).cells[0])
    leading = 0
    while (
        leading < len(rows)
        and rows[leading].is_header
        and len(rows[leading].cells) == len(rows[0].cells)
        # Below the names of columns, one cell over all of them names the rows that follow.
        and not (leading and _is_title(rows[leading]))
    ):
        leading += 1
    head = _merge_headers(rows[:leading]) if leading else [""] * len(rows[0].cells)
    blocks = [pipe_table(head, [_named_once(row) for row in rows[leading:]])]
    caption = next((child for child in table.elements() if child.tag == "caption"), None)
    words = cell_text(caption) if caption is not None and not _is_tabs(caption) else ""
    return [*([words] if words else []), *titles, *blocks]


def _is_tabs(caption: Element) -> bool:
    """Return whether a caption is Javadoc's row of tabs, which choose among the rows below."""
    return any(below.has_class("activetabletab") for below in caption.elements())


def _is_title(row: _Row) -> bool:
    """Return whether one cell reaches over all columns: it names the table, not each of them."""
    return len(row.cells) > 1 and len(set(row.cells)) == 1


def _named_once(row: _Row) -> list[str]:
    """Return the cells of a row; a name over all columns is said in the first."""
    if row.is_header and _is_title(row):
        return [row.cells[0], *[""] * (len(row.cells) - 1)]
    return row.cells


def pipe_table(head: list[str], body: list[list[str]]) -> str:
    """Return rows as an aligned pipe table."""
    widths = [3] * max(len(row) for row in (head, *body))
    for row in (head, *body):
        for column, cell in enumerate(row):
            widths[column] = max(widths[column], min(_width(cell), _MAX_PADDING))
    lines = [_line(head, widths), "|" + "|".join("-" * (width + 2) for width in widths) + "|"]
    lines.extend(_line(row, widths) for row in body)
    return "\n".join(lines)


def _line(cells: list[str], widths: list[int]) -> str:
    padded = [
        cell + " " * max(width - _width(cell), 0)
        for cell, width in zip(cells, widths, strict=False)
    ]
    return "| " + " | ".join(padded) + " |"


def _width(cell: str) -> int:
    plain = visible_text(cell)
    if plain.isascii():
        return len(plain)
    return len(plain) + sum(unicodedata.east_asian_width(letter) in "WF" for letter in plain)


def _grid(rows: list[Element], cell_text: Callable[[Element], str]) -> list[_Row]:
    """Lay cells into columns; a cell that spans rows is repeated, across columns it is not.

    A header that spans columns is repeated as well, so that each column is named.
    """
    grid: list[_Row] = []
    reaching_down: dict[int, tuple[int, str]] = {}
    count = 0
    for row in rows:
        cells: dict[int, str] = {}
        for column in list(reaching_down):
            left, text = reaching_down.pop(column)
            cells[column] = text
            if left > 1:
                reaching_down[column] = (left - 1, text)
        own = [cell for cell in row.elements() if cell.tag in ("td", "th")]
        column = 0
        for cell in own:
            while column in cells:
                column += 1
            text = cell_text(cell).replace("|", "\\|").replace("\n", " ")
            is_spread = count <= _MAX_CELLS and column < _MAX_COLUMNS
            width = min(_span(cell, "colspan"), _MAX_COLUMNS - column) if is_spread else 1
            for step in range(width):
                shown = text if step == 0 or cell.tag == "th" else ""
                cells[column] = shown
                if is_spread and _span(cell, "rowspan") > 1:
                    reaching_down[column] = (_span(cell, "rowspan") - 1, shown)
                column += 1
        in_head = row.parent is not None and row.parent.tag == "thead"
        is_header = bool(own) and (in_head or all(cell.tag == "th" for cell in own))
        width = max(cells, default=-1) + 1
        grid.append(_Row([cells.get(at, "") for at in range(width)], is_header))
        count += width
        if count > _MAX_CELLS:
            reaching_down.clear()
    width = max((len(row.cells) for row in grid), default=0)
    if width * len(grid) > 2 * max(count, _MAX_CELLS):
        return grid
    return [_Row(row.cells + [""] * (width - len(row.cells)), row.is_header) for row in grid]


def _span(cell: Element, name: str) -> int:
    value = cell.attribute(name)
    return min(max(int(value), 1), 1000) if value.isdecimal() and len(value) < 6 else 1


def _merge_headers(rows: list[_Row]) -> list[str]:
    merged: list[str] = []
    for column in range(len(rows[0].cells)):
        names: list[str] = []
        for row in rows:
            if row.cells[column] and row.cells[column] not in names:
                names.append(row.cells[column])
        merged.append(" / ".join(names))
    return merged
