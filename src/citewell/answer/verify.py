"""Checking a quote against a page: still there, moved, changed or gone."""

from __future__ import annotations

import math
import operator
import re
import time
from bisect import insort
from collections import Counter
from dataclasses import asdict
from functools import cached_property
from heapq import nsmallest
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from citewell.core.boundary import neutralise, without_brackets
from citewell.core.difference import mark_difference
from citewell.core.folding import FoldedText, fold, is_typesetting
from citewell.core.frozen import frozen
from citewell.core.screen import BLOCK, FOLD, JOINT, UNSURE, unpack_screen
from citewell.core.sequence_match import BoundedMatcher, Effort, find_opcodes
from citewell.core.text import sentence_spans
from citewell.core.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from citewell.core.citations import Verdict
    from citewell.core.text import Span

# Below this likeness two passages have too little in common to be one that was edited.
_LEAST_LIKENESS = 0.45
# Of a part of a sentence that was edited, this share of the words has stayed.
_LEAST_PART_LIKENESS = 0.7
_LEAST_PART_WORDS = 4
_COMPARED_WINDOWS = 12
# On a page that repeats itself, all stretches may be alike.
_MOST_READ_WINDOWS = 500
# Shorter parts around an ellipsis could stand anywhere.
_LEAST_PART_CHARACTERS = 12
_MOST_ELIDED_CHARACTERS = 1_500
_ELIDED_LIKENESS = 0.9
_MOST_MARKS = 40
# Without these a sentence says something else, so an ellipsis must not stand for them.
_LIMITING = re.compile(
    r"(?<![-\w])(?:not|never|no|none|nor|neither|cannot|without|unless|except|only|if|until)(?![-\w])"
    r"|n't\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*+\s")
_ENDS_SENTENCE = re.compile(r"[.!?:][\"')\]]{0,5}+\s*+\Z")
# Neither a word nor a number is cut in two.
_BETWEEN_WORDS = re.compile(r"(?!\w|[.,]\w)(?:.*[\s(\[\"'])?", re.DOTALL)
_LINE_OR_CELL = re.compile(r"(?<![^\S\n\t])[^\S\n\t]*+[\n\t]\s*+")
_SPACES = re.compile(r"[^\S\n]++")
# Links beside headings and signatures, which some themes show only to a pointer.
_LINK_MARK = re.compile(rf"{UNSURE}|{FOLD}|¶|\[source\]|\[docs\]|🔗|\u200b|\u00ad")
_ROW = re.compile(r"[ >]*+\|")
_WORD = re.compile(r"\w+|[^\w\s]|\s+")
_NO_SPACE = re.compile(r"\w+|[^\w\s]")
_QUOTATION_MARKS = ("“”", "„“", "„”", "‘’", "«»", "「」", '""', "''")


@frozen
class Verification:
    """What became of a quote. `start`, `end` and `found` are None when it is gone."""

    verdict: Verdict
    start: int | None = None
    end: int | None = None
    found: str | None = None
    """What stands there now: the quote itself, or the nearest text."""
    likeness: float
    difference: str | None = None
    """The edits from quote to page, as `[-removed-]` and `{+added+}`, when changed or elided."""


class _Elided(NamedTuple):
    """Where the parts of a quote stand, and whether what its ellipses leave out changes nothing."""

    span: Span
    is_fair: bool


class _CheckedPage:
    """A page that quotes are looked for in: what all of them need is made once, when it is needed.

    A page of megabytes takes a second to fold, and another to be cut into words.
    """

    def __init__(self, text: str) -> None:
        self.text = neutralise(text)
        self._words: dict[Span, list[str]] = {}

    @cached_property
    def folded(self) -> FoldedText:
        return fold(self.text)

    @cached_property
    def _sentences(self) -> list[Span]:
        return sentence_spans(self.text)

    def spans(self, *, longest: int) -> list[Span]:
        """Return where the sentences stand; those over a length in parts of half of it."""
        half = longest // 2
        return [
            (at, min(at + half, end)) if end - start > longest else (start, end)
            for start, end in self._sentences
            for at in (range(start, end, half) if end - start > longest else (start,))
        ]

    def words_of(self, span: Span) -> list[str]:
        if span not in self._words:
            self._words[span] = words(self.text[slice(*span)])
        return self._words[span]


def verify_quote(quote: str, text: str, *, start: int | None = None) -> Verification:
    """Return whether `text`, a page's canonical text, still holds `quote`.

    A quote may be copied with the brackets of the boundary or quotation marks around it, with other
    quotation marks, dashes and spaces, with or without Markdown, and with ellipses for what was
    left out. One that leaves out a "not", or welds two sentences together, counts as changed.

    With `start`, where the quote stood, the quote found elsewhere counts as moved; without it,
    wherever it is found is exact.
    """
    return _verify(quote, _CheckedPage(text), start)


def verify_quotes(
    quotes: Sequence[tuple[str, int | None]], text: str, cpu_seconds: float = math.inf
) -> list[dict[str, Any]]:
    """Return what `verify_quote` does for each quote and its `start`, as plain data.

    The page is read once for all. No quote but the first is begun after so much CPU time.
    """
    page, results = _CheckedPage(text), list[dict[str, Any]]()
    ends_at = time.process_time() + cpu_seconds
    for quote, start in quotes:
        if not results or time.process_time() < ends_at:
            results.append(asdict(_verify(quote, page, start)))
    return results


def _verify(quote: str, page: _CheckedPage, start: int | None) -> Verification:
    quote, text = neutralise(without_brackets(quote)), page.text
    if start is not None and text[start : start + len(quote)] == quote:
        return _found("exact", quote, start)
    at = text.find(quote)
    if at >= 0:
        return _found("exact" if start is None else "moved", quote, at)
    folded = _find_folded(quote, page, start=start)
    if folded is None and (bare := _without_quotation_marks(quote)) != quote:
        quote, folded = bare, _find_folded(bare, page, start=start)
    return folded or _nearest(quote, page)


def have_in_order(stretches: Sequence[tuple[str, str]], text: str) -> list[bool]:
    """Return whether `text` holds the two ends of each stretch, but for typesetting and case."""
    folded = fold(text).text.casefold()

    def has(first: str, last: str) -> bool:
        start = folded.find(fold(first).text.strip().casefold())
        return start >= 0 and folded.find(fold(last).text.strip().casefold(), start) >= 0

    return [has(first, last) for first, last in stretches]


def are_on_screen(quotes: Sequence[str], screen: bytes) -> list[bool]:
    """Return whether a page shows each quote as it was copied: line by line, and cell by cell."""
    # Canonical text writes some of what a page shows otherwise, as numbers that its style adds.
    shown = _copied_lines(unpack_screen(screen).replace(JOINT, "").replace(BLOCK, "\n"))
    wanted = [_copied_lines(_without_quotation_marks(quote)) for quote in quotes]
    return [bool(each) and _holds_words(shown, each) for each in wanted]


def _holds_words(text: str, wanted: str) -> bool:
    """Return whether `wanted` stands in the text and cuts no word at either end."""
    return any(
        not _cuts_word(text, at) and not _cuts_word(text, at + len(wanted))
        for at in _places(wanted, text)
    )


def _without_quotation_marks(quote: str) -> str:
    """Return a quote without the quotation marks that all of it stands in."""
    stripped = quote.strip()
    is_enclosed = len(stripped) > 2 and stripped[0] + stripped[-1] in _QUOTATION_MARKS
    return stripped[1:-1].strip() if is_enclosed else quote


def _cuts_word(text: str, place: int) -> bool:
    return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()


def _copied_lines(text: str) -> str:
    """Return text with one space between words and one line feed between lines or cells."""
    lines = _LINE_OR_CELL.sub("\n", _LINK_MARK.sub("", text))
    return _SPACES.sub(" ", lines).strip()


def _find_folded(quote: str, page: _CheckedPage, *, start: int | None) -> Verification | None:
    """Return where the quote stands but for its typesetting, or with its ellipses filled in."""
    text, shown = page.text, page.folded
    wanted = fold(quote).text.strip()
    if not wanted:
        return None
    places = [shown.span(at, at + len(wanted)) for at in _places(wanted, shown.text)]
    spans = [span for span in places if _keeps_rows(span, text)]
    if places and not spans:
        return _compare(quote, text, places[0], likeness=_ELIDED_LIKENESS)
    elided = None if spans else _find_elided(wanted, shown.text)
    if elided is not None:
        spans = [shown.span(*elided.span)]
        if not elided.is_fair:
            return _compare(quote, text, spans[0], likeness=_ELIDED_LIKENESS)
    if not spans:
        return None
    kept = [span for span in spans if start is not None and _stands_at(span, start, text)]
    found = (kept or spans)[0]
    return Verification(
        verdict="exact" if start is None or kept else "moved",
        start=found[0],
        end=found[1],
        found=text[found[0] : found[1]],
        likeness=0.99,
        difference=None if elided is None else _difference(quote, text[found[0] : found[1]]),
    )


def _keeps_rows(span: Span, text: str) -> bool:
    """Return whether a span that goes over rows of a table holds whole ones.

    The last cell of a row and the first of the next say together what neither row says.
    """
    lines = text[span[0] : span[1]].rstrip("\n").split("\n")
    row_start, row_end = text.rfind("\n", 0, span[0]) + 1, text.find("\n", span[1])
    rest = text[span[1] : row_end if row_end >= 0 else None]
    first, last = text[row_start : span[0]] + lines[0], lines[-1] + rest
    rows = [_ROW.match(line) is not None for line in (first, *lines[1:-1], last)]
    if len(lines) == 1 or not any(map(operator.and_, rows, rows[1:])):
        return True
    cut_before = rows[0] and not is_typesetting(text[row_start : span[0]])
    cut_after = rows[-1] and not is_typesetting(rest)
    return not cut_before and not cut_after


def _places(wanted: str, text: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + len(wanted))


def _find_elided(wanted: str, text: str) -> _Elided | None:
    """Return the stretch that holds the parts of a quote between its ellipses, near each other."""
    parts = [part for piece in wanted.split("...") if (part := piece.strip())]
    if not parts or min(map(len, parts)) < _LEAST_PART_CHARACTERS:
        return None
    for at in _places(parts[0], text):
        end = at + len(parts[0])
        is_fair = True
        for part in parts[1:]:
            next_at = text.find(part, end, end + _MOST_ELIDED_CHARACTERS)
            if next_at < 0:
                break
            is_fair &= _is_fair_omission(text[at:end], text[end:next_at])
            end = next_at + len(part)
        else:
            return _Elided((at, end), is_fair)
    return None


def _is_fair_omission(before: str, omitted: str) -> bool:
    """Return whether what stands `before` and after the omission means the same without it.

    Whole sentences can be left out, and so can words of one sentence that do not limit it; then
    the quote goes on in that sentence or at the beginning of another.
    """
    if _BETWEEN_WORDS.fullmatch(omitted) is None:
        return False
    if _ENDS_SENTENCE.search(before):
        return not omitted.strip() or _ENDS_SENTENCE.search(omitted) is not None
    sentence_end = _SENTENCE_END.search(omitted)
    rest_of_sentence = omitted if sentence_end is None else omitted[: sentence_end.end()]
    goes_on_whole = sentence_end is None or _ENDS_SENTENCE.search(omitted) is not None
    return goes_on_whole and _LIMITING.search(rest_of_sentence) is None


def _stands_at(span: Span, start: int, text: str) -> bool:
    """Return whether a span begins at `start`, but for marks of Markdown between the two."""
    first, last = sorted((span[0], start))
    return last - first <= _MOST_MARKS and is_typesetting(text[first:last])


def _found(verdict: Verdict, quote: str, start: int) -> Verification:
    return Verification(
        verdict=verdict, start=start, end=start + len(quote), found=quote, likeness=1.0
    )


def _nearest(quote: str, page: _CheckedPage) -> Verification:
    text = page.text
    # Spaces would make any two sentences half alike.
    old = _NO_SPACE.findall(quote)
    effort = Effort()
    best_likeness, best = 0.0, None
    for span in _likest_windows(quote, page):
        matcher = BoundedMatcher(old, _NO_SPACE.findall(text[span[0] : span[1]]), effort)
        # Neither is below the likeness, and both take a moment.
        if min(matcher.real_quick_ratio(), matcher.quick_ratio()) <= best_likeness:
            continue
        likeness = matcher.ratio()
        if likeness > best_likeness:
            best_likeness, best = likeness, span
    if best is not None and best_likeness < _LEAST_LIKENESS:
        best, best_likeness = _part_of(best, quote, text, effort) or (None, best_likeness)
    if best is None:
        return Verification(verdict="gone", likeness=round(best_likeness, 2))
    return _compare(quote, text, _without_rest(best, old, text), likeness=best_likeness)


def _without_rest(window: Span, old: Sequence[str], text: str) -> Span:
    """Return a stretch without what its sentences say before and after a quote of a part."""
    places = [match.span() for match in _NO_SPACE.finditer(text, *window)]
    steps = find_opcodes(old, [text[start:end] for start, end in places])
    first = steps[0][4] if steps[0][0] == "insert" else 0
    last = steps[-1][3] if steps[-1][0] == "insert" else len(places)
    return (places[first][0], places[last - 1][1]) if first < last else window


def _part_of(window: Span, quote: str, text: str, effort: Effort) -> tuple[Span, float] | None:
    """Return the part of a longer stretch that a quote of as many words has become, if one has."""
    old = _NO_SPACE.findall(quote)
    places = [match.span() for match in _NO_SPACE.finditer(text, *window)]
    new = [text[start:end] for start, end in places]
    same = BoundedMatcher(old, new, effort).find_longest_match()
    first = max(0, same.b - same.a)
    part = slice(first, first + len(old))
    likeness = BoundedMatcher(old, new[part], effort).ratio()
    if len(old) < _LEAST_PART_WORDS or likeness < _LEAST_PART_LIKENESS:
        return None
    return (places[part][0][0], places[part][-1][1]), likeness


def _likest_windows(quote: str, page: _CheckedPage) -> list[Span]:
    """Return the stretches of the page that the quote may have become, the likest first.

    Words are counted sentence by sentence, so that a stretch is read only if it can be among the
    likest: its words that the quote has too, repeats included, bound how alike the two are.
    """
    wanted = Counter(words(quote))
    total = wanted.total()
    count = max(1, len(sentence_spans(quote)))
    # A line without sentences can be the whole page: its halves overlap in stretches of two.
    spans = page.spans(longest=2 * len(quote) + 200)
    held = [page.words_of(span) for span in spans]
    sizes = [0, *accumulate(map(len, held))]
    shared = [0, *accumulate(sum(map(wanted.__contains__, each)) for each in held)]
    bounds: list[tuple[float, int, int]] = []
    for size in sorted({count, max(1, count - 1), count + 1}):
        for first in range(max(1, len(spans) - size + 1)):
            last = min(first + size, len(spans))
            common = min(shared[last] - shared[first], total)
            if common:
                likeness = common / (total + sizes[last] - sizes[first] - common)
                bounds.append((-likeness, first, last))
    found: list[tuple[float, Span]] = []
    for bound, first, last in nsmallest(_MOST_READ_WINDOWS, bounds):
        if len(found) >= _COMPARED_WINDOWS and bound > found[_COMPARED_WINDOWS - 1][0]:
            break
        window = Counter(word for each in held[first:last] for word in each if word in wanted)
        common = (wanted & window).total()
        likeness = common / (total + sizes[last] - sizes[first] - common)
        insort(found, (-likeness, (spans[first][0], spans[last - 1][1])))
    return [span for _, span in found[:_COMPARED_WINDOWS]]


def _compare(quote: str, text: str, span: Span, *, likeness: float) -> Verification:
    found = text[span[0] : span[1]]
    return Verification(
        verdict="changed",
        start=span[0],
        end=span[1],
        found=found,
        likeness=round(likeness, 2),
        difference=_difference(quote, found),
    )


def _difference(before: str, after: str) -> str:
    # How words are set is no difference; an ellipsis is one sign.
    old, new = (fold(text).text.replace("...", "…") for text in (before, after))
    return mark_difference(old, new)
