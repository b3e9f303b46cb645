"""Tables of a PDF that drawn lines rule: the words between the lines of a cell belong together."""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import TYPE_CHECKING

from pypdfium2 import raw

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pypdfium2

    from citewell.ingest.extract.pdf_layout.words import Word

# A page with more of these is a drawing.
_MAX_OBJECTS = 20_000
_MAX_RULES = 300
_THIN_POINTS = 2.5
_NEAR_POINTS = 3.0
_LEAST_POINTS = 12.0
# More than this in most cells is prose in a frame, or the columns of a page.
_MAX_CELL_CHARACTERS = 90
_MIN_FILLED = 0.4
# Of the type size: what parts columns is wider than a space, a head has few lines.
_COLUMN_GAP = 0.35
_HEAD_LINES = 4.5
_ROW_GAP = 1.2
_SAME_LINE = 3


@frozen
class _Rule:
    """A line from `start` to `end` at a height, or at a distance from the left if it is upright."""

    at: float
    start: float
    end: float


def in_ruled_cells(words: Sequence[Word], page: pypdfium2.PdfPage) -> list[Word]:
    """Return the words of a page, those in ruled tables with the cell that they stand in."""
    across, upright = (_joined(rules) for rules in _rules(page))
    if len(across) < 3 or len(across) + len(upright) > _MAX_RULES:
        return list(words)
    found = list(words)
    for number, group in enumerate(_groups(across, upright)):
        inside = [
            place
            for place, word in enumerate(found)
            if word.cell is None and _stands_between(word, group)
        ]
        places = _cells([found[place] for place in inside], group, upright)
        for place, (row, column) in zip(inside, places, strict=False):
            found[place] = replace(found[place], cell=(number, row, column))
    return found


def _rules(page: pypdfium2.PdfPage) -> tuple[list[_Rule], list[_Rule]]:
    """Return the horizontal and the upright lines that a page draws."""
    across: list[_Rule] = []
    upright: list[_Rule] = []
    count = raw.FPDFPage_CountObjects(page.raw)
    edges = [ctypes.c_float() for _ in range(4)]
    for place in range(count if count <= _MAX_OBJECTS else 0):
        item = raw.FPDFPage_GetObject(page.raw, place)
        if raw.FPDFPageObj_GetType(item) != raw.FPDF_PAGEOBJ_PATH:
            continue
        if not raw.FPDFPageObj_GetBounds(item, *edges):
            continue
        left, bottom, right, top = (edge.value for edge in edges)
        if top - bottom <= _THIN_POINTS:
            across.append(_Rule(at=(top + bottom) / 2, start=left, end=right))
        elif right - left <= _THIN_POINTS:
            upright.append(_Rule(at=(left + right) / 2, start=bottom, end=top))
        elif _is_stroked(item):
            across += [_Rule(at=at, start=left, end=right) for at in (bottom, top)]
            upright += [_Rule(at=at, start=bottom, end=top) for at in (left, right)]
    return across, upright


def _is_stroked(item: object) -> bool:
    """Return whether an outline is drawn, as around a cell."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    has_mode = raw.FPDFPath_GetDrawMode(item, fill, stroke)
    return bool(has_mode and stroke.value and raw.FPDFPath_CountSegments(item) <= 6)


def _joined(rules: Iterable[_Rule]) -> list[_Rule]:
    """Return lines that go on from one another as one: many programs rule cell by cell."""
    joined: list[_Rule] = []
    heights: list[list[_Rule]] = []
    for rule in sorted(rules, key=lambda rule: rule.at):
        if heights and rule.at - heights[-1][0].at <= _THIN_POINTS:
            heights[-1].append(rule)
        else:
            heights.append([rule])
    for height in heights:
        start, end = height[0].start, height[0].start
        for rule in sorted(height, key=lambda rule: rule.start):
            if rule.start > end + _NEAR_POINTS:
                joined.append(_Rule(at=height[0].at, start=start, end=end))
                start = rule.start
            end = max(end, rule.end)
        joined.append(_Rule(at=height[0].at, start=start, end=end))
    return [rule for rule in joined if rule.end - rule.start >= _LEAST_POINTS]


def _groups(across: Sequence[_Rule], upright: Sequence[_Rule]) -> list[list[_Rule]]:
    """Return the horizontal lines of each table, from the top down."""
    groups: list[list[_Rule]] = []
    for rule in sorted(across, key=lambda rule: -rule.at):
        for group in groups:
            starts_alike = abs(group[0].start - rule.start) <= _NEAR_POINTS
            if starts_alike and abs(group[0].end - rule.end) <= _NEAR_POINTS:
                group.append(rule)
                break
        else:
            groups.append([rule])
    return [part for group in groups for part in _tables(group, upright) if len(part) >= 3]


def _tables(group: Sequence[_Rule], upright: Sequence[_Rule]) -> list[list[_Rule]]:
    """Divide lines of one width where no upright line joins them: another table begins.

    Without upright lines, three are those above and below a head and below the body.
    """
    beside = [rule for rule in upright if group[0].start - 1 <= rule.at <= group[0].end + 1]
    tables = [[group[0]]]
    for above, below in pairwise(group):
        middle = (above.at + below.at) / 2
        if not any(rule.start < middle < rule.end for rule in beside):
            tables.append([])
        tables[-1].append(below)
    is_bare = all(len(table) == 1 for table in tables)
    return [list(group)] if is_bare and len(group) == 3 else tables


def _stands_between(word: Word, group: Sequence[_Rule]) -> bool:
    middle, centre = (word.bottom + word.top) / 2, (word.left + word.right) / 2
    is_beside = group[0].start - 1 <= centre <= group[0].end + 1
    return is_beside and group[-1].at < middle < group[0].at


def _cells(
    words: Sequence[Word], group: Sequence[_Rule], upright: Sequence[_Rule]
) -> list[tuple[int, int]]:
    """Return the row and the column of each word; nothing where the lines rule no table."""
    if len(words) < 4:
        return []
    borders = sorted(
        rule.at
        for rule in upright
        if group[0].start + _NEAR_POINTS < rule.at < group[0].end - _NEAR_POINTS
        and rule.start < group[1].at
        and rule.end > group[-2].at
    )
    columns = borders or _corridors(words, group)
    heights = [-rule.at for rule in group[1:-1]]
    rows = [bisect_right(heights, -(word.bottom + word.top) / 2) for word in words]
    rows = _divided(words, rows, columns, is_bare=not borders)
    cells = [
        (row, bisect_right(columns, (word.left + word.right) / 2))
        for row, word in zip(rows, words, strict=True)
    ]
    return cells if columns and _is_table(words, cells, len(columns) + 1) else []


def _corridors(words: Sequence[Word], group: Sequence[_Rule]) -> list[float]:
    """Return the middles of the spaces that no word of a table stands in."""
    size = median(word.size for word in words)
    head = [word for word in words if (word.bottom + word.top) / 2 > group[1].at]
    if not head or group[0].at - group[1].at > _HEAD_LINES * size:
        return []
    corridors: list[float] = []
    end = group[0].start
    for word in sorted(words, key=lambda word: word.left):
        if corridors or end > group[0].start:
            corridors += [(end + word.left) / 2] if word.left - end >= _COLUMN_GAP * size else []
        end = max(end, word.right)
    return corridors


def _divided(
    words: Sequence[Word], bands: Sequence[int], columns: Sequence[float], *, is_bare: bool
) -> list[int]:
    """Return the row of each word: between two lines there can be several.

    Lines that fill the same cells are rows of their own. In the body of a table that has no
    other lines, wider gaps part rows of several lines, or else words in the first column.
    """
    filled: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for word, band in zip(words, bands, strict=True):
        column = bisect_right(columns, (word.left + word.right) / 2)
        filled[band][_depth(word)].add(column)
    starts: list[tuple[int, int]] = []
    for band in sorted(filled):
        lines = _baselines(filled[band])
        firsts = [True, *_first_lines(lines, is_body=is_bare and band > 0)]
        starts += [(band, at) for (at, _), is_first in zip(lines, firsts, strict=True) if is_first]
    return [
        max(bisect_right(starts, (band, _depth(word) + _SAME_LINE)) - 1, 0)
        for word, band in zip(words, bands, strict=True)
    ]


def _baselines(filled: dict[int, set[int]]) -> list[tuple[int, set[int]]]:
    """Return the lines between two rules, each with the columns that have words on it."""
    lines: list[tuple[int, set[int]]] = []
    for at in sorted(filled):
        if lines and at - lines[-1][0] <= _SAME_LINE:
            lines[-1][1].update(filled[at])
        else:
            lines.append((at, set(filled[at])))
    return lines


def _first_lines(lines: Sequence[tuple[int, set[int]]], *, is_body: bool) -> list[bool]:
    """Return of each line after the first whether it begins a row."""
    later = [columns for _, columns in lines[1:]]
    if len(lines[0][1]) > 2 and all(columns == lines[0][1] for columns in later):
        return [True] * len(later)
    if not is_body:
        return [False] * len(later)
    if all(len(columns) > 1 for _, columns in lines):
        return [True] * len(later)
    gaps = [below - above for (above, _), (below, _) in pairwise(lines)]
    if max(gaps, default=0) > _ROW_GAP * min(gaps, default=0):
        return [gap > (min(gaps) + max(gaps)) / 2 for gap in gaps]
    return [0 in columns for columns in later]


def _depth(word: Word) -> int:
    return round(-(word.bottom + word.top) / 2)


def _is_table(words: Sequence[Word], cells: Sequence[tuple[int, int]], columns: int) -> bool:
    characters: dict[tuple[int, int], int] = defaultdict(int)
    for word, cell in zip(words, cells, strict=True):
        characters[cell] += len(word.text) + 1
    rows = len({row for row, _ in cells})
    is_filled = len(characters) >= _MIN_FILLED * rows * columns
    is_short = median(characters.values()) <= _MAX_CELL_CHARACTERS
    return rows >= 2 and len({column for _, column in cells}) >= 2 and is_filled and is_short
