"""Cutting a page into chunks: the spans that are embedded and searched.

A section is first taken apart into pieces that stay whole (a sentence, a list item's line, a table
row, a code block), then neighbouring pieces are put together up to the size aimed at.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from citewell.core.records import Chunk
from citewell.core.text import as_read
from citewell.core.tokens import count_tokens
from citewell.ingest.site_lines import content_span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.core.records import ExtractedPage, Section

AIMED_TOKENS = 200
MAX_TOKENS = 320

_FENCE_MARK = r"[ >]*+(?:(?:[-*+]|\d++[.)]) ++)*+(`{3,}+(?=[^`\n]*$)|~{3,}+)"
_FENCE = re.compile(_FENCE_MARK, re.MULTILINE)
_CODE_LINE = re.compile(f"^{_FENCE_MARK}", re.MULTILINE)
# Beside the declarations of rustdoc: "1.40.0 · [Source](…)".
_SOURCE_LINE = re.compile(r"(?:\S+ · )?\[[Ss]ource\]\(\S+\)")
_LIST_ITEM = re.compile(r"[ >]*(?:[-*+]|\d+[.)]) ")
_SENTENCE_END = re.compile(
    r"[.!?…][\"'”’)\]*_]*\s+(?=[\"'“‘(\[*_`]*[^\Wa-z_])|[。！？][」』）”\"')]*\s*"
)
_LONG_LINE_TOKENS = 90
# A longer section has more than a heading or a signature.
_MAX_BARE_CHARACTERS = 1_000
_MAX_LEAD_IN_CHARACTERS = 240
# More than that before a code block or a row says something of its own.
_MAX_LEAD_IN_TOKENS = 90
# A longer section hardly ever fits into one chunk.
_SHORT_SECTION_CHARACTERS = 4 * MAX_TOKENS
# A line without sentence ends is cut between words, one without spaces anywhere.
_HARD_CUT_CHARACTERS = 900
# About one match a token: short words, groups of digits, signs, each letter of other scripts.
_TOKEN = re.compile(r"[A-Za-z]{1,9}|[^\x00-\x7f]|\d{1,3}|[!-/:-@\[-`{-~]{1,2}|\n")


class _Break(IntEnum):
    """How good a place is for a cut, right before a piece."""

    NEVER = 0
    LINE = 1
    SENTENCE = 2
    ITEM = 3
    PARAGRAPH = 4


@dataclass(slots=True)
class _Piece:
    start: int
    end: int
    tokens: int
    before: _Break
    is_code: bool = False


@dataclass(slots=True)
class _Span:
    section: Section
    start: int
    end: int
    has_code: bool


def chunk_page(page: ExtractedPage, *, repeated: frozenset[int] = frozenset()) -> tuple[Chunk, ...]:
    """Return the chunks of a page, in order; none of lines at its edges that are `repeated`.

    Each belongs to one section and none overlap. Together they hold all text but white space and
    headings that have only other headings below them: those are in the heading paths of what
    follows. A section that only announces the next one is part of its chunk. Several headings or
    signatures in a row with nothing below them are one chunk, which belongs to the first of their
    sections.
    """
    chunks: list[Chunk] = []
    first, last = content_span(page.text, repeated)
    for span in _page_spans(page):
        low, high = max(span.start, first), min(span.end, last)
        start, end = _trimmed(page.text, low, high) if low < high else (0, 0)
        if start == end:
            continue
        text = page.text[start:end]
        path = page.heading_path(span.section.ordinal)
        chunks.append(
            Chunk(
                ordinal=len(chunks),
                section=span.section.ordinal,
                start=start,
                end=end,
                text=text,
                tokens=count_tokens(text),
                heading_path=path,
                anchor=span.section.anchor,
                embedded_text=_embedded_text(page.title, path, text),
                has_code=span.has_code,
            )
        )
    return tuple(chunks)


def _page_spans(page: ExtractedPage) -> list[_Span]:
    """Return where each chunk starts and ends."""
    spans: list[_Span] = []
    bare: list[Section] = []
    for section in page.sections:
        if _is_bare(page.text, section):
            bare.append(section)
            continue
        alone = bare[: len(bare) - _count_above(page.text, bare, section)]
        start = section.start
        if len(alone) == 1 or (alone and _goes_on(page.text, alone, section)):
            # Headings with nothing below them are no chunk.
            start = alone[0].start
        else:
            spans.extend(_runs_of_headings(page.text, alone))
        bare = []
        for low, high, has_code in _spans(page.text, section):
            spans.append(_Span(section, min(start, low), high, has_code))
            start = high
    if len(bare) == 1 and spans:
        # Nothing follows a heading at the end of a page.
        spans[-1].end = bare[0].end
    else:
        spans.extend(_runs_of_headings(page.text, bare))
    return spans


def _goes_on(text: str, bare: list[Section], section: Section) -> bool:
    """Return whether a section says more on the few bare ones before it, which begin above it."""
    is_below = not section.heading or bare[0].level < section.level
    return is_below and _estimate(text[bare[0].start : section.start]) < AIMED_TOKENS / 2


def _is_bare(text: str, section: Section) -> bool:
    """Return whether a section is only its heading, its signature or a lead-in."""
    if not section.level or section.end - section.start > _MAX_BARE_CHARACTERS:
        return False
    lines = _said_below_heading(text, section)
    return not lines or (len(lines) == 1 and _is_lead_in(lines[0]))


def _said_below_heading(text: str, section: Section) -> list[str]:
    """Return the lines of a section that are neither heading, signature nor link to its source."""
    return [line for line in text[section.start : section.end].split("\n") if _says_more(line)]


def _says_more(line: str) -> bool:
    if not line or line[0] == "#" or (line[:2] == "**" and line.endswith("**")):
        return False
    return _SOURCE_LINE.fullmatch(line) is None


def _is_lead_in(line: str) -> bool:
    """Return whether a line only announces what follows it: "It has these methods:"."""
    return len(line) <= _MAX_LEAD_IN_CHARACTERS and line.rstrip("*")[-1:] in (":", "：")


def _count_above(text: str, bare: list[Section], section: Section) -> int:
    """Return how many of the bare sections right before a section are only headings above it."""
    count = 0
    level = section.level
    while (
        count < len(bare)
        and bare[-1 - count].level < level
        and not _said_below_heading(text, bare[-1 - count])
    ):
        count += 1
        level = bare[-count].level
    return count


def _runs_of_headings(text: str, bare: list[Section]) -> Iterator[_Span]:
    """Yield bare sections in a row together, up to the size aimed at; none is left alone."""
    span: _Span | None = None
    for place, section in enumerate(bare):
        is_full = span is not None and _estimate(text[span.start : section.end]) > AIMED_TOKENS
        if span is not None and is_full and place + 1 < len(bare):
            yield span
            span = None
        if span is None:
            span = _Span(section, section.start, section.end, has_code=False)
        span.end = section.end
    if span is not None:
        yield span


def _spans(text: str, section: Section) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of each chunk of a section, and whether it holds code."""
    start, end = section.start, section.end
    if end - start <= _SHORT_SECTION_CHARACTERS and _estimate(text[start:end]) <= MAX_TOKENS:
        # Most sections are one chunk: taking them apart would only put them together again.
        yield start, end, _CODE_LINE.search(text, start, end) is not None
        return
    for group in _group(list(_pieces(text, section))):
        yield group[0].start, group[-1].end, any(piece.is_code for piece in group)


def _group(pieces: list[_Piece]) -> Iterator[list[_Piece]]:
    """Put neighbouring pieces together, cutting at the best places near the size aimed at."""
    remaining = sum(piece.tokens for piece in pieces)
    if remaining <= MAX_TOKENS:
        if pieces:
            yield pieces
        return
    group: list[_Piece] = []
    size = 0
    for piece in pieces:
        if group and size + remaining > MAX_TOKENS and _cut_before(piece, size):
            announcing = _announcing(group, piece)
            yield group[: len(group) - len(announcing)]
            group, size = announcing, sum(part.tokens for part in announcing)
        group.append(piece)
        size += piece.tokens
        remaining -= piece.tokens
    yield group


def _announcing(group: list[_Piece], piece: _Piece) -> list[_Piece]:
    """Return the last pieces of a group that go with the next one: its lead-in, a table's head."""
    if piece.before is not _Break.NEVER:
        return []
    start = len(group) - 1
    while start > 0 and group[start].before is _Break.NEVER:
        start -= 1
    is_short = sum(part.tokens for part in group[start:]) <= _MAX_LEAD_IN_TOKENS
    return group[start:] if start > 0 and is_short else []


def _cut_before(piece: _Piece, size: int) -> bool:
    if size + piece.tokens > MAX_TOKENS:
        # A heading, a table's head and a sentence that announces code go with what follows.
        return piece.before is not _Break.NEVER or size > MAX_TOKENS / 2
    wanted = {
        _Break.NEVER: MAX_TOKENS,
        _Break.LINE: AIMED_TOKENS + 60,
        _Break.SENTENCE: AIMED_TOKENS + 30,
        _Break.ITEM: AIMED_TOKENS - 10,
        _Break.PARAGRAPH: AIMED_TOKENS - 40,
    }
    return size >= wanted[piece.before]


def _pieces(text: str, section: Section) -> Iterator[_Piece]:
    at = section.start
    before = _Break.NEVER
    announces = False
    while at < section.end:
        line_end = _line_end(text, at, section.end)
        line = text[at:line_end]
        words = line.strip()
        fence = _FENCE.match(line) if "```" in words or "~~~" in words else None
        if not words:
            before = _Break.NEVER if before is _Break.NEVER else _Break.PARAGRAPH
            at = line_end
            continue
        if announces:
            before = _Break.NEVER
        if fence:
            end = _fence_end(text, line_end, limit=section.end, marks=fence.group(1))
            yield from _code_pieces(text, at, end, before=before)
            at, before, announces = end, _Break.PARAGRAPH, False
            continue
        yield from _line_pieces(line, at, before=_before_line(line, words, before))
        is_heading = at == section.start and words[0] == "#"
        is_table_head = words[0] == "|" and not text.startswith("|", max(at - 2, 0), at)
        announces = words[-1] in ":：" or (words[:2] == "**" and words.endswith("**"))
        before = _Break.NEVER if is_heading or is_table_head or _is_rule(words) else _Break.LINE
        at = line_end


def _before_line(line: str, words: str, before: _Break) -> _Break:
    if before is not _Break.LINE:
        return before
    if words[0] == "|":
        return _Break.SENTENCE
    return _Break.ITEM if _LIST_ITEM.match(line) else before


def _is_rule(words: str) -> bool:
    return words.startswith("|-") and not words.strip("|-: ")


def _line_end(text: str, at: int, limit: int) -> int:
    end = text.find("\n", at, limit)
    return limit if end < 0 else end + 1


def _fence_end(text: str, at: int, *, limit: int, marks: str) -> int:
    """Return where a code block ends, its closing fence included; an open one ends at `limit`."""
    while at < limit:
        end = _line_end(text, at, limit)
        words = text[at:end].strip(" >\n")
        if words.startswith(marks) and not words.strip(marks[0]):
            return end
        at = end
    return limit


def _code_pieces(text: str, start: int, end: int, *, before: _Break) -> Iterator[_Piece]:
    whole = _estimate(text[start:end])
    if whole <= MAX_TOKENS:
        yield _Piece(start, end, whole, before, is_code=True)
        return
    at = start
    while at < end:
        line_end = _line_end(text, at, end)
        for piece in _line_pieces(text[at:line_end], at, before=before, cuts_sentences=False):
            piece.is_code = True
            yield piece
        at, before = line_end, _Break.LINE
    # The opening fence is never left alone: _Break.LINE asks for more than a line before a cut.


def _line_pieces(
    line: str, offset: int, *, before: _Break, cuts_sentences: bool = True
) -> Iterator[_Piece]:
    tokens = _estimate(line)
    is_row = line.lstrip().startswith("|")
    if tokens <= _LONG_LINE_TOKENS or (is_row and tokens <= MAX_TOKENS):
        yield _Piece(offset, offset + len(line), tokens, before)
        return
    ends = [match.end() for match in _SENTENCE_END.finditer(line)] if cuts_sentences else []
    if is_row:
        ends = []
    start = 0
    for end in (*ends, len(line)):
        if end <= start:
            continue
        for low, high in _hard_cuts(line, start, end, is_row=is_row):
            yield _Piece(offset + low, offset + high, _estimate(line[low:high]), before)
            before = _Break.SENTENCE if high == end else _Break.LINE
        start = end


def _hard_cuts(line: str, start: int, end: int, *, is_row: bool) -> Iterator[tuple[int, int]]:
    # A table row is never cut, however long.
    if is_row or (end - start <= _HARD_CUT_CHARACTERS and _estimate(line[start:end]) <= MAX_TOKENS):
        yield start, end
        return
    limit = _HARD_CUT_CHARACTERS if line.isascii() else _HARD_CUT_CHARACTERS // 3
    while end - start > limit:
        space = line.rfind(" ", start + limit // 2, start + limit)
        cut = space + 1 if space >= 0 else start + limit
        yield start, cut
        start = cut
    yield start, end


def _estimate(text: str) -> int:
    """Return about how many tokens `text` is; counting exactly is left to whole chunks."""
    # Runs of white space have no match, yet a chunk must not be made of a megabyte of them.
    return max(len(_TOKEN.findall(text)), len(text) // 16)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without blank lines at its ends; a first line keeps its indentation."""
    words = text[start:end]
    end = start + len(words.rstrip())
    lead = len(words) - len(words.lstrip())
    newline = text.rfind("\n", start, min(start + lead, end))
    return (newline + 1 if newline >= 0 else start), max(end, start)


def _embedded_text(title: str, path: tuple[str, ...], text: str) -> str:
    """Return "title › heading path" and the chunk's words, link targets left out."""
    trail = path if path and path[0] == title else (title, *path)
    return " › ".join(part for part in trail if part) + "\n" + as_read(text)
