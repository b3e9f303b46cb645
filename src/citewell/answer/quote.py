"""Picking quotes: the spans that answer, with as much around them as makes them readable.

The one picker, for every tool. A quote is an exact slice of its passage, never a heading, a name
without its description or a lead-in without what it introduces where these stand in the passage.
"""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.answer.long_unit import part_to_quote
from citewell.answer.spans import rank_spans, split_units
from citewell.core.ids import citation_id
from citewell.core.page_slice import starts_inside
from citewell.core.records import Quote
from citewell.core.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from citewell.answer.spans import PassageText, Place, RankedSpan, SpanRows, Unit
    from citewell.core.question import Query
    from citewell.core.records import Block, StoredChunk

logger = logging.getLogger(__name__)

# A span this far below the best, on the scale of log-odds, only costs the reader tokens: 4 brings 2
# answers in 100 more on bench/questions.py, for a quarter more tokens.
_FAR_BELOW = 3.0
# The first few may lie further below: the other half of an answer shares few of its words.
_FEW_QUOTES = 3
_FURTHER_BELOW = 4.0
# Another section says something new sooner than the same one: its second quote must be close to the
# best, and there is no third.
_SECOND_BELOW = 1.5
_QUOTES_PER_SECTION = 2
# These say nothing without the unit that follows them.
_INCOMPLETE = ("name", "lead_in")
# A sentence that begins so is not understood without the one before it.
_REFERS_BACK = re.compile(
    r"(?:It|This|These|They|That|Those|Such|Here|Otherwise|However|But|Then|Also|Instead|Therefore"
    r"|Thus|So|In (?:this|that|such|these)|If so|For example|Note that)\b"
    r"|また|これ|その|この|しかし|ただし"
)
# How fast a quote's standing falls with its score below the best.
_SCORE_SCALE = 2.0
# How much lower the neighbouring paragraph may score to be quoted along.
_OTHER_PARAGRAPH = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteLimits:
    """How many quotes there may be, and how long."""

    max_quotes: int = 6
    first_tokens: int = 220
    """Of the best quote, which is given the sentences around it …"""
    other_tokens: int = 55
    """… and of the others."""
    longest_tokens: int = 100
    """Of one sentence, row or program: what is longer is cut."""
    with_context: bool = True
    """False: a sentence alone, though it refer to the one before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedSpan:
    """A slice of the passage at `passage`; its score compares within one call."""

    passage: int
    start: int
    end: int
    score: float
    share: float
    """Its standing beside the best one's, 0 to 1."""
    is_cut: bool
    """Whether it stops inside a unit, for its length."""


def choose_quotes(
    query: Query,
    passages: Sequence[PassageText],
    *,
    limits: QuoteLimits,
    cosines: Mapping[Place, float] | None = None,
    rows: SpanRows | None = None,
    quoted: Iterable[Place] = (),
) -> list[QuotedSpan]:
    """Return the slices to quote, best first; none overlaps another or repeats its text.

    `rows` are the features of the units, where they are known; `quoted` are units that the caller
    has quoted already.
    """
    spans = rank_spans(query, passages, cosines=cosines, rows=rows)
    scores = {(span.passage, span.unit): span.score for span in spans}
    taken = set(quoted)
    chosen: list[QuotedSpan] = []
    texts: list[str] = []
    counts: Counter[tuple[int, int] | int] = Counter()
    for span in spans:
        below = spans[0].score - span.score
        far = _FURTHER_BELOW if len(chosen) < _FEW_QUOTES else _FAR_BELOW
        if len(chosen) == limits.max_quotes or below > far:
            break
        section = passages[span.passage].section or span.passage
        is_used_up = counts[section] >= (_QUOTES_PER_SECTION if below <= _SECOND_BELOW else 1)
        if (span.passage, span.unit) in taken or is_used_up:
            continue
        text = passages[span.passage].text
        room = limits.other_tokens if chosen else limits.first_tokens
        first, last = _grow(span, text, scores, taken, max_tokens=room, limits=limits)
        longest = max(room, limits.longest_tokens)
        quote = _cut(span, text, (first, last), weights=query.weights, max_tokens=longest)
        quote = replace(quote, share=math.exp((span.score - spans[0].score) / _SCORE_SCALE))
        own = text[quote.start : quote.end]
        taken |= {(span.passage, unit) for unit in range(first, last + 1)}
        if not any(own in other or other in own for other in texts):
            chosen.append(quote)
            texts.append(own)
            counts[section] += 1
    return chosen


def cut_preview(query: Query, passage: PassageText, *, max_characters: int) -> str:
    """Return a slice of the passage that shows why it matched."""
    limits = QuoteLimits(max_quotes=1, first_tokens=max_characters // 4)
    spans = choose_quotes(query, [passage], limits=limits)
    start, end = (spans[0].start, spans[0].end) if spans else (0, len(passage.text))
    before = "…" if starts_inside(passage.text, start) else ""
    after = "…" if spans and spans[0].is_cut else ""
    room = max_characters - len(before + after)
    preview = clip(passage.text[start:end].strip(), room).removesuffix(after)
    return before + preview + after


def clip(text: str, max_characters: int) -> str:
    """Return the beginning of `text`; "…" ends it where it is cut, between words if it has any."""
    if len(text) <= max_characters:
        return text
    most = max_characters - 1
    cut = max(text.rfind(" ", 0, most + 1), text.rfind("\n", 0, most + 1))
    return text[: cut if cut > most // 2 else most].rstrip() + "…"


def quote_chunk(chunk: StoredChunk | Block, span: QuotedSpan, *, confidence: float | None) -> Quote:
    """Return a slice of a chunk or a block as a citable quote of its page."""
    start, end = chunk.start + span.start, chunk.start + span.end
    return Quote(
        origin=chunk.origin,
        release=chunk.release,
        citation_id=citation_id(chunk.source_id, chunk.page_hash, start, end),
        text=chunk.text[span.start : span.end],
        source_id=chunk.source_id,
        url=chunk.url,
        title=chunk.title,
        heading_path=chunk.heading_path,
        anchor=chunk.anchor,
        start=start,
        end=end,
        page_hash=chunk.page_hash,
        fetched_at=chunk.fetched_at,
        confidence=confidence,
        is_cut=span.is_cut,
    )


def refuse_inexact(quotes: Iterable[Quote], texts: Mapping[int, str]) -> list[Quote]:
    """Return the quotes that the pages' canonical `texts` (by source_id) hold where they say."""
    every = list(quotes)
    exact = [
        quote
        for quote in every
        if quote.text and texts.get(quote.source_id, "")[quote.start : quote.end] == quote.text
    ]
    if len(exact) < len(every):
        logger.error("%d quotes were not exact slices and were dropped", len(every) - len(exact))
    return exact


def _grow(
    span: RankedSpan,
    text: str,
    scores: Mapping[Place, float],
    taken: set[Place],
    *,
    max_tokens: int,
    limits: QuoteLimits,
) -> tuple[int, int]:
    """Return the first and last unit to quote: what belongs to the span, and better neighbours."""
    units = split_units(text)
    longest = max(max_tokens, limits.longest_tokens)

    def fits(first: int, last: int, room: float) -> bool:
        is_free = all((span.passage, unit) not in taken for unit in (first, last))
        if not (first >= 0 and last < len(units) and is_free):
            return False
        if "heading" in (units[first].kind, units[last].kind):
            return False
        return _tokens_of(units[first : last + 1], text) <= room

    first = last = span.unit
    # What a lead-in announces is quoted along even where it has to be cut.
    while units[last].kind in _INCOMPLETE and fits(first, last + 1, math.inf):
        last += 1
    if units[first].kind == "row":
        head = _head_of_table(units, first, text)
        is_near = _tokens_of(units[head : last + 1], text) <= longest
        first = head if is_near else first
        # The rows of a small table are read together: a setting's default beside its module.
        while (
            is_near
            and _is_row(units, last + 1, text)
            and _tokens_of(units[first : last + 2], text) <= max_tokens
        ):
            last += 1
        return first, last
    while (
        limits.with_context and _needs_before(units, first, text) and fits(first - 1, last, longest)
    ):
        first -= 1
    while True:
        grown = [
            (scores.get((span.passage, added), -math.inf), pair)
            for pair, added, is_far in (
                ((first, last + 1), last + 1, _breaks(units, last + 1)),
                ((first - 1, last), first - 1, _breaks(units, first)),
            )
            if fits(*pair, max_tokens)
            and not (is_far and _is_beside_the_point(span, added, scores))
        ]
        if not grown:
            break
        first, last = max(grown)[1]
    return first, _complete(
        units, last, least=span.unit, fits=lambda end: fits(first, end, longest)
    )


def _complete(units: Sequence[Unit], last: int, *, least: int, fits: Callable[[int], bool]) -> int:
    """Return `last`, moved past what a lead-in there announces, or back before it if that is long.

    It is never moved back before `least`.
    """
    end = last
    while units[end].kind in _INCOMPLETE and fits(end + 1):
        end += 1
    if units[end].kind not in _INCOMPLETE:
        return end
    while last > least and units[last].kind in _INCOMPLETE:
        last -= 1
    return last


def _is_beside_the_point(span: RankedSpan, unit: int, scores: Mapping[Place, float]) -> bool:
    """Return whether a unit of another paragraph says too little to be quoted along."""
    return scores.get((span.passage, unit), -math.inf) < span.score - _OTHER_PARAGRAPH


def _tokens_of(units: Iterable[Unit], text: str) -> int:
    return sum(_count(text[unit.start : unit.end]) for unit in units)


def _cut(
    span: RankedSpan,
    text: str,
    units: tuple[int, int],
    *,
    weights: Mapping[str, float],
    max_tokens: int,
) -> QuotedSpan:
    every = split_units(text)
    start, end = every[units[0]].start, every[units[1]].end
    part = part_to_quote(text[start:end], weights, max_tokens=max_tokens)
    return QuotedSpan(
        passage=span.passage,
        start=start + part[0],
        end=start + part[1],
        score=span.score,
        share=1.0,
        is_cut=start + part[1] < end,
    )


def _head_of_table(units: Sequence[Unit], row: int, text: str) -> int:
    """Return the unit that the table of a row begins with: its header, or its first row."""
    first = row
    while first > 0 and text.startswith("|", units[first - 1].start):
        first -= 1
    return first


def _is_row(units: Sequence[Unit], at: int, text: str) -> bool:
    return at < len(units) and text.startswith("|", units[at].start)


@lru_cache(maxsize=4096)
def _count(text: str) -> int:
    return count_tokens(text)


def _needs_before(units: Sequence[Unit], at: int, text: str) -> bool:
    """Return whether a unit is not understood without the one before it."""
    if at == 0:
        return False
    unit, before = units[at], units[at - 1]
    if before.kind in _INCOMPLETE:
        return True
    if unit.kind == "code":
        return before.kind == "sentence"
    return not unit.starts_paragraph and bool(_REFERS_BACK.match(text, unit.start))


def _breaks(units: Sequence[Unit], at: int) -> bool:
    return at < len(units) and units[at].starts_paragraph
