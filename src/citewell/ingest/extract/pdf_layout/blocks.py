"""Paragraphs, headings, tables and code of a PDF, from its lines."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from citewell.core.frozen import frozen
from citewell.ingest.extract.characters import collapse_spaces
from citewell.ingest.extract.pdf_layout.lines import (
    HYPHENATED,
    ITEM_MARK,
    LEADERS,
    is_contents,
    join_text,
)
from citewell.ingest.extract.pdf_layout.tables import (
    ruled_end,
    ruled_text,
    table_end,
    table_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citewell.ingest.extract.pdf_layout.lines import Line

BlockKind = Literal["heading", "paragraph", "table", "code", "item"]

_HEADING_RATIO = 1.12
_MAX_HEADING_CHARACTERS = 160
_MAX_NUMBERED = 80
_MAX_LEVEL = 4
_PARAGRAPH_GAP = 0.75
# Between the lines of one heading, in sizes of its type.
_WRAPPED_GAP = 0.4
# Among so many lines before and after, some show where a column begins.
_NEAR_LINES = 80
_DIGITS = re.compile(r"\d+")
# A change of indentation, and what is left of a line that its text fills, in sizes of the type.
_INDENTED = 0.8
_SPARE, _SPARE_OUTDENTED = 0.5, 4
_ROMAN = re.compile(r"[ivxl]{1,6}")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2})*)\.? [^\W\d_]")
_SENTENCE_END = re.compile(r"[.!?:;。！？][\"'”’)\]]*$")


@frozen
class Block:
    """A piece of a document with the page that it begins on."""

    kind: BlockKind
    text: str
    page: int
    level: int = 0


def blocks_of(lines: Sequence[Line], outline: Mapping[tuple[int, str], int]) -> list[Block]:
    """Return the blocks of a document.

    `outline` has the levels of the titles in the document's own outline, by page and `title_key`.
    """
    body = _body_size(lines)
    levels = _levels_of_sizes(lines, body)
    outline = {**_numbered_headings(lines, levels), **outline}
    blocks: list[Block] = []
    place = 0
    while place < len(lines):
        line = lines[place]
        level = _heading_level(line, outline, levels)
        end = place + 1
        if line.table is not None:
            end = ruled_end(lines, place)
            text = ruled_text(lines[place:end])
            blocks.append(Block(kind="table", text=text, page=line.page))
        elif is_contents(line):
            text = f"- {LEADERS.sub(' … ', line.text)}"
            blocks.append(Block(kind="item", text=text, page=line.page))
        elif level:
            while end < len(lines) and _goes_on_as_heading(lines[end - 1], lines[end], body):
                end += 1
            text = " ".join(one.text for one in lines[place:end])
            blocks.append(Block(kind="heading", text=text, page=line.page, level=level))
        elif line.is_mono:
            while end < len(lines) and lines[end].is_mono and lines[end].page == line.page:
                end += 1
            text = _code(lines[place:end], lines[max(place - _NEAR_LINES, 0) : end + _NEAR_LINES])
            blocks.append(Block(kind="code", text=text, page=line.page))
        elif (end := table_end(lines, place)) > place:
            blocks.append(Block(kind="table", text=table_text(lines[place:end]), page=line.page))
        else:
            end = _paragraph_end(lines, place, outline, levels)
            kind: BlockKind = "item" if ITEM_MARK.match(line.words[0].text) else "paragraph"
            text = _joined(lines[place:end])
            blocks.append(Block(kind=kind, text=text, page=line.page))
        place = end
    return blocks


def title_key(text: str) -> str:
    """Return a title in a form that compares well: without numbers, spaces and case."""
    return "".join(character for character in text.lower() if character.isalpha())


def without_furniture(pages: Sequence[list[Line]]) -> list[Line]:
    """Return all lines but those at the edges that repeat over pages or hold page numbers."""
    edges = Counter(
        key for lines in pages for key in {_edge_key(line) for line in _edge_lines(lines)}
    )
    offsets = Counter(
        offset for lines in pages for offset in {_offset(line) for line in _edge_lines(lines)}
    )
    often = max(3, 0.3 * len(pages))
    body = _body_size([line for lines in pages for line in lines])
    kept: list[Line] = []
    for lines in pages:
        edge = {id(line) for line in _edge_lines(lines)}
        kept += [
            line
            for line in lines
            if id(line) not in edge
            # The title of the document, which the other pages repeat in small type.
            or (line.page == 1 and line.size >= _HEADING_RATIO * body)
            or not (
                edges[_edge_key(line)] >= often
                or (_offset(line) is not None and edges[_edge_key(line)] == len(pages) > 1)
                or (_is_number(line) and len(pages) > 1)
                or (line.size < _HEADING_RATIO * body and _is_running_head(line, offsets, often))
            )
        ]
    return kept


def _edge_lines(lines: list[Line]) -> list[Line]:
    """Return the outermost lines of a page, by their place and not their order."""
    if len(lines) < 4:
        return []
    by_height = sorted(lines, key=lambda line: line.bottom)
    return [*by_height[:2], *by_height[-2:]]


def _edge_key(line: Line) -> str:
    return _DIGITS.sub("0", line.text)


def _is_number(line: Line) -> bool:
    number = line.text.strip("-–— ")
    return number.isdigit() or bool(_ROMAN.fullmatch(number))


def _is_running_head(line: Line, offsets: Counter[int | None], often: float) -> bool:
    """Return whether a line has the number of the page, beside the name of a chapter or alone."""
    offset = _offset(line)
    return offset is not None and offsets[offset] >= often


def _offset(line: Line) -> int | None:
    """Return by how much the number at either end of a line differs from the page's place."""
    ends = (line.words[-1].text, line.words[0].text)
    numbers = [int(end) for end in ends if end.isdecimal() and len(end) <= 4]
    return numbers[0] - line.page if numbers else None


def _body_size(lines: Sequence[Line]) -> float:
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def _levels_of_sizes(lines: Sequence[Line], body: float) -> dict[float, int]:
    sizes = {
        line.size
        for line in lines
        if line.size >= _HEADING_RATIO * body and len(line.text) <= _MAX_HEADING_CHARACTERS
    }
    ordered = sorted(sizes, reverse=True)
    return {size: min(rank, _MAX_LEVEL) for rank, size in enumerate(ordered, start=1)}


def _numbered_headings(
    lines: Sequence[Line], levels: Mapping[float, int]
) -> dict[tuple[int, str], int]:
    """Return the levels of bold lines with a number that stand apart, of the size of the text."""
    headings: dict[tuple[int, str], int] = {}
    for before, line, after in zip(lines, lines[1:], lines[2:], strict=False):
        number = _NUMBERED.match(line.text)
        if number is None or not line.is_bold or line.is_mono or len(line.text) > _MAX_NUMBERED:
            continue
        if line.size in levels or line.words[-1].text.isdecimal():
            # A number at the end is that of a page, in a table of contents.
            continue
        is_apart = before.page != line.page or before.bottom - line.top > _PARAGRAPH_GAP * line.size
        if is_apart and not after.is_bold and not _SENTENCE_END.search(line.text):
            level = min(len(levels) + number[1].count(".") + 1, _MAX_LEVEL)
            headings[line.page, title_key(line.text)] = level
    return headings


def _heading_level(
    line: Line, outline: Mapping[tuple[int, str], int], levels: Mapping[float, int]
) -> int:
    if len(line.text) > _MAX_HEADING_CHARACTERS or len(line.cells) > 2 or is_contents(line):
        return 0
    key = title_key(line.text)
    if not key:
        return 0
    known = outline.get((line.page, key))
    if known is not None:
        return known
    return levels.get(line.size, 0)


def _goes_on_as_heading(line: Line, following: Line, body: float) -> bool:
    """Return whether a heading runs on over the next line."""
    is_alike = following.size == line.size and following.is_bold == line.is_bold
    gap = line.bottom - following.top
    # A title may stand right above the first section, in the same type.
    most = _WRAPPED_GAP if _NUMBERED.match(following.text) else 0.8
    is_close = 0 <= gap < most * line.size and following.page == line.page
    return (
        is_alike and is_close and line.size >= _HEADING_RATIO * body and len(following.cells) == 1
    )


def _code(lines: Sequence[Line], around: Sequence[Line]) -> str:
    """Return lines of code with the indentation that their places show."""
    widths = [(word.right - word.left) / len(word.text) for line in lines for word in line.words]
    width = sorted(widths)[len(widths) // 2] or 1.0
    text: list[str] = []
    start = first_edge = 0.0
    columns = _columns(lines)
    for column in columns:
        left = min(line.left for line in column)
        edge = _column_edge(column[0], left, around) if len(columns) > 1 else left
        if not text:
            start, first_edge = left, edge
        for line in column:
            row = ""
            for word in line.words:
                place = round((word.left - start - (edge - first_edge)) / width)
                row = f"{row}{' ' * max(place - len(row), 1 if row else 0)}{word.text}"
            text.append(row)
    return "\n".join(text)


def _columns(lines: Sequence[Line]) -> list[list[Line]]:
    """Return lines of a page by the columns that they run on in."""
    columns = [[lines[0]]]
    for before, line in pairwise(lines):
        if before.bottom - line.top < -before.size:
            columns.append([])
        columns[-1].append(line)
    return columns


def _column_edge(first: Line, left: float, around: Sequence[Line]) -> float:
    """Return where the text of the column begins in which code stands; `left` if none does."""
    edges = Counter(
        round(line.left)
        for line in around
        if line.page == first.page and not line.is_mono and line.left - 1 <= left < line.right
    )
    return edges.most_common(1)[0][0] if edges else left


def _paragraph_end(
    lines: Sequence[Line],
    place: int,
    outline: Mapping[tuple[int, str], int],
    levels: Mapping[float, int],
) -> int:
    end = place + 1
    width = max(line.right - line.left for line in lines[place : place + 8])
    near = (line for line in lines[place : place + 8] if line.left < lines[place].right)
    # One line of several can stand out over the margin.
    right = sorted(line.right for line in near)[-2:][0]
    is_item = bool(ITEM_MARK.match(lines[place].words[0].text))
    while end < len(lines):
        before, line = lines[end - 1], lines[end]
        if _heading_level(line, outline, levels) or line.is_mono or is_contents(line):
            break
        if line.table is not None:
            break
        if (len(line.cells) > 1 or line.is_bold) and table_end(lines, end) > end:
            break
        is_outside = (
            is_item and line.page == lines[place].page and line.left < lines[place].left - 2
        )
        if is_outside or _starts_paragraph(before, line, width):
            break
        if not is_item and _is_broken_off(before, line, right):
            break
        end += 1
    return end


def _starts_paragraph(before: Line, line: Line, width: float) -> bool:
    """Return whether a line of text does not go on from the one before."""
    ends = bool(_SENTENCE_END.search(before.text))
    gap = before.bottom - line.top
    if gap < -before.size or line.page != before.page:
        # In the next column or on the next page.
        return ends
    if gap > _PARAGRAPH_GAP * line.size:
        return True
    is_short = before.right - before.left < 0.8 * width
    if is_short and before.left - line.left > line.size and before.right < 0.8 * line.right:
        # Set off from the text around it: a formula, a command, a line of a program.
        return True
    if ends and (is_short or line.left - before.left > line.size):
        return True
    return len(line.words) > 1 and bool(ITEM_MARK.match(line.words[0].text))


def _is_broken_off(before: Line, line: Line, right: float) -> bool:
    """Return whether a line ends where its text could go on, and the next is indented otherwise.

    So end signatures, over what is said of them, and descriptions, over the next signature.
    """
    word = line.words[0]
    spare = _SPARE if line.left > before.left else _SPARE_OUTDENTED
    room = right - before.right - (word.right - word.left) - spare * line.size
    if room <= 0 or HYPHENATED.search(before.text):
        return False
    is_below = line.page != before.page or line.bottom < before.bottom
    return is_below and abs(line.left - before.left) > _INDENTED * line.size


def _joined(lines: Sequence[Line]) -> str:
    """Return lines as running text; a word that was cut at the end of a line is whole again."""
    text = ""
    for line in lines:
        text = join_text(text, line.text)
    return collapse_spaces(text)
