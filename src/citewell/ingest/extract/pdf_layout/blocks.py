"""Paragraphs, headings, tables and code of a PDF, from its lines."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from citewell.ingest.extract.characters import collapse_spaces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citewell.ingest.extract.pdf_layout.lines import Line

BlockKind = Literal["heading", "paragraph", "table", "code", "item"]

_HEADING_RATIO = 1.12
_MAX_HEADING_CHARACTERS = 160
_MAX_LEVEL = 4
_PARAGRAPH_GAP = 0.75
_MIN_TABLE_ROWS = 2
_ALIGNED_POINTS = 8.0
# The dots between a title and its page in a table of contents.
_LEADERS = re.compile(r" ?[.…·](?: ?[.…·]){3,} ?")
_DIGITS = re.compile(r"\d+")
_HYPHENATED = re.compile(r"[^\W\d_]-$")
_ITEM = re.compile(r"(?:[•‣▪◦●–-]|\(?\d{1,2}[.)]|\(?[a-z][.)])$")
_SENTENCE_END = re.compile(r"[.!?:;。！？][\"'”’)\]]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
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
    blocks: list[Block] = []
    place = 0
    while place < len(lines):
        line = lines[place]
        level = _heading_level(line, outline, levels)
        end = place + 1
        if _is_contents(line):
            text = f"- {_LEADERS.sub(' … ', line.text)}"
            blocks.append(Block(kind="item", text=text, page=line.page))
        elif level:
            while end < len(lines) and _goes_on_as_heading(lines[end - 1], lines[end], body):
                end += 1
            text = " ".join(one.text for one in lines[place:end])
            blocks.append(Block(kind="heading", text=text, page=line.page, level=level))
        elif line.is_mono:
            while end < len(lines) and lines[end].is_mono and lines[end].page == line.page:
                end += 1
            text = _code(lines[place:end])
            blocks.append(Block(kind="code", text=text, page=line.page))
        elif (end := _table_end(lines, place)) > place:
            blocks.append(Block(kind="table", text=_table(lines[place:end]), page=line.page))
        else:
            end = _paragraph_end(lines, place, outline, levels)
            kind: BlockKind = "item" if _ITEM.match(line.words[0].text) else "paragraph"
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
    return line.text.strip("-–— ").isdigit()


def _is_running_head(line: Line, offsets: Counter[int | None], often: float) -> bool:
    """Return whether a line has the number of the page, beside the name of a chapter or alone."""
    offset = _offset(line)
    return offset is not None and offsets[offset] >= often


def _offset(line: Line) -> int | None:
    """Return by how much the number at either end of a line differs from the page's place."""
    ends = (line.words[-1].text, line.words[0].text)
    numbers = [int(end) for end in ends if end.isdecimal() and len(end) <= 4]
    return numbers[0] - line.page if numbers else None


def _is_contents(line: Line) -> bool:
    return line.text.count(".") >= 4 and bool(_LEADERS.search(line.text))


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


def _heading_level(
    line: Line, outline: Mapping[tuple[int, str], int], levels: Mapping[float, int]
) -> int:
    if len(line.text) > _MAX_HEADING_CHARACTERS or len(line.cells) > 2 or _is_contents(line):
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
    is_close = 0 <= line.bottom - following.top < 0.8 * line.size and following.page == line.page
    return (
        is_alike and is_close and line.size >= _HEADING_RATIO * body and len(following.cells) == 1
    )


def _code(lines: Sequence[Line]) -> str:
    """Return lines of code with the indentation that their places show."""
    start = min(line.left for line in lines)
    widths = [(word.right - word.left) / len(word.text) for line in lines for word in line.words]
    width = sorted(widths)[len(widths) // 2] or 1.0
    text: list[str] = []
    for line in lines:
        row = ""
        for word in line.words:
            column = round((word.left - start) / width)
            row = f"{row}{' ' * max(column - len(row), 1 if row else 0)}{word.text}"
        text.append(row)
    return "\n".join(text)


def _table_end(lines: Sequence[Line], place: int) -> int:
    """Return the line after a table that starts at a place; the place itself if none does."""
    first = lines[place]
    if len(first.cells) < 2:
        return place
    columns = _columns(lines[place : place + 2])
    end = place + _has_centred_head(lines[place : place + 2])
    while end < len(lines) and lines[end].page == first.page:
        cells = lines[end].cells
        starts = [
            any(abs(cell.left - left) <= _ALIGNED_POINTS for left in columns) for cell in cells
        ]
        if len(cells) < 2 or not all(starts) or _is_contents(lines[end]):
            break
        end += 1
    return end if end - place >= _MIN_TABLE_ROWS else place


def _columns(rows: Sequence[Line]) -> list[float]:
    """Return where the columns of a table begin, by its first two rows."""
    row = rows[1] if _has_centred_head(rows) else rows[0]
    return [cell.left for cell in row.cells]


def _has_centred_head(rows: Sequence[Line]) -> bool:
    """Return whether the first of two rows has a bold title within each column of the second."""
    if len(rows) < 2 or not rows[0].is_bold or rows[0].page != rows[1].page:
        return False
    lefts = [cell.left for cell in rows[1].cells]
    if len(lefts) < 2 or len(rows[0].cells) != len(lefts):
        return False
    ends = [*lefts[1:], float("inf")]
    return all(
        left - _ALIGNED_POINTS <= cell.left < end
        for cell, left, end in zip(rows[0].cells, lefts, ends, strict=True)
    )


def _table(lines: Sequence[Line]) -> str:
    columns = _columns(lines[:2])
    rows: list[str] = []
    body = lines
    if _has_centred_head(lines[:2]):
        titles = [cell.text.replace("|", "\\|") for cell in lines[0].cells]
        rows.append(f"| {' | '.join(titles)} |")
        body = lines[1:]
    for line in body:
        row = [""] * len(columns)
        for cell in line.cells:
            nearest = min(range(len(columns)), key=lambda i: abs(columns[i] - cell.left))
            row[nearest] = f"{row[nearest]} {cell.text}".strip().replace("|", "\\|")
        rows.append(f"| {' | '.join(row)} |")
    rows.insert(1, f"|{' --- |' * len(columns)}")
    return "\n".join(rows)


def _paragraph_end(
    lines: Sequence[Line],
    place: int,
    outline: Mapping[tuple[int, str], int],
    levels: Mapping[float, int],
) -> int:
    end = place + 1
    width = max(line.right - line.left for line in lines[place : place + 8])
    while end < len(lines):
        before, line = lines[end - 1], lines[end]
        if _heading_level(line, outline, levels) or line.is_mono or _is_contents(line):
            break
        if len(line.cells) > 1 and _table_end(lines, end) > end:
            break
        if _starts_paragraph(before, line, width):
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
    return len(line.words) > 1 and bool(_ITEM.match(line.words[0].text))


def _joined(lines: Sequence[Line]) -> str:
    """Return lines as running text; a word that was cut at the end of a line is whole again."""
    text = ""
    for line in lines:
        is_cut = bool(_HYPHENATED.search(text)) and line.text[:1].islower()
        text = text[:-1] + line.text if is_cut else f"{text} {line.text}"
    return collapse_spaces(text)
