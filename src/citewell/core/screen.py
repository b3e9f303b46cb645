"""A page as a browser searches it: its words, block by block, and where a quote stands there."""

from __future__ import annotations

import re
import unicodedata
import zlib
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice, product
from typing import TYPE_CHECKING

from citewell.core.visible_text import extract_visible_text, open_fences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from citewell.core.text import Span

BLOCK = "\x1e"
"""Stands between the blocks of a page: paragraphs, items, cells."""
UNSURE = "\x1f"
"""Stands for something that a browser may or may not show."""

RESET = "\x1c"
"""Stands first on a page whose scripts jump to its anchor again, which ends any highlight."""

NUMBER = "\x1d"
"""Stands before the number of a line, which the page shows and canonical text leaves out."""

FOLD = "\x19"
"""Stands where closed details begin and end: a browser opens them for what begins inside."""

JOINT = "\x1a"
"""Stands where an inline element begins or ends: a style sheet can set it as a box, or hide it."""

# Numbers and words are apart: canonical text may lack the space between the two.
_LETTERS = re.compile(r"\d+|[^\W\d_]+")
_NOT_LETTERS = re.compile(r"[\W_]+")
_LINE_NUMBER = re.compile(f"{NUMBER}[0-9]+")
_LINE_BREAKS = re.compile(r"(?<![ \t])[ \t]*+\n\s*+")
_LINE_END = re.compile("\n")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
# Up to so many characters are replaced one by one sooner than a table translates all of a page.
_FEW_FOLDED = 20
# A quote is looked for whole up to this length, and by its ends beyond, or where a page differs.
_WHOLE_WORDS = 400
_END_WORDS = (8, 4, 2)
_SKIPPED_WORDS = 16
_MOST_EDGES = 4
_LEAST_WORDS = 4
_NEARBY = 200
_COMPARED_CHARACTERS = 600
_MOST_PLACES = 200
# Characters at places where only some of the words stand: a page of one word again and again has as
# many as it has words.
_MOST_COMPARED = 100_000


@dataclass(frozen=True, slots=True)
class Screen:
    """The words of a page, and the same as they are compared, character by character."""

    text: str
    folded: str
    """As a browser compares them, …"""
    quotable: str
    """… and without the numbers of lines, which no quote has."""
    jumps_again: bool = False
    """Whether a highlight ends when the link has an anchor too."""
    joints: Sequence[int] = ()
    """Where inline elements begin and end, and lines, in order."""


def pack_screen(text: str) -> bytes:
    """Return the words of a page as they are stored."""
    return zlib.compress(text.encode()) if text else b""


def unpack_screen(packed: bytes) -> str:
    """Return the words of a page that `pack_screen` packed, with all their marks."""
    return zlib.decompress(packed).decode() if packed else ""


@lru_cache(maxsize=16)
def open_screen(packed: bytes) -> Screen:
    """Return the words of a page, ready to be searched."""
    unpacked = unpack_screen(packed)
    nodes = unpacked.removeprefix(RESET).split(JOINT)
    text = "".join(nodes)
    folded = _fold(text)
    quotable = _LINE_NUMBER.sub(lambda number: NUMBER * len(number.group()), folded)
    # Some style sheets set each line of a program as a box.
    lines = (match.start() for match in _LINE_END.finditer(text))
    joints = sorted({*accumulate(map(len, nodes[:-1])), *lines})
    is_reset = unpacked.startswith(RESET)
    return Screen(text, folded, quotable, jumps_again=is_reset, joints=joints)


@lru_cache(maxsize=8)
def screen_of_markdown(text: str) -> Screen:
    """Return canonical text as a browser might show it, for a page whose HTML was not kept."""
    shown = _LINE_BREAKS.sub(BLOCK, extract_visible_text(text).text)
    folded = _fold(shown)
    return Screen(text=shown, folded=folded, quotable=folded)


def find_on_screen(screen: Screen, text: str, start: int, end: int) -> Span | None:
    """Return where the slice of canonical `text` stands on the screen of its page, if it does.

    Of several places, it is the one with the same words around it.
    """
    words = _words_of_slice(text, start, end)
    if not words:
        return None
    places = _places(screen.quotable, words)
    if len(places) < 2:
        return next(iter(places), None)
    before = _letters(_fold(text[max(0, start - _COMPARED_CHARACTERS) : start]))
    after = _letters(_fold(text[end : end + _COMPARED_CHARACTERS]))
    return max(places, key=lambda place: _likeness(screen.quotable, place, before, after))


def _words_of_slice(text: str, start: int, end: int) -> list[str]:
    """Return the words that a browser shows of a slice of canonical text, folded."""
    lines = _page_lines(text)
    line = lines.find(start)
    first = lines.starts[line]
    visible = extract_visible_text(text[first:end], fence=lines.fences[line])
    words: list[str] = []
    is_inside = False
    for match in _LETTERS.finditer(_fold(visible.text)):
        # Words are in order: after the first that is inside of the slice, all are.
        if not is_inside:
            begin, stop = visible.span(*match.span())
            is_inside = begin + first >= start
            if not is_inside:
                # Text without spaces can be quoted from anywhere.
                words.append(match.group()[start - begin - first :] if stop + first > start else "")
                continue
        words.append(match.group())
    return [word for word in words if word]


@dataclass(frozen=True, slots=True)
class _PageLines:
    """Where the lines of a page begin, and which code fence is open there."""

    starts: list[int]
    fences: list[str]

    def find(self, place: int) -> int:
        """Return the number of the line that a place is in."""
        return bisect_right(self.starts, place) - 1


@lru_cache(maxsize=8)
def _page_lines(text: str) -> _PageLines:
    starts = _line_starts(text)
    return _PageLines(starts, open_fences(text, starts))


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def _places(folded: str, words: Sequence[str]) -> list[Span]:
    if len(words) <= _WHOLE_WORDS and (whole := _find_words(folded, words)):
        return whole
    # The last words are the first ones, read backwards.
    backwards = [word[::-1] for word in reversed(words)]
    all_begins = list(islice(_find_begins(folded, words), _MOST_EDGES))
    all_ends = list(islice(_find_begins(folded[::-1], backwards), _MOST_EDGES))
    for begins, mirrored in product(all_begins, all_ends):
        ends = [len(folded) - begin for begin in mirrored]
        if places := _pair_edges(folded, words, begins, ends):
            return places
    return _places_of_part(folded, words)


def _pair_edges(
    folded: str, words: Sequence[str], begins: Sequence[int], ends: Sequence[int]
) -> list[Span]:
    """Return the stretches from a begin to an end that are as long as the words, and have most."""
    length = sum(map(len, words))
    places: list[Span] = []
    for begin in begins:
        near = [end for end in ends if begin < end <= begin + 4 * length + _NEARBY]
        sizes = {end: len(_letters(folded[begin:end])) for end in near}
        likely = min(sizes, key=lambda end: abs(sizes[end] - length), default=begin)
        is_as_long = length <= 2 * sizes.get(likely, 0) and sizes[likely] <= 2 * length + _NEARBY
        if is_as_long and _has_most(folded[begin:likely], words):
            places.append((begin, likely))
    return places


def _has_most(text: str, words: Sequence[str]) -> bool:
    """Return whether a stretch has most of the words; folded rows may begin and end like others."""
    wanted = Counter(words)
    return 2 * (wanted & Counter(_LETTERS.findall(text))).total() > len(words)


def _places_of_part(folded: str, words: Sequence[str]) -> list[Span]:
    """Return where the largest part of a quote stands whose other part the page does not show."""
    size = len(words) // 2
    while size >= max(_LEAST_WORDS, len(words) // 8):
        if found := _find_words(folded, words[:size]) or _find_words(folded, words[-size:]):
            return found
        size //= 2
    return []


def _find_begins(folded: str, words: Sequence[str]) -> Iterator[list[int]]:
    """Yield where the first words begin that the page shows, a few that it lacks apart.

    The likeliest places come first; a few words can stand elsewhere too.
    """
    for skip, count in product(range(_SKIPPED_WORDS), _END_WORDS):
        if skip + count > len(words):
            continue
        if found := _find_words(folded, words[skip : skip + count]):
            yield [_begin_of_skipped(folded, begin, words[:skip]) for begin, _ in found]


def _begin_of_skipped(folded: str, begin: int, skipped: Sequence[str]) -> int:
    """Return where the skipped words begin that stand shortly before a place, or the place."""
    nearest = max(0, begin - _NEARBY)
    above = _find_words(folded[nearest:begin], skipped) if skipped else []
    return nearest + above[-1][0] if above else begin


def _find_words(folded: str, words: Sequence[str]) -> list[Span]:
    """Return where all of the words stand one after the other, with no other letters between them.

    One by one: compiling a pattern of a quote's words takes a hundred times as long.
    """
    first, *rest = words
    spans: list[Span] = []
    begin, left = folded.find(first), _MOST_COMPARED
    while begin >= 0 and left > 0 and len(spans) < _MOST_PLACES:
        end, is_found = _follow_words(folded, begin + len(first), rest)
        if is_found:
            spans.append((begin, end))
        else:
            left -= end - begin
        begin = folded.find(first, end if is_found else begin + 1)
    return spans


def _follow_words(folded: str, place: int, words: Sequence[str]) -> tuple[int, bool]:
    """Return how far the words go on from a place, and whether all of them stand there."""
    for word in words:
        if gap := _NOT_LETTERS.match(folded, place):
            place = gap.end()
        if not folded.startswith(word, place):
            return place, False
        place += len(word)
    return place, True


def _likeness(folded: str, place: Span, before: str, after: str) -> int:
    """Return how many letters around a place on the screen are those around the quote."""
    above = _letters(folded[max(0, place[0] - _COMPARED_CHARACTERS) : place[0]])
    below = _letters(folded[place[1] : place[1] + _COMPARED_CHARACTERS])
    return _common_start(above[::-1], before[::-1]) + _common_start(below, after)


def _common_start(one: str, other: str) -> int:
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


def _letters(text: str) -> str:
    return _NOT_LETTERS.sub("", text)


def _fold(text: str) -> str:
    """Return text without case and accents, each character in its place."""
    if text.isascii():
        return text.lower()
    folding: dict[str, str] = {}
    for character in set(_NOT_ASCII.findall(text)):
        plain = unicodedata.normalize("NFKD", character)[:1].lower()
        if len(plain) == 1 and plain != character:
            folding[character] = plain
    if len(folding) > _FEW_FOLDED:
        return text.translate({ord(letter): plain for letter, plain in folding.items()}).lower()
    for character, plain in folding.items():
        text = text.replace(character, plain)
    return text.lower()
