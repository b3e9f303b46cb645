"""Tables of a PDF: rows of cells that begin at the same places, with cells of several lines."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from citewell.ingest.extract.pdf_layout.lines import ITEM_MARK, Cell, Line, is_contents, join_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.ingest.extract.pdf_layout.words import Word

_MIN_ROWS = 2
# Fewer could stand over words by chance.
_MIN_COLUMNS = 3
_ALIGNED_POINTS = 8.0
# A word that begins this near to a column, after more than a space, is the first of its cell.
_EXACT_POINTS = 1.5
_MORE_THAN_SPACE = 0.33
# Of the type size: lines of one cell stand closer than paragraphs.
_LINE_GAP = 0.75
_SAME_GAP = 0.2


def table_end(lines: Sequence[Line], place: int) -> int:
    """Return the line after a table that starts at a place; the place itself if none does."""
    columns = _columns(lines[place : place + 2])
    first = lines[place]
    if len(columns) < 2 or ITEM_MARK.match(first.cells[0].text):
        return place
    end = place + _has_head_of_its_own(lines[place : place + 2])
    rows = end - place
    while end < len(lines) and lines[end].page == first.page:
        starts = _starts(lines[end], columns)
        if starts is None or is_contents(lines[end]):
            break
        if len(starts) > 1:
            rows += 1
        elif end == place or not _goes_on(lines[end - 1], lines[end], starts):
            break
        end += 1
    return end if rows >= _MIN_ROWS else place


def table_text(lines: Sequence[Line]) -> str:
    """Return the lines of a table as Markdown."""
    columns = _columns(lines[:2])
    rows: list[list[str]] = []
    body = lines
    if _has_head_of_its_own(lines[:2]):
        rows.append([" ".join(words) for words in _head_words(lines[0], columns)])
        body = lines[1:]
    begins_row = _row_starts(body, columns)
    for line, is_new in zip(body, begins_row, strict=True):
        row = [""] * len(columns)
        for cell in _split(line, columns):
            column = _nearest(cell, columns)
            row[column] = f"{row[column]} {cell.text}".strip()
        if not is_new:
            rows[-1] = [join_text(above, own) for above, own in zip(rows[-1], row, strict=True)]
        else:
            rows.append(row)
    head, *others = [_row_text(row) for row in rows]
    return "\n".join([head, f"|{' --- |' * len(columns)}", *others])


def ruled_end(lines: Sequence[Line], place: int) -> int:
    """Return the line after a ruled table that starts at a place."""
    end = place
    while end < len(lines) and (lines[end].page, lines[end].table) == (
        lines[place].page,
        lines[place].table,
    ):
        end += 1
    return end


def ruled_text(lines: Sequence[Line]) -> str:
    """Return the rows of a ruled table as Markdown."""
    width = 1 + max(word.cell[2] for line in lines for word in line.words if word.cell)
    rows: list[str] = []
    for line in lines:
        cells = [""] * width
        for cell in line.cells:
            place = cell.words[0].cell
            cells[place[2] if place else 0] = cell.text
        rows.append(_row_text(cells))
    return "\n".join([rows[0], f"|{' --- |' * width}", *rows[1:]])


def _row_text(cells: Sequence[str]) -> str:
    escaped = [cell.replace("|", r"\|") for cell in cells]
    return f"| {' | '.join(escaped)} |"


def _columns(rows: Sequence[Line]) -> list[Cell]:
    """Return the cells that show where the columns of a table stand, by its first two rows."""
    row = rows[1] if _has_head_of_its_own(rows) else rows[0]
    return list(row.cells)


def _has_head_of_its_own(rows: Sequence[Line]) -> bool:
    """Return whether the first of two rows has words over each column of the second.

    Bold ones may be centred there, others begin where the columns do; both can stand closer than
    cells do.
    """
    if len(rows) < 2 or rows[0].page != rows[1].page:
        return False
    columns = rows[1].cells
    if not rows[0].is_bold:
        return _begins_columns(rows[0], columns) and len(rows[0].cells) < len(columns)
    if len(columns) < 2 or rows[1].is_bold or rows[0].left < columns[0].left - _ALIGNED_POINTS:
        return False
    is_cells = len(rows[0].cells) <= len(columns)
    return is_cells and all(_head_words(rows[0], columns))


def _begins_columns(head: Line, columns: Sequence[Cell]) -> bool:
    """Return whether a word begins at each of several columns, as in prose none would."""
    lefts = {0: head.left} | {
        at: word.left
        for at, column in enumerate(columns)
        for before, word in pairwise(head.words)
        if abs(word.left - column.left) <= _EXACT_POINTS
        and word.left - before.right > _MORE_THAN_SPACE * word.size
    }
    is_aligned = abs(head.left - columns[0].left) <= _EXACT_POINTS
    return is_aligned and len(columns) >= _MIN_COLUMNS and len(lefts) == len(columns)


def _head_words(head: Line, columns: Sequence[Cell]) -> list[list[str]]:
    cells: list[list[str]] = [[] for _ in columns]
    for word in head.words:
        at = sum(column.left - _ALIGNED_POINTS <= word.left for column in columns)
        cells[max(at - 1, 0)].append(word.text)
    return cells


def _starts(line: Line, columns: Sequence[Cell]) -> list[int] | None:
    """Return the columns that the cells of a line begin in; None if one begins in none."""
    starts: list[int] = []
    for cell in _split(line, columns):
        column = _nearest(cell, columns)
        if _distance(cell, columns[column]) > _ALIGNED_POINTS:
            return None
        starts.append(column)
    return starts


def _split(line: Line, columns: Sequence[Cell]) -> list[Cell]:
    """Return the cells of a line, divided also where a word begins exactly at a column."""
    cells: list[Cell] = []
    for cell in line.cells:
        start = 0
        for at, word in enumerate(cell.words):
            if at and _begins_column(cell.words[at - 1], word, columns):
                cells.append(Cell(words=cell.words[start:at]))
                start = at
        cells.append(Cell(words=cell.words[start:]))
    return cells


def _begins_column(before: Word, word: Word, columns: Sequence[Cell]) -> bool:
    is_apart = word.left - before.right > _MORE_THAN_SPACE * word.size
    return is_apart and any(abs(word.left - column.left) <= _EXACT_POINTS for column in columns[1:])


def _nearest(cell: Cell, columns: Sequence[Cell]) -> int:
    return min(range(len(columns)), key=lambda column: _distance(cell, columns[column]))


def _distance(cell: Cell, column: Cell) -> float:
    """Return how far a cell is from standing in a column.

    A word or number alone can also stand flush right or centred. Justified text ends flush too.
    """
    left, right = abs(cell.left - column.left), abs(cell.right - column.right)
    if len(cell.words) > 1:
        return left
    centre = abs(cell.left + cell.right - column.left - column.right) / 2
    return min((left, *(gap for gap in (right, centre) if gap <= _EXACT_POINTS)))


def _goes_on(before: Line, line: Line, starts: Sequence[int]) -> bool:
    """Return whether a line in one column continues the cell above it."""
    return starts[0] > 0 and _gap(before, line) <= _LINE_GAP * line.size


def _gap(before: Line, line: Line) -> float:
    return before.bottom - line.top


def _row_starts(body: Sequence[Line], columns: Sequence[Cell]) -> list[bool]:
    """Return of each line whether it begins a row.

    A line of one cell goes on with the row above. Where gaps between rows are wider than those
    inside of cells, so does every line after a narrow gap.
    """
    is_alone = [len(_split(line, columns)) == 1 for line in body]
    gaps = [_gap(before, line) for before, line in pairwise(body)]
    inside = [gap for gap, alone in zip(gaps, is_alone[1:], strict=True) if alone]
    tight = max(inside, default=0.0) + _SAME_GAP * body[0].size
    tells = bool(inside) and any(gap > tight for gap in gaps)
    return [
        True,
        *(
            not (alone or (tells and gap <= tight))
            for gap, alone in zip(gaps, is_alone[1:], strict=True)
        ),
    ]
