"""Terms of a text directive: where they begin and end, and whether a browser finds them first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.page_words import FIRST_CJK, joins_words, strip_marks
from citewell.core.text import trim_span

if TYPE_CHECKING:
    from citewell.core.page_words import PageWords
    from citewell.core.text import Span

_CJK_CHARACTERS_PER_WORD = 3
# Cells of canonical tables are padded.
_MOST_SPACE = 120


def term_of(words: PageWords, first: int, last: int) -> Span:
    """Return the term from one word to another."""
    return words.spans[first][0], words.spans[last][1]


def last_word_of_term(words: PageWords, first: int, last: int, count: int) -> int:
    """Return the last word of a term of about `count` words from `first` on, within its line."""
    end, weight = first, weight_of(words, first)
    while (
        weight < count
        and end < last
        and words.lines[end + 1] == words.lines[first]
        and not words.unsure[end + 1]
    ):
        end += 1
        weight += weight_of(words, end)
    return end


def words_before(
    words: PageWords, term: Span, first: int, count: int, *, over_heading: bool = True
) -> Span | None:
    """Return up to `count` words that stand right before a term, on one line."""
    crosses = first > 0 and words.lines[first - 1] != words.lines[first]
    if crosses and words.marks[first - 1] == "#" and not over_heading:
        return None
    begin = first
    while (
        first - begin < count
        and begin > 0
        and (begin == first or words.lines[begin - 1] == words.lines[first - 1])
        and not words.unsure[begin - 1]
    ):
        begin -= 1
    return None if begin == first else _within_line(words, words.spans[begin][0], term[0])


def words_after(words: PageWords, term: Span, last: int, count: int) -> Span | None:
    """Return up to `count` words that stand right after a term, on one line."""
    first = last + 1
    if not count or first >= len(words.spans) or words.unsure[first]:
        return None
    end = last_word_of_term(words, first, len(words.spans) - 1, count)
    return _within_line(words, term[1], words.spans[end][1])


def from_line_start(words: PageWords, term: Span) -> Span:
    """Return the term with the punctuation that its line begins with: a prefix must touch it."""
    line = words.text.rfind("\n", 0, term[0]) + 1
    if any(map(joins_words, words.text[line : term[0]])):
        return term
    opening = _within_line(words, line, term[0])
    return (term[0] if opening is None else opening[0]), term[1]


def to_line_end(words: PageWords, term: Span) -> Span:
    """Return the term with the punctuation that its line ends with."""
    line_end = words.text.find("\n", term[1])
    closing = _within_line(words, term[1], len(words.text) if line_end < 0 else line_end)
    if closing is None or any(map(joins_words, words.text[slice(*closing)])):
        return term
    return term[0], closing[1]


def fits_first(
    words: PageWords,
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
    if not after and _occurs(
        strip_marks(wanted), words.above, strip_marks(before), strip_marks(behind)
    ):
        return False
    return not _occurs(wanted, text, before, behind, after=after, until=term[0])


def weight_of(words: PageWords, word: int) -> int:
    """Return how many words a run of characters counts for."""
    start, end = words.spans[word]
    if words.text[start] < FIRST_CJK:
        return 1
    return max(1, (end - start) // _CJK_CHARACTERS_PER_WORD)


def _within_line(words: PageWords, start: int, end: int) -> Span | None:
    """Return the span without white space around it; None when it crosses lines all the same."""
    span = trim_span(words.text, start, end)
    return None if span is None or "\n" in words.text[slice(*span)] else span


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
    return character < FIRST_CJK and joins_words(character)
