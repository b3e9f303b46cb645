"""Writing emphasis so that every Markdown reader shows it as such, or leaving it out.

Whether stars are marks depends on what stands on both sides of them, which is known only when a
line is whole. Until then, places for marks stand in the text.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.ingest.extract.canonical import MARK_END, MARK_START, visible_text
from citewell.ingest.extract.emphasis import code_spans

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_OPENINGS = {"**": "\ufdd3", "*": "\ufdd4", "~~": "\ufdd5"}
_SIGNS = {opening: sign for sign, opening in _OPENINGS.items()}
_CLOSING = "\ufdd6"
_PLACES = re.compile("[\ufdd3-\ufdd6]")
_STARS = ("*", "~")
# Stands for <br> until white space has been collapsed around it.
BREAK = "\ufdd2"


# The keys of links and sections that can stand between a mark and the next character.
_KEY = re.compile(f"(?:{MARK_START}[sli][0-9]+{MARK_END}|[\ufdd3-\ufdd6])*+")
_FARTHEST = 64
# A longer paragraph is not stressed: a tag was never closed.
_LONGEST_LINE_IN_BOLD = 200


@dataclass(slots=True)
class _Pair:
    start: int
    end: int
    sign: str
    outer: _Pair | None
    is_kept: bool = False


def emphasised(text: str, sign: str) -> str:
    """Return `text` between places for the marks `sign`."""
    return _OPENINGS[sign] + text + _CLOSING


def place_emphasis(line: str) -> str:
    """Return a line with marks at their places, but for those that would not be read as marks."""
    if _CLOSING not in line:
        return line
    signs: dict[int, str] = {}
    for pair in _pairs(line):
        pair.is_kept = _is_readable(line, pair, signs)
        if pair.is_kept:
            signs[pair.start] = signs[pair.end] = pair.sign
    return _PLACES.sub(lambda place: signs.get(place.start(), ""), line)


def without_places(text: str) -> str:
    """Return `text` without places for marks."""
    return _PLACES.sub("", text)


def _pairs(line: str) -> Iterator[_Pair]:
    """Return the pairs of places, each after those around it."""
    pairs: list[_Pair] = []
    open_pairs: list[_Pair] = []
    for place in _PLACES.finditer(line):
        if place.group() != _CLOSING:
            outer = open_pairs[-1] if open_pairs else None
            sign = _SIGNS[place.group()]
            open_pairs.append(_Pair(start=place.start(), end=-1, sign=sign, outer=outer))
            pairs.append(open_pairs[-1])
        elif open_pairs:
            open_pairs.pop().end = place.start()
    return (pair for pair in pairs if pair.end >= 0)


def _is_readable(line: str, pair: _Pair, signs: Mapping[int, str]) -> bool:
    inner = visible_text(without_places(line[pair.start : pair.end]))
    if not inner or _has_own_star(inner):
        return False
    outer = pair.outer
    while outer is not None and not outer.is_kept:
        outer = outer.outer
    if outer is not None and outer.sign == pair.sign:
        return False
    before, after = _start_of_keys(line, pair.start), _end_of_keys(line, pair.end)
    # Two marks side by side would be read as one.
    around = (*range(before, pair.start), *range(pair.end + 1, after))
    if any(place in signs for place in around):
        return False
    left, right = line[before - 1 : before] if before else "", line[after : after + 1]
    if not left and not right and len(inner) > _LONGEST_LINE_IN_BOLD:
        return False
    if left in _STARS or right in _STARS:
        return False
    return _may_flank(left, inner[0]) and _may_flank(right, inner[-1])


def _start_of_keys(line: str, end: int) -> int:
    """Return where the places and keys right before `end` begin."""
    start = end
    while start > 0 and end - start < _FARTHEST:
        if _PLACES.match(line, start - 1):
            start -= 1
        elif line[start - 1] == MARK_END:
            start = line.rindex(MARK_START, 0, start)
        else:
            break
    return start


def _end_of_keys(line: str, start: int) -> int:
    keys = _KEY.match(line, start, start + _FARTHEST)
    return keys.end() if keys is not None else start


def _has_own_star(text: str) -> bool:
    if "*" not in text:
        return False
    position = 0
    for start, end in code_spans(text):
        if "*" in text[position:start]:
            return True
        position = end
    return "*" in text[position:]


def _may_flank(outside: str, inside: str) -> bool:
    """Return whether a mark between the two characters belongs to the one inside."""
    if not _is_punctuation(inside):
        return True
    return not outside or outside.isspace() or outside == BREAK or _is_punctuation(outside)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
