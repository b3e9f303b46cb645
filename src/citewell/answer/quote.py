"""Picking quotes: the spans that answer, with as much around them as makes them readable.

The one picker, for every tool. A quote is an exact slice of its passage, never a heading, a name
without its description or a lead-in without what it introduces where these stand in the passage.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from citewell.answer.grow import INCOMPLETE, grow, is_change_note, join
from citewell.answer.long_unit import part_to_quote
from citewell.answer.spans import rank_spans, split_units
from citewell.core.frozen import frozen
from citewell.core.ids import citation_id
from citewell.core.page_slice import after_blank_rows, starts_inside
from citewell.core.records import Quote
from citewell.core.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from citewell.answer.spans import PassageText, Place, RankedSpan, SpanRows
    from citewell.core.question import Query
    from citewell.core.records import Block, StoredChunk

logger = logging.getLogger(__name__)

# A span this far below the best, on the scale of log-odds, only costs the reader tokens. The first
# few may lie further below: the other half of an answer shares few of its words. So may all where
# they are limited together.
_FAR_BELOW = 3.0
_FEW_QUOTES = 3
_FURTHER_BELOW = 4.0
# Without such a limit, another section says something new sooner than the same one: its second
# quote must be close to the best, and there is no third.
_SECOND_BELOW = 1.5
# Without it, and where a reader had a say, the scores of spans lie closer together than these.
_READ_SPREAD = 0.5
_QUOTES_PER_SECTION = 2
# With it, three of one section hold .02 to .04 more answers than two, on
# bench/unseen_sites.jsonl and the sites that bench/reader_lists.py holds out.
_QUOTES_PER_SECTION_WITHIN = 3
# What a quote costs in a brief beside its words: number, id, section, link and boundary.
FRAME_TOKENS = 90
# A quote is prolonged to a sentence that would otherwise be quoted by itself, unless what stands
# between takes more tokens than another frame.
_MOST_BETWEEN = 80
_LONGEST_QUOTE = 300
# Spans that the first quote can be grown from.
_OPENINGS = 6
# How fast a quote's standing falls with its score below the best.
_SCORE_SCALE = 2.0


@frozen
class QuoteLimits:
    """How many quotes there may be, and how long."""

    max_quotes: int = 6
    first_tokens: int = 150
    """Of the best quote, which is given the sentences around it …"""
    other_tokens: int = 55
    """… and of the others."""
    longest_tokens: int = 100
    """Of one sentence, row or program: what is longer is cut."""
    with_context: bool = True
    """False: a sentence alone, though it refer to the one before it."""
    total_tokens: int | None = None
    """Of all quotes with their frames, which are filled as far as they go; None: no such limit."""
    doubtful_tokens: int = 0
    """The same where the best quote's chance is below `least_chance`."""
    least_chance: float = 0.0


@frozen
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
    chance: float = 1.0
    """The probability that the answer stands in it, if it stands in any of the passages."""
    key: tuple[int, int] = (0, 0)
    """Its unit that most probably answers, with what a lead-in announces; empty for none."""
    key_share: float = 0.0
    """The probability that the answer stands there, if it stands in the quote."""


def choose_quotes(
    query: Query,
    passages: Sequence[PassageText],
    *,
    limits: QuoteLimits,
    cosines: Mapping[Place, float] | None = None,
    rows: SpanRows | None = None,
    reads: Mapping[Place, float] | None = None,
    quoted: Iterable[Place] = (),
) -> list[QuotedSpan]:
    """Return the slices to quote, best first; none overlaps another or repeats its text.

    `rows` are the features of the units, where they are known, `reads` the log-odds that a reader
    gave some of them; `quoted` are units that the caller has quoted already.
    """
    spans = rank_spans(query, passages, cosines=cosines, reads=reads, rows=rows)
    scores = {(span.passage, span.unit): span.score for span in spans}
    spread = _READ_SPREAD if reads and limits.total_tokens is None else 1.0
    picker = _Picker(
        query, passages, scores=scores, spread=spread, limits=limits, taken=set(quoted)
    )
    picker.open(spans, is_read=bool(reads))
    for span in spans:
        if picker.is_done(span):
            break
        if (span.passage, span.unit) not in picker.taken and not picker.prolong(span):
            picker.add(span)
    return picker.quotes()


@dataclass(slots=True, kw_only=True)
class _Draft:
    """A quote that can still be prolonged: its span with the first and last unit."""

    span: RankedSpan
    units: tuple[int, int]
    quote: QuotedSpan
    tokens: int


class _Picker:
    """Picks quotes one by one, while there is room for them."""

    def __init__(
        self,
        query: Query,
        passages: Sequence[PassageText],
        *,
        scores: Mapping[Place, float],
        spread: float,
        limits: QuoteLimits,
        taken: set[Place],
    ) -> None:
        self.taken = taken
        self._query = query
        self._passages = passages
        self._limits = limits
        self._scores = scores
        self._spread = spread
        self._best = max(scores.values(), default=0.0)
        self._odds = {place: math.exp(score - self._best) for place, score in scores.items()}
        self._all_odds = math.fsum(self._odds.values()) or 1.0
        self._left = math.inf if limits.total_tokens is None else limits.total_tokens
        self._drafts: list[_Draft] = []
        self._counts: Counter[tuple[int, int] | int] = Counter()

    def open(self, spans: Sequence[RankedSpan], *, is_read: bool) -> None:
        """Quote first what most probably holds the answer, of what the best spans grow to.

        Where a reader had a say, scores are log-odds: sentences that say something together
        outweigh a better one that stands alone.
        """
        free = [span for span in spans if (span.passage, span.unit) not in self.taken]
        if not free:
            return
        best = free[: _OPENINGS if is_read else 1]
        self.add(max(best, key=lambda span: self._chance(span, self._grow(span))))
        limits = self._limits
        if limits.total_tokens is not None and self.quotes()[0].chance < limits.least_chance:
            self._left += limits.doubtful_tokens - limits.total_tokens

    def is_done(self, span: RankedSpan) -> bool:
        """Return whether neither this span nor any after it can be quoted."""
        is_full = len(self._drafts) == self._limits.max_quotes
        is_limited = self._limits.total_tokens is not None
        far = _FURTHER_BELOW if is_limited or len(self._drafts) < _FEW_QUOTES else _FAR_BELOW
        is_far = bool(self.taken) and self._best - span.score > self._spread * far
        return is_far or (is_full and not is_limited)

    def prolong(self, span: RankedSpan) -> bool:
        """Make a quote near the span reach to it; return whether one does now."""
        if self._limits.total_tokens is None or self._best - span.score > _FAR_BELOW:
            return False
        text = self._passages[span.passage].text
        if is_change_note(text, split_units(text)[span.unit]):
            return False
        for draft in self._drafts:
            if draft.span.passage != span.passage or draft.quote.is_cut:
                continue
            units = join(text, draft.units, span.unit, max_between=_MOST_BETWEEN)
            if units is None or self._overlaps(draft, units):
                continue
            longer = self._draft(draft.span, units, max_tokens=None)
            added = longer.tokens - draft.tokens
            if longer.tokens <= _LONGEST_QUOTE and added <= self._left:
                self._left -= added
                draft.units, draft.quote, draft.tokens = longer.units, longer.quote, longer.tokens
                self._take(draft)
                return True
        return False

    def add(self, span: RankedSpan) -> None:
        """Quote the span with what belongs to it, if there is room and it says something new."""
        section = self._passages[span.passage].section or span.passage
        is_full = len(self._drafts) == self._limits.max_quotes
        if is_full or self._counts[section] >= self._most_of_section(span):
            return
        draft = self._draft(span, self._grow(span), max_tokens=self._longest)
        cost = draft.tokens + FRAME_TOKENS
        if self._drafts and cost > self._left:
            return
        self._take(draft)
        own = self._text_of(draft)
        texts = [self._text_of(other) for other in self._drafts]
        if not any(own in other or other in own for other in texts):
            self._drafts.append(draft)
            self._counts[section] += 1
            self._left -= cost

    def quotes(self) -> list[QuotedSpan]:
        """Return what was picked, with its standing beside the first."""
        return [
            replace(
                self._with_key(draft),
                share=min(1.0, math.exp((draft.span.score - self._best) / _SCORE_SCALE))
                if place
                else 1.0,
                chance=self._chance(draft.span, draft.units),
            )
            for place, draft in enumerate(self._drafts)
        ]

    def _with_key(self, draft: _Draft) -> QuotedSpan:
        """Return the quote of a draft with its unit of the highest odds."""
        passage, quote = draft.span.passage, draft.quote
        units = split_units(self._passages[passage].text)
        odds = [
            0.0 if units[at].kind == "heading" else self._odds.get((passage, at), 0.0)
            for at in range(draft.units[0], draft.units[1] + 1)
        ]
        first = last = odds.index(max(odds))
        while units[draft.units[0] + last].kind in INCOMPLETE and last + 1 < len(odds):
            last += 1
        held = math.fsum(odds[first : last + 1])
        start = max(quote.start, units[draft.units[0] + first].start)
        end = min(quote.end, units[draft.units[0] + last].end)
        if not held or start >= end:
            return quote
        return replace(quote, key=(start, end), key_share=held / math.fsum(odds))

    @property
    def _room(self) -> int:
        return self._limits.other_tokens if self._drafts else self._limits.first_tokens

    @property
    def _longest(self) -> int:
        return max(self._room, self._limits.longest_tokens)

    def _grow(self, span: RankedSpan) -> tuple[int, int]:
        return grow(
            span,
            self._passages[span.passage].text,
            self._scores,
            self.taken,
            max_tokens=self._room,
            longest=self._longest,
            with_context=self._limits.with_context,
        )

    def _chance(self, span: RankedSpan, units: tuple[int, int]) -> float:
        places = ((span.passage, unit) for unit in range(units[0], units[1] + 1))
        return math.fsum(self._odds.get(place, 0.0) for place in places) / self._all_odds

    def _most_of_section(self, span: RankedSpan) -> int:
        if self._limits.total_tokens is not None:
            return _QUOTES_PER_SECTION_WITHIN
        is_close = self._best - span.score <= self._spread * _SECOND_BELOW
        return _QUOTES_PER_SECTION if is_close else 1

    def _overlaps(self, draft: _Draft, units: tuple[int, int]) -> bool:
        own = range(draft.units[0], draft.units[1] + 1)
        return any(
            (draft.span.passage, unit) in self.taken
            for unit in range(units[0], units[1] + 1)
            if unit not in own
        )

    def _draft(self, span: RankedSpan, units: tuple[int, int], *, max_tokens: int | None) -> _Draft:
        text = self._passages[span.passage].text
        quote = _cut(span, text, units, weights=self._query.weights, max_tokens=max_tokens)
        tokens = count_tokens(text[quote.start : quote.end])
        return _Draft(span=span, units=units, quote=quote, tokens=tokens)

    def _take(self, draft: _Draft) -> None:
        first, last = draft.units
        self.taken |= {(draft.span.passage, unit) for unit in range(first, last + 1)}

    def _text_of(self, draft: _Draft) -> str:
        return self._passages[draft.quote.passage].text[draft.quote.start : draft.quote.end]


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
    has_key = confidence is not None and span.key_share > 0
    return Quote(
        key=(chunk.start + span.key[0], chunk.start + span.key[1]) if has_key else None,
        key_confidence=(confidence or 0.0) * span.key_share,
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


def _cut(
    span: RankedSpan,
    text: str,
    units: tuple[int, int],
    *,
    weights: Mapping[str, float],
    max_tokens: int | None,
) -> QuotedSpan:
    """Return the units as a quote, a part of them where they are too long."""
    every = split_units(text)
    start, end = every[units[0]].start, every[units[1]].end
    part = (0, end - start)
    if max_tokens is not None:
        part = part_to_quote(text[start:end], weights, max_tokens=max_tokens)
    return QuotedSpan(
        passage=span.passage,
        start=after_blank_rows(text, start + part[0], start + part[1]),
        end=start + part[1],
        score=span.score,
        share=1.0,
        is_cut=start + part[1] < end,
    )
