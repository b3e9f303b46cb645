"""The visible words of a page around a quote, and what a browser compares them with."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from citewell.core.visible_text import extract_visible_text, open_fences

if TYPE_CHECKING:
    from citewell.core.folding import FoldedText
    from citewell.core.text import Span

FIRST_CJK = "\u2e80"
# A word without the punctuation around it. CJK text has no spaces: a browser takes any of these
# characters for the end of a word.
_WORD = re.compile(r"\w(?:[^\s、。，．！？；：「」『』（）【】]*\w)?")
# Within such a run, a word ends where the script changes, except before the ending of a verb.
_ENDS_WORD = re.compile(
    "[\u3040-\u309f][^\u3040-\u309f]|[\u30a0-\u30ff][^\u30a0-\u30ff]|[\u4e00-\u9fff][\u30a0-\u30ff]"
)
_CONTEXT_LINES = 6
_LINE_END = re.compile("\n")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
# Up to so many characters are replaced one by one sooner than a table translates all of a page.
_FEW_FOLDED = 20
# Both patterns begin with a plain character or class, which the search skips to.
_LINE_MARKS = re.compile(
    r"\n(?:[ \t>]{0,20}+(?:`{3,}+|~{3,}+)[^\n]*+"
    r"|[ \t]{0,20}+(?:[-+*]|\#{1,6}+|\d{1,3}+[.)])(?=[ \t])"
    # The bars of tables are spaces here: what is left of the line below a header.
    r"|[ \t:]{0,200}+-[ \t:-]{2,5000}+(?=\n|\Z))"
)
_INLINE_MARKS = re.compile(
    r"[]:`*[\\~](?:(?<=\])\([^()\s]{0,20000}+\)|(?<=[`*[\\])|(?<=~)~"
    # The colon after a term is Markdown's.
    r"|(?<=\*\*:)(?=[ \n]))"
)
_LINKED = re.compile(r"\[([^\[\]\n]{1,2000}+)\]\(")
_CODE = re.compile(r"(?<!`)(`{1,3}+)[^`\n]{1,2000}+\1(?!`)")
_BACK_LINK = "[docs]"
# Outside of code these may be the page's own or Markdown's.
_UNSURE = re.compile(r"[*^\\]|~~")


@dataclass(frozen=True, slots=True)
class PageWords:
    """The visible words around a quote; spans of terms count the characters of `text`."""

    text: str
    """Block by block, one to a line, …"""
    folded: str
    """… the same as a browser compares it, character by character, …"""
    spans: list[Span]
    """… where its words stand, without punctuation at either end, …"""
    lines: list[int]
    """… the line that each word is of, …"""
    sources: list[Span]
    """… where each word stands in the canonical text, …"""
    links: list[Span]
    """… where the text of links stands in that, …"""
    marks: list[str]
    """… what the canonical line of each word begins with, …"""
    fenced: list[int]
    """… which block of code each word is in, from 1 on, or 0: a browser takes it as one, …"""
    unsure: list[bool]
    """… whether it may not read so on the page, …"""
    above: str
    """… and all that the page has before, folded, without the marks of Markdown."""


def words_around(text: str, start: int, end: int) -> PageWords:
    """Return the words of a slice of canonical text, and of some lines before and after it."""
    page = _page_lines(text)
    first = max(0, bisect_right(page.starts, start) - 1 - _CONTEXT_LINES)
    last = min(len(page.starts) - 1, bisect_left(page.starts, end) + _CONTEXT_LINES)
    offset = page.starts[first]
    window = text[offset : page.starts[last]] if last > first else text[offset:]
    visible = extract_visible_text(window, fence=page.fences[first])
    spans: list[Span] = []
    lines: list[int] = []
    line, position = 0, 0
    for match in _WORD.finditer(visible.text):
        word = match.span()
        line += visible.text.count("\n", position, word[0])
        position = word[0]
        for part in _cut_at(word, visible, start - offset, end - offset):
            spans.append(part)
            lines.append(line)
    sources = visible.spans(spans)
    codes = [match.span() for match in _CODE.finditer(window)]
    page_lines = [bisect_right(page.starts, begin + offset) - 1 for begin, _ in sources]
    fenced = [page.programs[line] for line in page_lines]
    is_sure = _UNSURE.search(visible.text) is None and _BACK_LINK not in visible.text
    return PageWords(
        text=visible.text,
        folded=_fold(visible.text, page.folding),
        spans=spans,
        lines=lines,
        sources=[(begin + offset, stop + offset) for begin, stop in sources],
        links=[
            (match.start(1) + offset, match.end(1) + offset) for match in _LINKED.finditer(window)
        ],
        marks=[text[page.starts[line]] for line in page_lines],
        fenced=fenced,
        unsure=[
            not is_sure
            and _is_unsure(visible.text, span, is_code=bool(program) or lies_in(codes, *source))
            for span, source, program in zip(spans, sources, fenced, strict=True)
        ],
        above=page.stripped[: page.stripped_starts[first]],
    )


def _is_unsure(text: str, span: Span, *, is_code: bool) -> bool:
    # Sphinx shows this link apart from the line that it stands before.
    is_link = text.startswith(_BACK_LINK, span[0] - 1)
    return is_link or (not is_code and _UNSURE.search(text, *span) is not None)


def _cut_at(word: Span, visible: FoldedText, *places: int) -> list[Span]:
    """Return the parts of a run of CJK text that a quote begins or ends within."""
    if visible.text[word[0]] < FIRST_CJK:
        return [word]
    begin, stop = visible.span(*word)
    if stop - begin != word[1] - word[0]:
        return [word]
    cuts = [word[0] + place - begin for place in places if begin < place < stop]
    sure = [cut for cut in cuts if _ENDS_WORD.match(visible.text, cut - 1)]
    return list(pairwise([word[0], *sure, word[1]]))


def lies_in(spans: list[Span], start: int, end: int) -> bool:
    """Return whether one of the spans, which are in order, holds all from `start` to `end`."""
    place = bisect_right(spans, start, key=lambda span: span[0]) - 1
    return place >= 0 and end <= spans[place][1]


@dataclass(frozen=True, slots=True)
class _PageLines:
    """A page, line by line: where each begins, and which code fence and program is open there."""

    starts: list[int]
    fences: list[str]
    programs: list[int]
    stripped: str
    stripped_starts: list[int]
    folding: dict[str, str]


@lru_cache(maxsize=8)
def _page_lines(text: str) -> _PageLines:
    folding = _folding_of(text)
    stripped = _fold(strip_marks(text), folding)
    starts = _line_starts(text)
    fences = open_fences(text, starts)
    begins = accumulate(bool(fence) and not before for before, fence in pairwise(["", *fences]))
    return _PageLines(
        starts=starts,
        fences=fences,
        programs=[number if fence else 0 for number, fence in zip(begins, fences, strict=True)],
        stripped=stripped,
        stripped_starts=_line_starts(stripped),
        folding=folding,
    )


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def strip_marks(text: str) -> str:
    """Return text without the marks of Markdown, in a hurry, each line in its place."""
    lines = _LINE_MARKS.sub("\n", "\n" + text.replace("|", " "))
    return _INLINE_MARKS.sub("", lines[1:])


def _folding_of(text: str) -> dict[str, str]:
    """Return what a browser takes the characters of `text` for that are not ASCII, if different."""
    table: dict[str, str] = {}
    for character in set(_NOT_ASCII.findall(text)):
        plain = unicodedata.normalize("NFKD", character)[:1].lower()
        if len(plain) == 1 and plain != character:
            table[character] = plain
    return table


def _fold(text: str, folding: dict[str, str]) -> str:
    """Return text without case and accents, each character in its place."""
    if text.isascii():
        return text.lower()
    if len(folding) > _FEW_FOLDED:
        return text.translate({ord(letter): plain for letter, plain in folding.items()}).lower()
    for character, plain in folding.items():
        text = text.replace(character, plain)
    return text.lower()


def joins_words(character: str) -> bool:
    """Return whether a character is part of a word."""
    return character.isalnum() or character == "_"
