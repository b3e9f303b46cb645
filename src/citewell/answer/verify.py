"""Checking a quote against a page: still there, moved, changed or gone."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from citewell.core.boundary import neutralise, without_brackets
from citewell.core.text import find_ignoring_space, sentence_spans
from citewell.core.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.core.text import Span

Verdict = Literal["exact", "moved", "changed", "gone"]

# Below this likeness two passages have too little in common to be one that was edited.
_LEAST_LIKENESS = 0.55
_COMPARED_WINDOWS = 12
_WORD = re.compile(r"\w+|[^\w\s]|\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What became of a quote. `start`, `end` and `found` are None when it is gone."""

    verdict: Verdict
    start: int | None = None
    end: int | None = None
    found: str | None = None
    """What stands there now: the quote itself, or the nearest text."""
    likeness: float
    difference: str | None = None
    """The edits from quote to page, as `[-removed-]` and `{+added+}`, when changed."""


def verify_quote(quote: str, text: str, *, start: int | None = None) -> Verification:
    """Return whether `text`, a page's canonical text, still holds `quote`.

    A quote may be copied with the brackets of the boundary around it.

    With `start`, where the quote stood, the quote found elsewhere counts as moved; without it,
    wherever it is found is exact.
    """
    quote, text = neutralise(without_brackets(quote)), neutralise(text)
    if start is not None and text[start : start + len(quote)] == quote:
        return _found("exact", quote, start)
    at = text.find(quote)
    if at >= 0:
        return _found("exact" if start is None else "moved", quote, at)
    spaced = find_ignoring_space(quote, text)
    if spaced is not None:
        return _compare(quote, text, spaced, likeness=0.99)
    return _nearest(quote, text)


def _found(verdict: Verdict, quote: str, start: int) -> Verification:
    return Verification(
        verdict=verdict, start=start, end=start + len(quote), found=quote, likeness=1.0
    )


def _nearest(quote: str, text: str) -> Verification:
    wanted = Counter(words(quote))
    windows = sorted(
        _windows(quote, text),
        key=lambda span: -_overlap(wanted, Counter(words(text[span[0] : span[1]]))),
    )
    old = _WORD.findall(quote)
    best_likeness, best = 0.0, None
    for span in windows[:_COMPARED_WINDOWS]:
        new = _WORD.findall(text[span[0] : span[1]])
        likeness = difflib.SequenceMatcher(None, old, new, autojunk=False).ratio()
        if likeness > best_likeness:
            best_likeness, best = likeness, span
    if best is None or best_likeness < _LEAST_LIKENESS:
        return Verification(verdict="gone", likeness=round(best_likeness, 2))
    return _compare(quote, text, best, likeness=best_likeness)


def _windows(quote: str, text: str) -> Iterator[Span]:
    """Give the stretches of text that the quote may have become: about as many sentences."""
    spans = sentence_spans(text)
    count = max(1, len(sentence_spans(quote)))
    longest = 2 * len(quote) + 200
    for first in range(len(spans)):
        for size in sorted({count, max(1, count - 1), count + 1}):
            start, end = spans[first][0], spans[min(first + size, len(spans)) - 1][1]
            # A line without sentences can be the whole page: it is looked at in overlapping parts.
            for at in range(start, max(start + 1, end - longest // 2), longest // 2):
                yield at, min(end, at + longest)


def _overlap(wanted: Counter[str], held: Counter[str]) -> float:
    return (wanted & held).total() / ((wanted | held).total() or 1)


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
    old, new = _WORD.findall(before), _WORD.findall(after)
    parts: list[str] = []
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for operation, a, b, c, d in matcher.get_opcodes():
        if operation == "equal":
            parts.append("".join(old[a:b]))
            continue
        if a < b:
            parts.append("[-" + "".join(old[a:b]) + "-]")
        if c < d:
            parts.append("{+" + "".join(new[c:d]) + "+}")
    return "".join(parts)
