"""Growing spans to what is read with them: code to its lead-in, a row to its header."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.answer.spans import split_units
from citewell.core.text import after_quote_marks
from citewell.core.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from citewell.answer.spans import Place, RankedSpan, Unit

# These say nothing without the unit that follows them.
INCOMPLETE = ("name", "lead_in")
# A sentence that begins so is not understood without the one before it.
_REFERS_BACK = re.compile(
    r"(?:It|This|These|They|That|Those|Such|Here|Otherwise|However|But|Then|Also|Instead|Therefore"
    r"|Thus|So|In (?:this|that|such|these)|If so|For example|Note that)\b"
    r"|また|これ|その|この|しかし|ただし"
)
# A note on versions is quoted where it answers, not along with what does.
_CHANGE_NOTE = re.compile(
    r"[*_]{0,3}(?:Changed|New|Added|Deprecated|Removed) (?:in|since) (?:version )?\d"
)
# How much lower the neighbouring paragraph may score to be quoted along.
_OTHER_PARAGRAPH = 3.0


def grow(
    span: RankedSpan,
    text: str,
    scores: Mapping[Place, float],
    taken: Collection[Place],
    *,
    max_tokens: int,
    longest: int,
    with_context: bool,
) -> tuple[int, int]:
    """Return the first and last unit to quote: what belongs to the span, and better neighbours.

    What belongs to it can take `longest` tokens, with its neighbours it takes `max_tokens` at most.
    """
    units = split_units(text)

    def fits(first: int, last: int, room: float) -> bool:
        is_free = all((span.passage, unit) not in taken for unit in (first, last))
        if not (first >= 0 and last < len(units) and is_free):
            return False
        if "heading" in (units[first].kind, units[last].kind):
            return False
        return _tokens_of(units[first : last + 1], text) <= room

    first = last = span.unit
    # What a lead-in announces is quoted along even where it has to be cut.
    while units[last].kind in INCOMPLETE and fits(first, last + 1, math.inf):
        last += 1
    if units[last].kind in INCOMPLETE and _is_row(units, last + 1, text):
        return first, _end_of_rows(units, first, last, text, max_tokens=longest)
    if units[first].kind == "row":
        head = _head_of_table(units, first, text)
        is_near = _tokens_of(units[head : last + 1], text) <= longest
        first = head if is_near else first
        # The rows of a small table are read together: a setting's default beside its module.
        end = _end_of_rows(units, first, last, text, max_tokens=max_tokens) if is_near else last
        return first, end
    while with_context and _needs_before(units, first, text) and fits(first - 1, last, longest):
        first -= 1
    while True:
        grown = [
            (scores.get((span.passage, added), -math.inf), pair)
            for pair, added, is_far in (
                ((first, last + 1), last + 1, _breaks(units, last + 1)),
                ((first - 1, last), first - 1, _breaks(units, first)),
            )
            if fits(*pair, max_tokens)
            and not is_change_note(text, units[added])
            and not (is_far and _is_beside_the_point(span, added, scores))
        ]
        if not grown:
            break
        first, last = max(grown)[1]
    return first, _complete(
        units, last, least=span.unit, fits=lambda end: fits(first, end, longest)
    )


def is_change_note(text: str, unit: Unit) -> bool:
    """Return whether a unit says since when something is as it is."""
    return bool(_CHANGE_NOTE.match(text, after_quote_marks(text, unit.start)))


def _complete(units: Sequence[Unit], last: int, *, least: int, fits: Callable[[int], bool]) -> int:
    """Return `last`, moved past what a lead-in there announces, or back before it if that is long.

    It is never moved back before `least`.
    """
    end = last
    while units[end].kind in INCOMPLETE and fits(end + 1):
        end += 1
    if units[end].kind not in INCOMPLETE:
        return end
    while last > least and units[last].kind in INCOMPLETE:
        last -= 1
    return last


def _is_beside_the_point(span: RankedSpan, unit: int, scores: Mapping[Place, float]) -> bool:
    """Return whether a unit of another paragraph says too little to be quoted along."""
    least = scores[span.passage, span.unit] - _OTHER_PARAGRAPH
    return scores.get((span.passage, unit), -math.inf) < least


def _tokens_of(units: Iterable[Unit], text: str) -> int:
    return sum(_count(text[unit.start : unit.end]) for unit in units)


def join(
    text: str, quoted: tuple[int, int], unit: int, *, max_between: int
) -> tuple[int, int] | None:
    """Return the units from those `quoted` to `unit`, with what a lead-in at the end announces.

    None when a heading or more than `max_between` tokens stand between the two.
    """
    units = split_units(text)
    first, last = min(quoted[0], unit), max(quoted[1], unit)
    last = _complete(units, last, least=last, fits=lambda end: end < len(units))
    added = [at for at in range(first, last + 1) if not quoted[0] <= at <= quoted[1]]
    between = [units[at] for at in added if at != unit]
    has_heading = any(each.kind == "heading" for each in between)
    return None if has_heading or _tokens_of(between, text) > max_between else (first, last)


def _head_of_table(units: Sequence[Unit], row: int, text: str) -> int:
    """Return the unit that the table of a row begins with: its header, or its first row."""
    first = row
    while first > 0 and _is_row(units, first - 1, text):
        first -= 1
    return first


def _end_of_rows(
    units: Sequence[Unit], first: int, last: int, text: str, *, max_tokens: int
) -> int:
    """Return the last row after `last` that can be quoted from `first` on; one row always can."""
    end = last
    while _is_row(units, end + 1, text) and (
        units[end].kind != "row" or _tokens_of(units[first : end + 2], text) <= max_tokens
    ):
        end += 1
    return end


def _is_row(units: Sequence[Unit], at: int, text: str) -> bool:
    return at < len(units) and text.startswith("|", after_quote_marks(text, units[at].start))


@lru_cache(maxsize=4096)
def _count(text: str) -> int:
    return count_tokens(text)


def _needs_before(units: Sequence[Unit], at: int, text: str) -> bool:
    """Return whether a unit is not understood without the one before it."""
    if at == 0:
        return False
    unit, before = units[at], units[at - 1]
    if before.kind in INCOMPLETE:
        return True
    if unit.kind == "code":
        return before.kind == "sentence"
    return not unit.starts_paragraph and bool(
        _REFERS_BACK.match(text, after_quote_marks(text, unit.start))
    )


def _breaks(units: Sequence[Unit], at: int) -> bool:
    return at < len(units) and units[at].starts_paragraph
