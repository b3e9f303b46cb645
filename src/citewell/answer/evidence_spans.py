"""Evidence spans: the sentences of passages that bear on a question, by the rule of seed D §4.6.1.

Deterministic: the same question and texts give the same spans in the same order, everywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.core.language import has_cjk
from citewell.core.text import sentence_spans
from citewell.core.tokens import count_tokens
from citewell.core.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from citewell.core.text import Span

MAX_SPAN_TOKENS = 80
"""A longer sentence is cut into clauses, so that a quote can show the part that matters."""

_CLAUSE_END = re.compile(r"[,;:)](?=\s)|[、，；：）」』]")
FENCES = ("```", "~~~")
# Rows and fenced blocks mean something only as a whole.
_UNCUT = (*FENCES, "|")
_TOKEN = re.compile(r"[^\W_]+")
_LEAST_TOKEN_CHARACTERS = 3
_HIRAGANA = re.compile(r"[\u3041-\u3096ー]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageText:
    """A text in which evidence is looked for."""

    text: str
    context: str = ""
    """Its page title and headings: what its sentences do not repeat."""
    relevance: float = 1.0
    """How well it matched as a whole, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceSpan:
    """A span of the passage at index `passage`, with its score from 0 to 1."""

    passage: int
    at: int
    """Which of the passage's spans it is, or begins with."""
    start: int
    end: int
    score: float


@lru_cache(maxsize=256)
def question_terms(question: str) -> tuple[str, ...]:
    """Return what a span may share with the question: its tokens of three characters or more.

    Japanese and its neighbours have no spaces to split at, so their runs give bigrams; those of
    hiragana alone are endings and particles, which every sentence has.
    """
    terms: list[str] = []
    for token in _TOKEN.findall(question.lower()):
        if has_cjk(token):
            pairs = words(token)
            terms += [pair for pair in pairs if not _HIRAGANA.fullmatch(pair)] or pairs
        elif len(token) >= _LEAST_TOKEN_CHARACTERS:
            terms.append(token)
    return tuple(dict.fromkeys(terms))


def rank_spans(question: str, passages: Sequence[PassageText]) -> list[EvidenceSpan]:
    """Return every span of the passages, best first; shorter ones and earlier ones win ties.

    A span is a sentence, a list item, a table row or a whole fenced block. Its score is the share
    of the question's terms that it holds.
    """
    terms = question_terms(question)
    spans = [
        EvidenceSpan(
            passage=number,
            at=at,
            start=start,
            end=end,
            score=score_span(terms, passage.text[start:end]),
        )
        for number, passage in enumerate(passages)
        for at, (start, end) in enumerate(split_spans(passage.text))
    ]
    # The sort is stable, so among equals the earlier passage and the earlier place come first.
    return sorted(spans, key=lambda span: (-span.score, span.end - span.start))


def score_span(terms: Sequence[str], text: str) -> float:
    """Return the share of `terms` that stand in `text`."""
    lowered = text.lower()
    return sum(term in lowered for term in terms) / max(1, len(terms))


@lru_cache(maxsize=512)
def split_spans(text: str) -> tuple[Span, ...]:
    """Return the spans of `text` that may be quoted, in order."""
    # A heading names what follows and says nothing of it.
    shown = [span for span in sentence_spans(text) if not text.startswith("#", span[0])]
    return tuple(piece for span in shown for piece in _clauses(text, span))


def clip(text: str, max_characters: int) -> str:
    """Return the beginning of `text`, cut between words where there are any."""
    if len(text) <= max_characters:
        return text
    cut = max(text.rfind(" ", 0, max_characters + 1), text.rfind("\n", 0, max_characters + 1))
    return text[: cut if cut > max_characters // 2 else max_characters].rstrip()


def _clauses(text: str, span: Span) -> Iterator[Span]:
    """Cut a sentence that is too long for a quote into about equal runs of whole clauses."""
    start, end = span
    # No token is shorter than a byte: what is short enough in bytes need not be counted.
    short = len(text[start:end].encode("utf-8", "replace")) <= MAX_SPAN_TOKENS
    if short or text.startswith(_UNCUT, start):
        yield span
        return
    tokens = count_tokens(text[start:end])
    if tokens <= MAX_SPAN_TOKENS:
        yield span
        return
    aimed = (end - start) / -(-tokens // MAX_SPAN_TOKENS)
    cut = start
    for match in _CLAUSE_END.finditer(text, start, end):
        if match.end() - start > aimed and cut > start:
            yield (start, cut)
            start = _skip_space(text, cut)
        cut = match.end()
    if end - start > aimed and start < cut < end:
        yield (start, cut)
        start = _skip_space(text, cut)
    if start < end:
        yield (start, end)


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
