"""Choosing the few quotes that answer a question among the spans of several passages."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.answer.definitions import asked_terms, raise_definitions
from citewell.answer.evidence_spans import (
    FENCES,
    EvidenceSpan,
    clip,
    question_terms,
    rank_spans,
    score_span,
    split_spans,
)
from citewell.core.tokens import count_tokens, truncate_to_tokens
from citewell.core.words import STOP_WORDS, content_words, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citewell.answer.evidence_spans import PassageText

MAX_QUOTE_CHARACTERS = 500
# How many spans are weighed a second time. With the 24 of the seed's example JSQuAD loses two
# answers in a hundred.
_RERANKED_SPANS = 64
# What a word is worth to a span that does not hold it, where its page's title or headings, or the
# sentences beside it, do: a sentence seldom repeats what it speaks of.
_IN_CONTEXT = 0.5
_IN_NEIGHBOUR = 0.5
# A span this much weaker than the best is left out even when there is room.
_LEAST_SHARE_OF_BEST = 0.35
# A passage that is twenty times less likely to answer than the best one only adds length.
_LEAST_RELEVANCE = 0.05
_MAX_PREVIEW_SPANS = 3
_HIRAGANA = re.compile(r"[\u3041-\u3096ー]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteLimits:
    """How many quotes there may be, and how long."""

    max_quotes: int = 6
    max_quote_tokens: int = 80
    context_tokens: int = 20
    """Neighbouring sentences of at most so many tokens are quoted along."""


def choose_quotes(
    question: str,
    passages: Sequence[PassageText],
    *,
    limits: QuoteLimits,
    rerank: bool,
) -> list[EvidenceSpan]:
    """Return the spans to quote, best first; spans that adjoin become one quote where it fits.

    Without `rerank` the order is that of `rank_spans`. Where no span shares a word with the
    question, the first span of the best passage stands for it.
    """
    spans = rank_spans(question, passages)
    if rerank:
        beside = _IN_NEIGHBOUR if limits.context_tokens else 0.0
        spans = rerank_spans(question, passages, spans[:_RERANKED_SPANS], in_neighbour=beside)
    if spans and spans[0].score == 0:
        spans = [min(spans, key=lambda span: (-passages[span.passage].relevance, *_place(span)))]
    chosen = _Chosen(passages, limits)
    for span in spans:
        if span.score < _LEAST_SHARE_OF_BEST * spans[0].score:
            break
        chosen.add(span)
    return chosen.quotes()


def cut_preview(question: str, passage: PassageText, *, max_characters: int, rerank: bool) -> str:
    """Return the span that answers best, with up to two neighbours that still fit.

    A neighbour joins only when it holds a term of the question that the preview lacks. The
    preview is a slice of the passage.
    """
    text = passage.text
    ranked = rank_spans(question, [passage])
    if not ranked:
        return clip(text.strip(), max_characters)
    if rerank:
        ranked = rerank_spans(question, [passage], ranked[:_RERANKED_SPANS])
    terms = [term for term in question_terms(question) if term not in STOP_WORDS]
    spans = split_spans(text)
    first = last = ranked[0].at
    while last - first + 1 < _MAX_PREVIEW_SPANS:
        score = score_span(terms, text[spans[first][0] : spans[last][1]])
        grown = [
            (a, b)
            for a, b in ((first, last + 1), (first - 1, last))
            if a >= 0
            and b < len(spans)
            and spans[b][1] - spans[a][0] <= max_characters
            and score_span(terms, text[spans[a][0] : spans[b][1]]) > score
        ]
        if not grown:
            break
        first, last = grown[0]
    return clip(text[spans[first][0] : spans[last][1]], max_characters)


def rerank_spans(
    question: str,
    passages: Sequence[PassageText],
    spans: Sequence[EvidenceSpan],
    *,
    in_neighbour: float = 0.0,
) -> list[EvidenceSpan]:
    """Return `spans` ordered by the question's words, stemmed and rare ones weighing more.

    A word counts in part where only the context holds it, `in_neighbour` says for how much where
    only the sentence before or after does, and a span of a better passage counts for more.
    """
    held = [_span_words(passage.text) for passage in passages]
    weights = _word_weights(question, [own for spans_held in held for own in spans_held])
    best = max((passage.relevance for passage in passages), default=0.0) or 1.0
    # The root keeps the second passage of a question in two parts: without it JSQuAD and clapnq
    # each lose one answer in a hundred.
    shares = [max(0.0, passage.relevance) / best for passage in passages]
    standing = [math.sqrt(share) if share >= _LEAST_RELEVANCE else 0.0 for share in shares]
    weighed = [
        replace(
            span,
            score=standing[span.passage]
            * _coverage(
                span.at,
                held[span.passage],
                context=_words_of(passages[span.passage].context),
                weights=weights,
                in_neighbour=in_neighbour,
            ),
        )
        for span in spans
    ]
    raised = raise_definitions(
        [span.score for span in weighed],
        [passages[span.passage].text[span.start : span.end] for span in weighed],
        asked_terms(question),
    )
    ranked = [replace(span, score=score) for span, score in zip(weighed, raised, strict=True)]
    return sorted(ranked, key=lambda span: (-span.score, span.end - span.start))


def _coverage(
    at: int,
    held: Sequence[frozenset[str]],
    *,
    context: frozenset[str],
    weights: Mapping[str, float],
    in_neighbour: float,
) -> float:
    """Return how much of the question the span at `at` covers, given what each span holds."""
    own = held[at]
    neighbours = (*held[max(0, at - 1) : at], *held[at + 1 : at + 2]) if in_neighbour else ()
    beside = frozenset[str]().union(*neighbours)
    total = 0.0
    for word, weight in weights.items():
        if word in own:
            total += weight
        elif word in context:
            total += _IN_CONTEXT * weight
        elif word in beside:
            total += in_neighbour * weight
    return total


def _word_weights(question: str, held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return what each word of the question is worth, more where few spans hold it; 1 in all."""
    total = len(held) + 1
    weights = {
        word: math.log(1 + total / (1 + sum(word in own for own in held)))
        for word in _telling_words(question)
    }
    whole = sum(weights.values()) or 1.0
    return {word: weight / whole for word, weight in weights.items()}


@lru_cache(maxsize=256)
def _telling_words(question: str) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(content_words(question)))
    return tuple(word for word in wanted if not _HIRAGANA.fullmatch(word)) or wanted


# Previews and quotes of one passage are cut one after the other.
@lru_cache(maxsize=512)
def _span_words(text: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(words(text[start:end])) for start, end in split_spans(text))


@lru_cache(maxsize=512)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(words(text))


def _place(span: EvidenceSpan) -> tuple[int, int]:
    return span.passage, span.start


@dataclass(slots=True, kw_only=True)
class _Run:
    """Neighbouring spans of one passage, from index `first` through `last`."""

    passage: int
    first: int
    last: int
    score: float


class _Chosen:
    """The quotes taken so far, as runs of neighbouring spans."""

    def __init__(self, passages: Sequence[PassageText], limits: QuoteLimits) -> None:
        self._passages = passages
        self._limits = limits
        self._places = [split_spans(passage.text) for passage in passages]
        self._runs: list[_Run] = []

    def add(self, span: EvidenceSpan) -> None:
        """Take a span into the run that it adjoins, or as a run of its own while there is room."""
        at = span.at
        for run in self._runs:
            if run.passage == span.passage and at in (run.first - 1, run.last + 1):
                first, last = min(run.first, at), max(run.last, at)
                if self._fits(span.passage, first, last):
                    run.first, run.last = first, last
                    return
        if len(self._runs) < self._limits.max_quotes:
            self._runs.append(_Run(passage=span.passage, first=at, last=at, score=span.score))

    def quotes(self) -> list[EvidenceSpan]:
        """Return the runs as spans, grown by short neighbours and cut to the limits."""
        for run in self._runs:
            self._grow(run)
        return [self._cut(run) for run in self._runs]

    def _grow(self, run: _Run) -> None:
        taken = {
            at
            for other in self._runs
            if other is not run and other.passage == run.passage
            for at in range(other.first, other.last + 1)
        }
        places = self._places[run.passage]
        # What follows explains more often than what comes before.
        for at in (run.last + 1, run.first - 1):
            if not 0 <= at < len(places) or at in taken:
                continue
            first, last = min(run.first, at), max(run.last, at)
            short = self._tokens(run.passage, at, at) <= self._limits.context_tokens
            if short and self._fits(run.passage, first, last):
                run.first, run.last = first, last

    def _fits(self, passage: int, first: int, last: int) -> bool:
        places = self._places[passage]
        long = places[last][1] - places[first][0] > MAX_QUOTE_CHARACTERS
        return not long and self._tokens(passage, first, last) <= self._limits.max_quote_tokens

    def _tokens(self, passage: int, first: int, last: int) -> int:
        places = self._places[passage]
        return count_tokens(self._passages[passage].text[places[first][0] : places[last][1]])

    def _cut(self, run: _Run) -> EvidenceSpan:
        places = self._places[run.passage]
        start = places[run.first][0]
        text = self._passages[run.passage].text[start : places[run.last][1]]
        short = truncate_to_tokens(clip(text, MAX_QUOTE_CHARACTERS), self._limits.max_quote_tokens)
        if len(short) < len(text) and text.startswith(FENCES) and "\n" in short:
            short = short[: short.rindex("\n")]
        return EvidenceSpan(
            passage=run.passage,
            at=run.first,
            start=start,
            end=start + len(short),
            score=run.score,
        )
