"""Lines of a PDF page in reading order, with the cells that wide gaps divide them into."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.ingest.extract.pdf_layout.words import Word

# A gap this many times the size of the type divides cells or columns.
_CELL_GAP = 1.0
_LEAST_CELL_GAP = 6.0
# Two columns: between them nothing stands but a few lines that run over both, and this share of
# the lines of each fills it, or lines with this share of its words do.
_SPANNING_SHARE = 0.12
_COLUMN_SHARE = 0.4
_WORD_SHARE = 0.5
_FULL_LINE = 0.75
_MIN_COLUMN_LINES = 5
_MIN_COLUMN_WORDS = 60
_MIN_GUTTER_POINTS = 7
_HEADING_RATIO = 1.12
# The dots between a title and its page in a table of contents.
LEADERS = re.compile(r" ?[.…·](?: ?[.…·]){3,} ?")
ITEM_MARK = re.compile(r"(?:[•‣▪◦●–-]|\(?\d{1,2}[.)]|\(?[a-z][.)])$")
HYPHENATED = re.compile(r"[^\W\d_]-$")


@frozen
class Cell:
    """Words that stand together."""

    words: tuple[Word, ...]

    @property
    def left(self) -> float:
        """Where it begins."""
        return self.words[0].left

    @property
    def right(self) -> float:
        """Where it ends."""
        return max(word.right for word in self.words)

    @property
    def text(self) -> str:
        """The words with single spaces between."""
        return " ".join(word.text for word in self.words)


@frozen
class Line:
    """Cells on one baseline."""

    cells: tuple[Cell, ...]
    page: int

    @property
    def words(self) -> tuple[Word, ...]:
        """All words, from left to right."""
        return tuple(word for cell in self.cells for word in cell.words)

    @property
    def text(self) -> str:
        """The words with single spaces between."""
        return " ".join(cell.text for cell in self.cells)

    @property
    def table(self) -> int | None:
        """The ruled table of which it is a row."""
        cell = self.cells[0].words[0].cell
        return cell[0] if cell else None

    @property
    def left(self) -> float:
        """Where it begins."""
        return self.cells[0].left

    @property
    def right(self) -> float:
        """Where it ends."""
        return self.cells[-1].right

    @property
    def bottom(self) -> float:
        """The lower edge of its letters."""
        return min(word.bottom for word in self.words)

    @property
    def top(self) -> float:
        """The upper edge of its letters."""
        return max(word.top for word in self.words)

    @property
    def size(self) -> float:
        """The size that most of its letters have."""
        sizes: dict[float, int] = {}
        for word in self.words:
            sizes[round(word.size, 1)] = sizes.get(round(word.size, 1), 0) + len(word.text)
        return max(sizes, key=lambda size: (sizes[size], size))

    @property
    def is_mono(self) -> bool:
        """Whether all of it is set in a typeface of one width."""
        return all(word.is_mono for word in self.words)

    @property
    def is_bold(self) -> bool:
        """Whether all of it is bold."""
        return all(word.is_bold for word in self.words)


def is_contents(line: Line) -> bool:
    """Return whether a line of a table of contents leads to a page."""
    return line.text.count(".") >= 4 and bool(LEADERS.search(line.text))


def join_text(text: str, following: str) -> str:
    """Return two pieces of text as one; a word that the end of a line cut is whole again."""
    if HYPHENATED.search(text) and following[:1].islower():
        return text[:-1] + following
    return f"{text} {following}".strip()


def lines_in_order(words: Sequence[Word], *, page: int) -> list[Line]:
    """Return the lines of a page as they are read: in two columns, one after the other."""
    gutter = _find_gutter(words)
    if gutter is None:
        return _lines(words, page)
    end = _end_of_columns(gutter, words)
    below = [word for word in words if word.bottom < end]
    spanning, lefts, rights = gutter.divide([word for word in words if word.bottom >= end])
    lines: list[Line] = []
    floor = float("inf")
    for line in [*_lines(spanning, page), None]:
        # What stands above a line over both columns is read before it.
        ceiling, floor = floor, line.bottom if line is not None else float("-inf")
        for side in (lefts, rights):
            lines += _lines([word for word in side if floor <= word.bottom < ceiling], page)
        lines += [line] if line is not None else []
    return lines + _lines(below, page)


def _end_of_columns(gutter: _Gutter, words: Sequence[Word]) -> float:
    """Return the height at which columns of one length end and a heading opens another part."""
    _, lefts, rights = gutter.divide(words)
    floor = min(word.bottom for word in rights)
    above = [row for row in _rows(lefts) if row[0].bottom >= floor - row[0].size]
    below = [row for row in _rows(lefts) if row[0].bottom < floor - row[0].size]
    if not above or not below:
        return float("-inf")
    last, heading = above[-1][0], below[0][0]
    is_even = abs(last.bottom - floor) <= last.size
    is_heading = heading.size >= _HEADING_RATIO * last.size
    return floor - last.size if is_even and is_heading else float("-inf")


def _lines(words: Sequence[Word], page: int) -> list[Line]:
    return [Line(cells=tuple(_cells(row)), page=page) for row in _rows(words)]


def _rows(words: Sequence[Word]) -> list[list[Word]]:
    """Return the words that stand beside one another, from the top of the page down."""
    ruled: dict[tuple[int, int], list[Word]] = {}
    for word in words:
        if word.cell is not None:
            ruled.setdefault(word.cell[:2], []).append(word)
    rows = _rows_by_height([word for word in words if word.cell is None])
    if not ruled:
        return rows
    return sorted([*rows, *ruled.values()], key=lambda row: -max(word.top for word in row))


def _rows_by_height(words: Sequence[Word]) -> list[list[Word]]:
    rows: list[list[Word]] = []
    middle = height = 0.0
    for word in sorted(words, key=lambda word: -(word.bottom + word.top) / 2):
        own = (word.bottom + word.top) / 2
        if rows and abs(own - middle) <= 0.45 * max(height, word.size):
            rows[-1].append(word)
            continue
        rows.append([word])
        middle, height = own, word.size
    return [sorted(row, key=lambda word: word.left) for row in rows]


def _cells(row: list[Word]) -> list[Cell]:
    cells: list[list[Word]] = []
    if row[0].cell is not None:
        columns: dict[int, list[Word]] = {}
        for word in row:
            columns.setdefault(word.cell[2] if word.cell else 0, []).append(word)
        return [
            Cell(words=tuple(word for line in _rows_by_height(columns[at]) for word in line))
            for at in sorted(columns)
        ]
    for word in row:
        gap = word.left - cells[-1][-1].right if cells else 0.0
        if cells and gap < max(_CELL_GAP * word.size, _LEAST_CELL_GAP):
            cells[-1].append(word)
        else:
            cells.append([word])
    return [Cell(words=tuple(cell)) for cell in cells]


@frozen
class _Gutter:
    """The space between two columns of prose."""

    left: float
    right: float

    def crosses(self, word: Word) -> bool:
        """Return whether a word stands in it."""
        return word.left < self.right - 1 and word.right > self.left + 1

    def divide(self, words: Sequence[Word]) -> tuple[list[Word], list[Word], list[Word]]:
        """Return the words of lines over both columns, of the left and of the right column."""
        lefts = [word for word in words if word.right <= self.left + 1]
        rights = [word for word in words if word.left >= self.right - 1]
        heights = {round(word.bottom) for word in words if self.crosses(word)}
        spanning = [word for word in words if not heights.isdisjoint(_near(round(word.bottom)))]
        known = {id(word) for word in spanning}
        return (
            spanning,
            [word for word in lefts if id(word) not in known],
            [word for word in rights if id(word) not in known],
        )


def _near(height: int) -> tuple[int, int, int]:
    return height - 1, height, height + 1


def _find_gutter(words: Sequence[Word]) -> _Gutter | None:
    """Return the space between two columns of prose; None on a page without them."""
    if len(words) < _MIN_COLUMN_WORDS:
        return None
    start, end = min(word.left for word in words), max(word.right for word in words)
    # Over the middle of the page, how many words stand at each point.
    first, last = int(start + 0.3 * (end - start)), int(start + 0.7 * (end - start))
    standing = [0] * (last - first + 2)
    for word in words:
        for point in range(max(int(word.left), first), min(int(word.right), last) + 1):
            standing[point - first] += 1
    allowed = _SPANNING_SHARE * len({round(word.bottom) for word in words})
    free = _free_run(standing, at_most=int(allowed))
    if free is None:
        return None
    gutter = _Gutter(left=float(first + free[0]), right=float(first + free[1]))
    _, lefts, rights = gutter.divide(words)
    return gutter if all(_is_column(side) for side in (lefts, rights)) else None


def _free_run(standing: list[int], *, at_most: int) -> tuple[int, int] | None:
    """Return the widest part with the fewest words, which is wide enough for a gutter."""
    for count in range(at_most + 1):
        run = _longest_run([number <= count for number in standing])
        if run is not None and run[1] - run[0] >= _MIN_GUTTER_POINTS:
            return run
    return None


def _longest_run(flags: list[bool]) -> tuple[int, int] | None:
    best: tuple[int, int] | None = None
    start = None
    for place, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = place
        elif not flag and start is not None:
            if best is None or place - start > best[1] - best[0]:
                best = (start, place)
            start = None
    return best


def _is_column(words: Sequence[Word]) -> bool:
    """Return whether words are a column of prose: most of its lines fill it, as cells do not."""
    rows = _rows(words)
    if len(rows) < _MIN_COLUMN_LINES:
        return False
    width = max(word.right for word in words) - min(word.left for word in words)
    full = [row for row in rows if row[-1].right - row[0].left >= _FULL_LINE * width]
    # Tables, code and formulas have many lines of few words.
    words_in_full = sum(map(len, full))
    return len(full) >= _COLUMN_SHARE * len(rows) or words_in_full >= _WORD_SHARE * len(words)
