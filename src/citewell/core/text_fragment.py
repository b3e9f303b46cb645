"""Links that open a page at a quote: `url#anchor:~:text=prefix-,start,end,-suffix`.

Built by the WICG's URL Fragment Text Directives. A browser highlights the first stretch of the page
that fits, ignoring case and accents: `start` and `end` each lie within one block (a paragraph, a
cell, a line of code) and begin and end at a word; anything may stand between the two. So the terms
are taken from the visible words of canonical Markdown, and grown until they fit the quote first.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote as percent_encode

from citewell.core.visible_text import open_fences, read_visible_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.core.text import Span

DIRECTIVE = ":~:text="
# A quote this short is its own term; a longer one is named by its first and last words.
_WHOLE_CHARACTERS = 32
_TERM_WORDS = (3, 5, 8, 12, 20)
_CONTEXT_WORDS = (2, 4, 8)
# What CJK text, which has no spaces, is cut at: a browser takes any of these for the end of a word.
_WORD = re.compile(r"[^\s、。，．！？；：「」『』（）【】]+")
_FIRST_CJK = "\u2e80"
_CJK_CHARACTERS_PER_WORD = 3
_MOST_SPACE = 40
_CONTEXT_LINES = 6
_WHITE_SPACE = re.compile(r"\s")
_LINE_END = re.compile("\n")
_MARKS = re.compile(
    r"^[ \t>]{0,20}+(?:`{3,}+|~{3,}+)[^\n]*+|^[ \t]{0,20}+(?:[-+*]|\#{1,6}+|\d{1,3}+[.)])(?=[ \t])"
    r"|\]\([^()\s]{0,2000}+\)|[`*\[\\|]|~~",
    re.MULTILINE,
)
_LINKED = re.compile(r"\[([^\[\]\n]{1,2000}+)\]\(")
# Marks that may be the page's own or Markdown's, and formulas, which the page writes otherwise.
_UNSURE = re.compile(r"[*^\\\ufffc]|~~|\$\S")
# Others than these could end a link, or mean something in Markdown or in the directive.
_LITERAL = "/:;=?@!$+"


@dataclass(frozen=True, slots=True)
class _Words:
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
    above: str
    """… and all that the page has before, folded, without the marks of Markdown."""


def link_to_quote(url: str, anchor: str | None, text: str, start: int, end: int) -> str:
    """Return a link that opens a page and highlights its canonical `text` from `start` to `end`.

    Where no short fragment names the quote alone, the link leads to its section.
    """
    fragment = text_fragment(text, start, end)
    if fragment is None:
        return link_to_section(url, anchor)
    return f"{link_to_section(url, anchor) if anchor else url + '#'}{DIRECTIVE}{fragment}"


def link_to_section(url: str, anchor: str | None) -> str:
    """Return a link to the section of a page that has the anchor; to the page without one."""
    return f"{url}#{_WHITE_SPACE.sub('%20', anchor)}" if anchor else url


def text_fragment(text: str, start: int, end: int) -> str | None:
    """Return the text directive of a slice of canonical text; None when nothing short is unique."""
    words = _words_around(text, start, end)
    first = bisect_right(words.sources, start, key=lambda span: span[1])
    last = bisect_left(words.sources, end, key=lambda span: span[0]) - 1
    while first <= last and _is_unsure(words, first):
        first += 1
    while last >= first and _is_unsure(words, last):
        last -= 1
    if first > last:
        return None
    whole = _term(words, first, last)
    if words.lines[first] == words.lines[last] and whole[1] - whole[0] <= _WHOLE_CHARACTERS:
        return _name_whole(words, first, last)
    return _name_ends(words, first, last)


def _name_whole(words: _Words, first: int, last: int) -> str | None:
    for before, after in (0, 0), (2, 0), (0, 2), (2, 2), (4, 4), (8, 8):
        term = _term(words, first, last)
        term = _from_line_start(words, term, first) if before else term
        prefix, suffix = _before(words, term, first, before), _after(words, last, after)
        if _fits_first(words, term, prefix=prefix, suffix=suffix):
            return _write(words, prefix, term, None, suffix)
    return None


def _name_ends(words: _Words, first: int, last: int) -> str | None:
    opening = _choose_start(words, first, last)
    while opening is None:
        # What opens a program may open others: the highlight then begins some lines below.
        first = bisect_right(words.lines, words.lines[first])
        if first > last:
            return None
        if not _is_unsure(words, first):
            opening = _choose_start(words, first, last)
    prefix, start, reached = opening
    if reached == last:
        return _write(words, prefix, start, None, None)
    terms = list(_terms_back(words, last, after=reached))
    for end in terms:
        if _fits_first(words, end, after=start[1]):
            return _write(words, prefix, start, end, None)
    for count in _CONTEXT_WORDS:
        suffix = _after(words, last, count)
        if _fits_first(words, terms[0], suffix=suffix, after=start[1]):
            return _write(words, prefix, start, terms[0], suffix)
    # The browser then ends the highlight at an earlier place of the quote that reads the same.
    return _write(words, prefix, start, terms[0], None)


def _choose_start(words: _Words, first: int, last: int) -> tuple[Span | None, Span, int] | None:
    """Return the shortest term that the page has here first, its prefix and its last word."""
    ends = [_advance(words, first, last, count) for count in _TERM_WORDS]
    for end in ends:
        # Menus, which canonical text leaves out, have the same link before the quote.
        is_link = _is_inside_link(words, first, end) and end < ends[-1]
        term = _term(words, first, end)
        if not is_link and _fits_first(words, term):
            return None, term, end
    for count in _CONTEXT_WORDS:
        for end in ends[0], ends[-1]:
            term = _from_line_start(words, _term(words, first, end), first)
            prefix = _before(words, term, first, count)
            if prefix is not None and _fits_first(words, term, prefix=prefix):
                return prefix, term, end
    return None


def _terms_back(words: _Words, last: int, *, after: int) -> Iterator[Span]:
    """Give the terms that end at word `last`, shortest first, beginning behind word `after`."""
    for count in _TERM_WORDS:
        first, weight = last, _weight(words, last)
        while (
            weight < count
            and first - 1 > after
            and words.lines[first - 1] == words.lines[last]
            and not _is_unsure(words, first - 1)
        ):
            first -= 1
            weight += _weight(words, first)
        yield _term(words, first, last)


def _advance(words: _Words, first: int, last: int, count: int) -> int:
    """Return the last word of a term of about `count` words from `first` on, within its line."""
    end, weight = first, _weight(words, first)
    while (
        weight < count
        and end < last
        and words.lines[end + 1] == words.lines[first]
        and not _is_unsure(words, end + 1)
    ):
        end += 1
        weight += _weight(words, end)
    return end


def _before(words: _Words, term: Span, first: int, count: int) -> Span | None:
    """Return up to `count` words that stand right before a term, on one line."""
    begin = first
    while (
        first - begin < count
        and begin > 0
        and (begin == first or words.lines[begin - 1] == words.lines[first - 1])
        and not _is_unsure(words, begin - 1)
    ):
        begin -= 1
    return None if begin == first else _within_line(words, words.spans[begin][0], term[0])


def _from_line_start(words: _Words, term: Span, first: int) -> Span:
    """Return the term with the punctuation that its line begins with: a prefix must touch it."""
    if first > 0 and words.lines[first - 1] == words.lines[first]:
        return term
    opening = _within_line(words, words.text.rfind("\n", 0, term[0]) + 1, term[0])
    return (term[0] if opening is None else opening[0]), term[1]


def _after(words: _Words, last: int, count: int) -> Span | None:
    first = last + 1
    if not count or first >= len(words.spans) or _is_unsure(words, first):
        return None
    end = _advance(words, first, len(words.spans) - 1, count)
    return _within_line(words, words.spans[last][1], words.spans[end][1])


def _within_line(words: _Words, start: int, end: int) -> Span | None:
    """Return the span without white space around it; None when it crosses lines all the same."""
    text = words.text
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end and "\n" not in text[start:end] else None


def _fits_first(
    words: _Words,
    term: Span,
    *,
    prefix: Span | None = None,
    suffix: Span | None = None,
    after: int = 0,
) -> bool:
    """Return whether a browser that looks for the term, from `after` on, finds it where it is."""
    text = words.folded
    wanted, before, behind = (
        "" if span is None else text[slice(*span)] for span in (term, prefix, suffix)
    )
    if not after and _occurs(_strip(wanted), words.above, _strip(before), _strip(behind)):
        return False
    return not _occurs(wanted, text, before, behind, after=after, until=term[0])


def _occurs(
    wanted: str, text: str, before: str, behind: str, *, after: int = 0, until: int | None = None
) -> bool:
    """Return whether `wanted` begins in `text` before `until`, with the given words around it."""
    place = text.find(wanted, after)
    while place >= 0 and (until is None or place < until):
        end = place + len(wanted)
        reach = place - len(before) - _MOST_SPACE
        if (
            _is_whole(text, place, end)
            and text[max(reach, 0) : place].rstrip().endswith(before)
            and text[end : end + len(behind) + _MOST_SPACE].lstrip().startswith(behind)
        ):
            return True
        place = text.find(wanted, place + 1)
    return False


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether words begin at `start` and end at `end`; in CJK text any place may be so."""
    opens = start == 0 or not (_is_latin(text[start - 1]) and _is_latin(text[start]))
    return opens and (end == len(text) or not (_is_latin(text[end - 1]) and _is_latin(text[end])))


def _is_latin(character: str) -> bool:
    return character < _FIRST_CJK and _joins(character)


def _joins(character: str) -> bool:
    return character.isalnum() or character == "_"


def _write(
    words: _Words, prefix: Span | None, start: Span, end: Span | None, suffix: Span | None
) -> str:
    parts = [_encode(words.text[slice(*start)])]
    if prefix is not None:
        parts.insert(0, _encode(words.text[slice(*prefix)]) + "-")
    if end is not None:
        parts.append(_encode(words.text[slice(*end)]))
    if suffix is not None:
        parts.append("-" + _encode(words.text[slice(*suffix)]))
    return ",".join(parts)


def _encode(term: str) -> str:
    """Return a term percent-encoded; letters of any script stay as they are, and legible."""
    return "".join(
        character if character.isalnum() else percent_encode(character, safe=_LITERAL)
        for character in term
    ).replace("-", "%2D")


def _term(words: _Words, first: int, last: int) -> Span:
    return words.spans[first][0], words.spans[last][1]


def _weight(words: _Words, word: int) -> int:
    """Return how many words a run of characters counts for."""
    start, end = words.spans[word]
    if words.text[start] < _FIRST_CJK:
        return 1
    return max(1, (end - start) // _CJK_CHARACTERS_PER_WORD)


def _is_unsure(words: _Words, word: int) -> bool:
    start, end = words.spans[word]
    return _UNSURE.search(words.text, start, end) is not None


def _is_inside_link(words: _Words, first: int, last: int) -> bool:
    start, end = words.sources[first][0], words.sources[last][1]
    place = bisect_right(words.links, start, key=lambda span: span[0]) - 1
    return place >= 0 and end <= words.links[place][1]


def _words_around(text: str, start: int, end: int) -> _Words:
    """Return the words of a slice of canonical text, and of some lines before and after it."""
    page = _page_lines(text)
    first = max(0, bisect_right(page.starts, start) - 1 - _CONTEXT_LINES)
    last = min(len(page.starts) - 1, bisect_left(page.starts, end) + _CONTEXT_LINES)
    offset = page.starts[first]
    window = text[offset : page.starts[last]] if last > first else text[offset:]
    visible = read_visible_text(window, fence=page.fences[first])
    spans: list[Span] = []
    lines: list[int] = []
    line, position = 0, 0
    for match in _WORD.finditer(visible.text):
        word = _trim(visible.text, *match.span())
        if word[0] == word[1]:
            continue
        line += visible.text.count("\n", position, word[0])
        position = word[0]
        spans.append(word)
        lines.append(line)
    sources = [visible.span(*span) for span in spans]
    return _Words(
        text=visible.text,
        folded=visible.text.translate(page.folding),
        spans=spans,
        lines=lines,
        sources=[(begin + offset, stop + offset) for begin, stop in sources],
        links=[
            (match.start(1) + offset, match.end(1) + offset) for match in _LINKED.finditer(window)
        ],
        above=page.stripped[: page.stripped_starts[first]],
    )


@dataclass(frozen=True, slots=True)
class _PageLines:
    """A page, line by line: where each begins, and the code fence that is open there."""

    starts: list[int]
    fences: list[str]
    stripped: str
    stripped_starts: list[int]
    folding: dict[int, str]


@lru_cache(maxsize=8)
def _page_lines(text: str) -> _PageLines:
    folding = _folding_of(text)
    stripped = _strip(text).translate(folding)
    starts = _line_starts(text)
    return _PageLines(
        starts=starts,
        fences=open_fences(text, starts),
        stripped=stripped,
        stripped_starts=_line_starts(stripped),
        folding=folding,
    )


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def _strip(text: str) -> str:
    """Return text without the marks of Markdown, in a hurry, each line in its place."""
    return _MARKS.sub("", text)


def _trim(text: str, start: int, end: int) -> Span:
    while start < end and not _joins(text[start]):
        start += 1
    while end > start and not _joins(text[end - 1]):
        end -= 1
    return start, end


def _folding_of(text: str) -> dict[int, str]:
    """Return the table that takes case and accents from text, each character in its place."""
    table: dict[int, str] = {}
    for character in set(text):
        plain = unicodedata.normalize("NFKD", character)[:1].lower()
        table[ord(character)] = plain if len(plain) == 1 else character
    return table
