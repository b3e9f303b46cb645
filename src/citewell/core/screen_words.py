"""The words of a page's screen around a quote, and whether a browser finds a term there first."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from citewell.core.screen import BLOCK, FOLD, UNSURE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.core.screen import Screen
    from citewell.core.text import Span

Term = tuple[int, int]
"""Where a term begins and ends on the screen."""

_FIRST_CJK = "\u2e80"
_CJK_CHARACTERS_PER_WORD = 3
_CONTEXT_CHARACTERS = 1_500
_BREAKS = BLOCK + UNSURE + FOLD
_BREAK = re.compile(f"[{_BREAKS}]")
_SPACE = f" \t\n\xa0{BLOCK}{UNSURE}{FOLD}"
# From the first letter or digit to the last before a space. CJK text has no spaces: a browser takes
# any of these characters for the end of a word.
_WORD = re.compile(r"\w(?:[^\s、。，．！？；：「」『』（）【】]*\w)?")
_CJK = re.compile(f"[{_FIRST_CJK}-\U0010ffff]")
# Within such a run, a word ends where the script changes, except before the ending of a verb.
_ENDS_WORD = re.compile(
    "[\u3040-\u309f][^\u3040-\u309f]|[\u30a0-\u30ff][^\u30a0-\u30ff]|[\u4e00-\u9fff][\u30a0-\u30ff]"
)


@dataclass(frozen=True, slots=True)
class ScreenWords:
    """The words of a stretch of the screen, and some before and after it."""

    screen: Screen
    spans: list[Span]
    """Where the words stand, without punctuation at either end, …"""
    blocks: list[int]
    """… the block that each is of; nothing unsure stands within one, …"""
    first: int
    """… the first word of the stretch, …"""
    last: int
    """… and the last one."""


def words_on_screen(screen: Screen, stretch: Span) -> ScreenWords:
    """Return the words of a stretch of the screen, whole ones, and of what surrounds it."""
    text = screen.text
    begin = max(0, stretch[0] - _CONTEXT_CHARACTERS)
    # A word that is cut is no word of the page.
    begin = 0 if not begin else min(text.find(" ", begin) + 1 or begin, stretch[0])
    stop = min(len(text), stretch[1] + _CONTEXT_CHARACTERS)
    spans = [match.span() for match in _WORD.finditer(text, begin, stop)]
    if _CJK.search(text, begin, stop):
        spans = [part for word in spans for part in _cut_at(text, word, *stretch)]
    if spans and stop < len(text) and spans[-1][0] >= stretch[1]:
        spans.pop()
    breaks = [match.start() for match in _BREAK.finditer(text, begin, stop)]
    return ScreenWords(
        screen=screen,
        spans=spans,
        blocks=[bisect_right(breaks, start) for start, _ in spans],
        first=bisect_right(spans, stretch[0], key=lambda span: span[1]),
        last=bisect_left(spans, stretch[1], key=lambda span: span[0]) - 1,
    )


def _cut_at(text: str, word: Span, *places: int) -> list[Span]:
    """Return the parts of a run of CJK text that a quote begins or ends within."""
    if text[word[0]] < _FIRST_CJK:
        return [word]
    cuts = [place for place in places if word[0] < place < word[1]]
    return list(pairwise([word[0], *(c for c in cuts if _ENDS_WORD.match(text, c - 1)), word[1]]))


def term_of(words: ScreenWords, first: int, last: int) -> Term:
    """Return the term from one word to another."""
    return words.spans[first][0], words.spans[last][1]


def first_folded(words: ScreenWords, first: int, last: int) -> int | None:
    """Return the first word inside of closed details that a stretch ends in, having begun above.

    A browser opens the details for a term that begins there, not for one that only ends there.
    """
    text = words.screen.text
    start, end = term_of(words, first, last)
    if text.count(FOLD, start, end) != 1 or text.count(FOLD, 0, start) % 2:
        return None
    return bisect_left(words.spans, text.index(FOLD, start), key=lambda span: span[0])


def with_marks(words: ScreenWords, term: Term) -> Term:
    """Return the term with the punctuation that touches it: `~Heron()` is not `Heron(other)`."""
    text = words.screen.text
    start, end = term
    while start and _is_mark(text[start - 1]):
        start -= 1
    while end < len(text) and _is_mark(text[end]):
        end += 1
    return start, end


def is_one_node(words: ScreenWords, term: Term) -> bool:
    """Return whether no inline element begins or ends within a term.

    Then it is found whatever a style sheet makes of the elements around it.
    """
    joints = words.screen.joints
    return bisect_right(joints, term[0]) == bisect_left(joints, term[1])


def is_sure(words: ScreenWords, stretch: Span) -> bool:
    """Return whether a browser shows all of a stretch of the screen, without unfolding anything."""
    return not any(mark in words.screen.text[slice(*stretch)] for mark in (UNSURE, FOLD))


def words_on(
    words: ScreenWords, first: int, last: int, count: int, *, one_node: bool = False
) -> int:
    """Return the last word of a term of about `count` words from `first` on, within its block.

    With `one_node`, also within the element that the first word is in.
    """
    end, weight = first, _weight(words, first)
    while weight < count and end < last and words.blocks[end + 1] == words.blocks[first]:
        if one_node and not is_one_node(words, term_of(words, first, end + 1)):
            break
        end += 1
        weight += _weight(words, end)
    return end


def words_back(
    words: ScreenWords, last: int, after: int, count: int, *, one_node: bool = False
) -> int:
    """Return the first word of a term of about `count` words up to `last`, within its block.

    With `one_node`, also within the element that the last word is in.
    """
    begin, weight = last, _weight(words, last)
    while weight < count and begin - 1 > after and words.blocks[begin - 1] == words.blocks[last]:
        if one_node and not is_one_node(words, term_of(words, begin - 1, last)):
            break
        begin -= 1
        weight += _weight(words, begin)
    return begin


def words_before(
    words: ScreenWords, first: int, count: int, *, one_node: bool = False
) -> Term | None:
    """Return up to `count` words of one block that stand right before word `first`."""
    if not count or not first:
        return None
    text = words.screen.text
    begin = words_back(words, first - 1, -1, count, one_node=one_node)
    start, place = words.spans[begin][0], words.spans[first][0]
    if words.blocks[first - 1] != words.blocks[first]:
        gap = text[words.spans[first - 1][1] : place]
        if not _is_one_break(gap):
            return None
        # The punctuation that a block begins with is part of the term.
        place = words.spans[first - 1][1] + gap.index(BLOCK)
    return start, len(text[start:place].rstrip(_SPACE)) + start


def words_after(
    words: ScreenWords, last: int, count: int, *, one_node: bool = False
) -> Term | None:
    """Return up to `count` words of one block that stand right after word `last`."""
    first = last + 1
    if not count or first >= len(words.spans):
        return None
    text = words.screen.text
    end = words_on(words, first, len(words.spans) - 1, count, one_node=one_node)
    place = words.spans[last][1]
    if words.blocks[last] != words.blocks[first]:
        gap = text[place : words.spans[first][0]]
        if not _is_one_break(gap):
            return None
        place += gap.index(BLOCK) + 1
    stop = words.spans[end][1]
    return stop - len(text[place:stop].lstrip(_SPACE)), stop


def _is_one_break(gap: str) -> bool:
    """Return whether two words stand in neighbouring blocks, with nothing unsure in between.

    Cells without words, of which browsers skip the space, may stand between them.
    """
    if BLOCK not in gap or UNSURE in gap or FOLD in gap:
        return False
    return gap.count(BLOCK) == 1 or not gap.strip(_SPACE)


def with_edge(words: ScreenWords, term: Term, *, before: bool = False, after: bool = False) -> Term:
    """Return the term with the punctuation that its block begins or ends with.

    A prefix must touch the term, and so must a suffix.
    """
    text = words.screen.text
    start, end = term
    if before:
        line = max(text.rfind(mark, 0, start) for mark in _BREAKS) + 1
        opening = text[line:start]
        if not any(map(_joins_words, opening)):
            start -= len(opening.lstrip(_SPACE))
    if after:
        stops = [place for mark in _BREAKS if (place := text.find(mark, end)) >= 0]
        closing = text[end : min(stops, default=len(text))]
        if not any(map(_joins_words, closing)):
            end += len(closing.rstrip(_SPACE))
    return start, end


def is_found_first(
    words: ScreenWords,
    term: Term,
    *,
    after: int = 0,
    prefix: Term | None = None,
    suffix: Term | None = None,
) -> bool:
    """Return whether a browser that looks for the term from `after` on finds it where it is."""
    folded = words.screen.folded
    wanted = folded[slice(*term)]
    before = "" if prefix is None else folded[slice(*prefix)]
    behind = "" if suffix is None else folded[slice(*suffix)]
    for place in _occurrences(folded, wanted, after):
        end = place + len(wanted)
        if place == term[0]:
            return True
        if before and not _precedes(folded, place, before):
            continue
        if behind and not _follows(folded, end, behind):
            continue
        return False
    return False


def _occurrences(folded: str, wanted: str, after: int) -> Iterator[int]:
    place = folded.find(wanted, after)
    while place >= 0:
        if _is_whole(folded, place, place + len(wanted)):
            yield place
        place = folded.find(wanted, place + 1)


def _precedes(folded: str, place: int, before: str) -> bool:
    while place and folded[place - 1] in _SPACE:
        place -= 1
    return folded.endswith(before, 0, place)


def _follows(folded: str, end: int, behind: str) -> bool:
    while end < len(folded) and folded[end] in _SPACE:
        end += 1
    return folded.startswith(behind, end)


def _weight(words: ScreenWords, word: int) -> int:
    """Return how many words a run of characters counts for."""
    start, end = words.spans[word]
    if words.screen.text[start] < _FIRST_CJK:
        return 1
    return max(1, (end - start) // _CJK_CHARACTERS_PER_WORD)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether words begin at `start` and end at `end`; in CJK text any place may be so."""
    opens = start == 0 or not (_is_latin(text[start - 1]) and _is_latin(text[start]))
    return opens and (end == len(text) or not (_is_latin(text[end - 1]) and _is_latin(text[end])))


def _is_latin(character: str) -> bool:
    return character < _FIRST_CJK and _joins_words(character)


def _is_mark(character: str) -> bool:
    return character not in _SPACE and character.isprintable() and not _joins_words(character)


def _joins_words(character: str) -> bool:
    return character.isalnum() or character == "_"
