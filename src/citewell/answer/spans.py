"""Ranking spans: which sentences, items, rows or code blocks of passages a reader would underline.

Deterministic: the same question and texts give the same order, everywhere. `cosines`, which the
caller may have of some spans, only add to what the words say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from citewell.core.answer_types import agreement
from citewell.core.definitions import asked_terms, defines
from citewell.core.difference import SAYS_WHERE
from citewell.core.frozen import frozen
from citewell.core.odds import log_odds
from citewell.core.text import after_quote_marks, chunk_sentences, preformatted_prose
from citewell.core.words import text_words, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.question import Query

UnitKind = Literal["sentence", "item", "row", "code", "name", "heading", "lead_in", "pointer"]
Place = tuple[int, int]
"""A passage's place in its list, and a unit's place in the passage."""
SpanRows = Mapping[Place, tuple[float, ...]]
"""The features of units, by place."""

FEATURES = (
    "coverage",  # of the question's words, rare ones counting more, in the unit itself
    "header_coverage",  # of those that the unit lacks, in the heading or term right above it
    "path_coverage",  # … in the title and the headings of its section
    "beside_coverage",  # … in the sentences before and after
    "phrase_share",  # of the question's neighbouring words that stand side by side
    "relevance",  # of the passage, as log-odds
    "is_best_passage",
    "agreement",  # with the type of answer that is wanted
    "is_definition",  # of what the question asks about
    "is_code",
    "is_row",
    "is_short",
    "is_incomplete",  # a name or a lead-in, which says nothing without what follows
    "opens_answer",  # coverage of the question by the heading that the unit stands first under
    "below_best_cosine",
)
# Fitted by bench/fit_spans.py on bench/questions.py: with each site left out of its own fit, the
# first quote answers .63 of the questions, against .60 with the weights of the even lines alone.
WEIGHTS = (3.36, 1.0, 1.21, 3.13, 1.2, 0.53, 0.41, 1.4, 1.02, -1.84, 0.03, -1.17, -1.98, 1.0, 1.45)
# Where a reader read the best passages, its log-odds for a unit are one feature more. Fitted by
# `bench.fit_spans --read --l2 8` on the sites that bench/reader_lists.py holds out.
READ_WEIGHTS = (
    *(2.08, 2.64, 1.36, 1.0, -0.68, 0.41, 0.25, 0.87, -0.11, 0.07, 0.65, 0.17, -0.94, -0.21, 0.72),
    0.62,
)
# The least that log-odds count, which is also what a unit has that was not read.
_LEAST_READ = -6.0
_COVERAGES = 4
# The best span's coverage counts as 1, so that words no page holds do not shrink the differences
# between spans; but the best of spans that hold next to nothing stays low.
_LEAST_BEST_COVERAGE = 0.3
_COSINE_SCALE = 5.0
# What a span without a cosine lies below the least that is known.
_COSINE_STEP = 0.02
_SHORT_WORDS = 4

_LINK = re.compile(r"!?\[[^\[\]]*\]\([^()\s]*\)")
_WORDS_TO_POINT = 3
_TABLE_RULE = re.compile(r"\|[\s:|-]+$")
_NAME = re.compile(r"(?:[-*] )?\*\*[^\n]+\*\*(?:\n\*\*[^\n]+\*\*)*$")
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s")
# Before code, these end a sentence that goes on there.
_GOES_ON = re.compile(r"\b(?:e\.g|i\.e|for (?:example|instance)|as follows|like (?:this|so))[.,]?$")
_FENCES = ("```", "~~~")


@frozen
class PassageText:
    """A text in which quotes are looked for."""

    text: str
    path: tuple[str, ...] = ()
    """Its page's title and the headings above it: what its sentences do not repeat."""
    relevance: float = 1.0
    """How well it matched as a whole, 0 to 1."""
    section: tuple[int, int] | None = None
    """Its page and section, where several passages can be of one section."""


@frozen
class Unit:
    """A sentence, item, row or code block of a text."""

    start: int
    end: int
    kind: UnitKind
    words: tuple[str, ...]
    held: frozenset[str]
    """Its words, each once."""
    header: frozenset[str]
    """Words of the heading, the table's header and the term that it stands under."""
    starts_paragraph: bool


@frozen
class RankedSpan:
    """A unit of a passage with its score; scores compare within one call."""

    passage: int
    unit: int
    score: float


def rank_spans(
    query: Query,
    passages: Sequence[PassageText],
    *,
    cosines: Mapping[Place, float] | None = None,
    reads: Mapping[Place, float] | None = None,
    rows: SpanRows | None = None,
) -> list[RankedSpan]:
    """Return every unit that can be quoted, best first; earlier ones win ties.

    `reads` are the log-odds that a reader gave units. `rows` are those of `span_features` without
    cosines, where the caller has them already.
    """
    known = span_features(query, passages) if rows is None else rows
    weighed = _with_cosines(known, cosines or {})
    weights: tuple[float, ...] = WEIGHTS
    if reads:
        weighed, weights = with_read(weighed, reads), READ_WEIGHTS
    spans = [
        RankedSpan(passage=passage, unit=unit, score=math.fsum(map(float.__mul__, weights, row)))
        for (passage, unit), row in weighed.items()
    ]
    return sorted(spans, key=lambda span: -span.score)


def span_features(
    query: Query, passages: Sequence[PassageText], *, cosines: Mapping[Place, float] | None = None
) -> SpanRows:
    """Return a number per name in FEATURES for every unit that can be quoted.

    A heading can be quoted only where all the text there is stands in headings.
    """
    split = [split_units(passage.text) for passage in passages]
    unquoted = {"heading", "pointer"}
    if all(unit.kind in unquoted for units in split for unit in units):
        unquoted = set()
    held_by = [
        _words_and_signs(query, passage.text, units)
        for passage, units in zip(passages, split, strict=True)
    ]
    weights = _rarity(query, [own for helds in held_by for own in helds])
    asked = frozenset(weights)
    pairs = frozenset(pairwise(query.words))
    terms = asked_terms(query.text)
    best = max((passage.relevance for passage in passages), default=0.0)
    rows: dict[Place, tuple[float, ...]] = {}
    for place, (passage, units) in enumerate(zip(passages, split, strict=True)):
        path = asked & _word_set(" ".join(passage.path))
        odds = log_odds(passage.relevance)
        held = [asked & own for own in held_by[place]]
        for at, unit in enumerate(units):
            is_bare = not unit.words and unit.kind != "code"
            if unit.kind in unquoted or is_bare:
                continue
            text = passage.text[unit.start : unit.end]
            own, header = held[at], asked & unit.header
            above = own | header
            rows[place, at] = (
                _coverage(weights, own),
                _coverage(weights, header - own),
                _coverage(weights, path - above),
                _coverage(weights, _beside(units, held, at) - above - path),
                _phrase_share(pairs, unit),
                odds,
                float(passage.relevance == best),
                agreement(query.wants, text),
                float(bool(terms) and defines(text, terms)),
                float(unit.kind == "code"),
                float(unit.kind == "row"),
                float(len(unit.held) < _SHORT_WORDS),
                float(unit.kind in ("name", "lead_in")),
                _coverage(weights, header) if _opens_section(passage.text, units, at) else 0.0,
                0.0,
            )
    most = max((math.fsum(row[:_COVERAGES]) for row in rows.values()), default=0.0)
    scale = 1.0 / max(most, _LEAST_BEST_COVERAGE)
    scaled = {
        at: (*(scale * share for share in row[:_COVERAGES]), *row[_COVERAGES:])
        for at, row in rows.items()
    }
    return _with_cosines(scaled, cosines or {})


def _with_cosines(rows: SpanRows, cosines: Mapping[Place, float]) -> SpanRows:
    """Return the rows with how far each span's cosine lies below the highest, the last column."""
    if not cosines:
        return rows
    highest = max(cosines.values())
    lowest = min(cosines.values()) - _COSINE_STEP
    return {
        at: (*row[:-1], _COSINE_SCALE * (cosines.get(at, lowest) - highest))
        for at, row in rows.items()
    }


def with_read(rows: SpanRows, reads: Mapping[Place, float]) -> SpanRows:
    """Return the rows with what a reader says of each unit at their end."""
    return {at: (*row, max(reads.get(at, _LEAST_READ), _LEAST_READ)) for at, row in rows.items()}


def _phrase_share(pairs: frozenset[tuple[str, str]], unit: Unit) -> float:
    """Return how many of the question's neighbouring words stand side by side in a unit."""
    held = unit.held
    if not any(first in held and second in held for first, second in pairs):
        return 0.0
    return len(pairs & frozenset(pairwise(unit.words))) / len(pairs)


@lru_cache(maxsize=1024)
def split_units(text: str) -> tuple[Unit, ...]:
    """Return the units of Markdown `text` in order; together they are all of it."""
    spans = chunk_sentences(text)
    units: list[Unit] = []
    heading = header = term = frozenset[str]()
    for at, (start, end) in enumerate(spans):
        following = text[slice(*spans[at + 1])] if at + 1 < len(spans) else ""
        kind = _kind_of(text[start:end], following)
        starts_paragraph = at == 0 or "\n\n" in text[spans[at - 1][1] : start]
        own = tuple(text_words(text[start:end]))
        if starts_paragraph and units and units[-1].kind != "name":
            term = frozenset()
        is_of_table = text.startswith("|", after_quote_marks(text, start))
        if not is_of_table:
            header = frozenset()
        units.append(
            Unit(
                start=start,
                end=end,
                kind=kind,
                words=own,
                held=frozenset(own),
                header=heading | header | term,
                starts_paragraph=starts_paragraph,
            )
        )
        if kind == "name":
            term = frozenset(own)
        elif kind == "heading" and is_of_table:
            header = header | frozenset(own)
        elif kind == "heading":
            heading = frozenset(own)
    return tuple(units)


def _kind_of(quoted: str, following: str) -> UnitKind:
    text = quoted[after_quote_marks(quoted, 0) :]
    following = following[after_quote_marks(following, 0) :]
    if text.startswith("#") or _TABLE_RULE.match(text) or _TABLE_RULE.match(following):
        return "heading"
    if text.startswith(_FENCES):
        return "code" if preformatted_prose(text) is None else "sentence"
    if text.startswith("|"):
        return "row"
    if text.startswith(("![", "[![")) or SAYS_WHERE.fullmatch(text):
        return "pointer"
    if _NAME.match(text):
        return "name"
    if "](" in text and not _ITEM.match(text):
        beside, links = _LINK.subn(" ", text)
        if links and len(words(beside)) <= _WORDS_TO_POINT:
            return "pointer"
    if text.endswith((":", "：")) or (following.startswith(_FENCES) and _GOES_ON.search(text)):
        return "lead_in"
    return "item" if _ITEM.match(text) else "sentence"


def _opens_section(text: str, units: Sequence[Unit], at: int) -> bool:
    """Return whether a unit is the first under a heading; where that asks, there it is answered."""
    return at > 0 and units[at - 1].kind == "heading" and text.startswith("#", units[at - 1].start)


def _beside(units: Sequence[Unit], held: Sequence[frozenset[str]], at: int) -> frozenset[str]:
    """Return the words of the question in the units before and after one."""
    around = [place for place in (at - 1, at + 1) if 0 <= place < len(units)]
    return frozenset[str]().union(
        *(held[place] for place in around if units[place].kind != "heading")
    )


@lru_cache(maxsize=1024)
def _word_set(text: str) -> frozenset[str]:
    return frozenset(words(text))


def _coverage(weights: Mapping[str, float], held: frozenset[str]) -> float:
    """Return what the words `held`, all of which have a weight, are worth together."""
    # Sets have no order, and a plain sum of floats depends on it.
    return math.fsum([weights[word] for word in held])


def _words_and_signs(query: Query, text: str, units: Sequence[Unit]) -> list[frozenset[str]]:
    """Return what each unit holds: its words, and the operators that the question asks about."""
    if not query.signs:
        return [unit.held for unit in units]
    return [
        unit.held.union(sign for sign in query.signs if text.find(sign, unit.start, unit.end) >= 0)
        for unit in units
    ]


def _rarity(query: Query, held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return what each word of the question is worth, more where few units hold it; 1 in all."""
    total = len(held) + 1
    weights = {
        word: weight * math.log(1 + total / (1 + sum(word in own for own in held)))
        for word, weight in (*query.weights.items(), *((sign, 1.0) for sign in query.signs))
    }
    whole = math.fsum(weights.values()) or 1.0
    return {word: weight / whole for word, weight in weights.items()}
