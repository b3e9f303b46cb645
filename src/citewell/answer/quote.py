"""Picking quotes: the sentences of a block that bear on the question, as exact slices."""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from dataclasses import dataclass
from itertools import chain, repeat
from typing import TYPE_CHECKING

from citewell.answer.definitions import asked_terms, defines
from citewell.core.ids import citation_id
from citewell.core.records import Quote
from citewell.core.text import sentence_spans
from citewell.core.tokens import count_tokens
from citewell.core.words import content_words, text_words, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citewell.core.records import Block
    from citewell.core.text import Span

logger = logging.getLogger(__name__)

MAX_QUOTE_TOKENS = 80
MAX_QUOTE_CHARACTERS = 500
_MAX_SENTENCES = 3
# What a further sentence costs, so that it is taken only when it brings words of the question.
_SENTENCE_COST = 0.08
# What a word that was quoted before is still worth, and what it is worth to stand next to a quote.
_AGAIN = 0.5
_NEIGHBOUR = 0.25
# What a word is worth to a sentence under a heading that holds it.
_IN_HEADING = 0.7
_KIND_OF_ANSWER = 0.15
# What it is worth to say what the thing is that the question asks about.
_DEFINITION = 0.8
# What a question asks for, and what a sentence holds that may be it.
_KINDS_OF_ANSWER = (
    (
        re.compile(
            r"\b(?:how (?:many|much|long|old|far|often|tall|large|big|high)|when|which year"
            r"|what (?:year|date|percent\w*|number))\b"
            r"|何(?:年|月|日|人|回|個|%|パーセント|歳|時|度|番)|いつ|いくつ|いくら|どのくらい",
            re.IGNORECASE,
        ),
        re.compile(
            r"\d|[一二三四五六七八九十百千]"
            r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten)\b"
        ),
    ),
    (
        re.compile(r"\b(?:who|whom|whose|where|which|what)\b", re.IGNORECASE),
        re.compile(r"(?<=[a-z,;] )[A-Z]\w+"),
    ),
)
# A heading names what follows and an image shows it; neither says anything that one could cite.
_NOT_QUOTED = ("#", "![")
# A sentence that only points elsewhere ("See also [x](…)") has a few words beside its links.
_LINK = re.compile(r"!?\[[^\[\]]*\]\([^()\s]*\)")
_WORDS_TO_POINT = 3
_TABLE_RULE = re.compile(r"\|[\s:|-]+$")
_NAME = re.compile(r"\*\*[^\n]+\*\*(?:\n\*\*[^\n]+\*\*)*$")
_CONTRAST = re.compile(r"(?:However|But|Nevertheless|Otherwise)\b|しかし|ただし|だが|けれども")
_FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    span: Span
    words: frozenset[str]
    """Those of a table's header count for each of its rows, which mean nothing without it."""
    heading: frozenset[str]
    """Words of the heading above it, where the block has several; it seldom repeats them."""
    tokens: int
    leads_on: bool
    """Whether it only announces what follows: code, a list, rows, what is said of a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What else than words the question asks for."""

    kind: re.Pattern[str] | None
    terms: tuple[str, ...]

    def bonus(self, text: str, spans: Sequence[Span]) -> float:
        """Return what a window of sentences is worth for being an answer of this form."""
        is_kind = self.kind is not None and any(self.kind.search(text, *span) for span in spans)
        is_definition = defines(text[spans[0][0] : spans[-1][1]], self.terms)
        return _KIND_OF_ANSWER * is_kind + _DEFINITION * is_definition


def pick_quotes(
    query: str, blocks: Sequence[Block], *, limit: int, per_block: Sequence[int] = (1,)
) -> list[Quote]:
    """Return the quotes of at most `limit` blocks, in the order of `blocks`, a block's best first.

    A quote is one to three neighbouring sentences of its block: those that hold most of the words
    of `query`, rare words weighing more. `per_block` says how many the first block may have, the
    second and so on; blocks beyond it have one. Deterministic.
    """
    sentences = [_sentences_of(block.text) for block in blocks[:limit]]
    weights = _word_weights(query, [each for one in sentences for each in one])
    wanted = _Wanted(
        kind=next((held for asked, held in _KINDS_OF_ANSWER if asked.search(query)), None),
        terms=asked_terms(query),
    )
    counts = chain(per_block, repeat(1))
    return [
        _quote(block, span)
        for block, found, count in zip(blocks, sentences, counts, strict=False)
        for span in _best_spans(found, block.text, weights, wanted, count=count)
    ]


def refuse_inexact(quotes: Sequence[Quote], texts: Mapping[int, str]) -> list[Quote]:
    """Return the quotes that the pages' canonical `texts` (by source_id) hold where they say."""
    exact = [
        quote
        for quote in quotes
        if quote.text and texts.get(quote.source_id, "")[quote.start : quote.end] == quote.text
    ]
    if len(exact) < len(quotes):
        logger.error("%d quotes were not exact slices and were dropped", len(quotes) - len(exact))
    return exact


def _sentences_of(text: str) -> list[_Sentence]:
    found: list[_Sentence] = []
    header: frozenset[str] = frozenset()
    every = sentence_spans(text)
    headings = [start for start, _ in every if text.startswith("#", start)]
    spans = [span for span in every if not text.startswith(_NOT_QUOTED, span[0])]
    for at, (start, end) in enumerate(spans):
        sentence = text[start:end]
        if _TABLE_RULE.match(sentence) or _is_pointer(sentence):
            continue
        own = frozenset(text_words(sentence))
        is_reversed = at + 1 < len(spans) and _is_reversed(text, end, spans[at + 1][0])
        is_header = at + 1 < len(spans) and bool(_TABLE_RULE.match(text[slice(*spans[at + 1])]))
        if is_header or not sentence.startswith("|"):
            header = own if is_header else frozenset()
        found.append(
            _Sentence(
                span=(start, end),
                words=own | header,
                heading=_heading_above(text, start, headings),
                tokens=count_tokens(sentence),
                leads_on=is_header or is_reversed or _leads_on(sentence),
            )
        )
    return found


def _is_pointer(sentence: str) -> bool:
    beside, links = _LINK.subn(" ", sentence)
    is_list = sentence.startswith(("-", "*", "|"))
    return links > 0 and not is_list and len(words(beside)) <= _WORDS_TO_POINT


def _heading_above(text: str, start: int, headings: Sequence[int]) -> frozenset[str]:
    above = [at for at in headings if at < start]
    if len(headings) < 2 or not above:
        return frozenset()
    return frozenset(words(text[above[-1] : start].partition("\n")[0]))


def _word_weights(query: str, sentences: Sequence[_Sentence]) -> dict[str, float]:
    """Return what each word of the query is worth: the rarer among the sentences, the more."""
    counts = Counter(word for sentence in sentences for word in sentence.words)
    total = len(sentences) + 1
    wanted = dict.fromkeys(content_words(query))
    weights = {word: math.log(1 + total / (1 + counts[word])) for word in wanted}
    whole = sum(weights.values()) or 1.0
    return {word: weight / whole for word, weight in weights.items()}


def _best_spans(
    sentences: Sequence[_Sentence],
    text: str,
    weights: Mapping[str, float],
    wanted: _Wanted,
    *,
    count: int,
) -> list[Span]:
    """Return up to `count` windows that do not overlap, each worth most beside those before it."""
    every = _windows(sentences, text)
    # Part of a program misleads who reads it alone; the block shows it whole.
    windows = [each for each in every if not _is_cut_code(each, sentences, text)] or every
    bonus = {
        window: wanted.bonus(text, [sentences[at].span for at in window]) for window in windows
    }
    worth = dict(weights)
    free = set(range(len(sentences)))
    taken: set[int] = set()
    chosen: list[range] = []

    def value(window: range) -> float:
        held = {word for at in window for word in sentences[at].words if word in worth}
        named = {word for word in sentences[window[0]].heading if word in worth} - held
        # Sets have no order, and a plain sum of floats depends on it.
        score = math.fsum(worth[word] for word in held)
        score += _IN_HEADING * math.fsum(worth[word] for word in named)
        score -= _SENTENCE_COST * (len(window) - 1)
        score += bonus[window]
        # A table's row says nothing of the sentence, or the row, that it stands beside.
        is_row = text.startswith("|", sentences[window[0]].span[0])
        is_beside = not is_row and bool({window[0] - 1, window[-1] + 1} & taken)
        return score + _NEIGHBOUR * is_beside

    while len(chosen) < count:
        possible = [window for window in windows if free.issuperset(window)]
        if not possible:
            break
        best = max(possible, key=value)
        if chosen and value(best) <= 0:
            break
        chosen.append(best)
        taken.update(best)
        free.difference_update(best)
        for word in {word for at in best for word in sentences[at].words} & worth.keys():
            worth[word] *= _AGAIN
    spans = [_cut(text, span) for span in _joined(chosen, sentences, text)]
    return _with_headers(spans, sentences, text)


def _joined(windows: Sequence[range], sentences: Sequence[_Sentence], text: str) -> list[Span]:
    """Return the windows as spans, best first; neighbours become one where it stays short."""
    joined: list[range] = []
    for window in windows:
        for at, other in enumerate(joined):
            both = range(min(window[0], other[0]), max(window[-1], other[-1]) + 1)
            if len(both) == len(window) + len(other) and _fits_one_quote(both, sentences, text):
                joined[at] = both
                break
        else:
            joined.append(window)
    return [(sentences[each[0]].span[0], sentences[each[-1]].span[1]) for each in joined]


def _fits_one_quote(window: range, sentences: Sequence[_Sentence], text: str) -> bool:
    start, end = sentences[window[0]].span[0], sentences[window[-1]].span[1]
    return end - start <= MAX_QUOTE_CHARACTERS and "\n\n" not in text[start:end]


def _is_cut_code(window: range, sentences: Sequence[_Sentence], text: str) -> bool:
    start, end = sentences[window[0]].span[0], sentences[window[-1]].span[1]
    return end - start > MAX_QUOTE_CHARACTERS and "```" in text[start:end]


def _with_headers(spans: Sequence[Span], sentences: Sequence[_Sentence], text: str) -> list[Span]:
    """Return the spans, those of a table's rows from its header on where that stays short."""
    ends: dict[int, int] = {}
    for start, end in spans:
        header = _header_of(start, sentences, text)
        low = header if end - header <= MAX_QUOTE_CHARACTERS else start
        # Two rows of a table that both begin at its header are one quote.
        ends[low] = max(end, ends.get(low, end))
    return list(ends.items())


def _header_of(start: int, sentences: Sequence[_Sentence], text: str) -> int:
    """Return where the table begins whose row starts at `start`; `start` where it is no row."""
    for sentence in reversed([each for each in sentences if each.span[0] <= start]):
        if not text.startswith("|", sentence.span[0]):
            break
        start = sentence.span[0]
    return start


def _windows(sentences: Sequence[_Sentence], text: str) -> list[range]:
    """Return the runs of neighbouring sentences that can be quoted together."""
    windows: list[range] = []
    for first in range(len(sentences)):
        tokens = 0
        for last in range(first, min(first + _MAX_SENTENCES, len(sentences))):
            tokens += sentences[last].tokens
            length = sentences[last].span[1] - sentences[first].span[0]
            too_long = tokens > MAX_QUOTE_TOKENS or length > MAX_QUOTE_CHARACTERS
            if last > first and (too_long or _is_break(text, sentences[last - 1], sentences[last])):
                # What cannot be quoted with that which it announces is quoted without it.
                if sentences[last - 1].leads_on:
                    windows.append(range(first, last))
                break
            if not sentences[last].leads_on or last + 1 == len(sentences):
                windows.append(range(first, last + 1))
    return windows


def _is_break(text: str, before: _Sentence, after: _Sentence) -> bool:
    """Return whether a paragraph ends between two sentences, and does not announce the next."""
    return "\n\n" in text[before.span[1] : after.span[0]] and not before.leads_on


def _is_reversed(text: str, end: int, following: int) -> bool:
    """Return whether a sentence is taken back in part by the one that follows it."""
    return "\n\n" not in text[end:following] and bool(_CONTRAST.match(text, following))


def _leads_on(sentence: str) -> bool:
    """Return whether a sentence only announces what follows it: code, a list, or a name's story."""
    if _NAME.match(sentence):
        return True
    first, last = sentence[0], sentence[-1]
    return last in ":：,、" or (last.isalnum() and first not in "-*|`")


def _cut(text: str, span: Span) -> Span:
    """Shorten an overlong sentence at a word end, code at a line end, keeping it a slice."""
    start, end = span
    if end - start <= MAX_QUOTE_CHARACTERS:
        return span
    limit = start + MAX_QUOTE_CHARACTERS
    ends = "\n" if text.startswith(_FENCES, start) else "\n "
    cut = max(text.rfind(each, start + 1, limit) for each in ends)
    end = cut if cut > start + MAX_QUOTE_CHARACTERS // 2 else limit
    return (start, start + len(text[start:end].rstrip()))


def _quote(block: Block, span: Span) -> Quote:
    start, end = block.start + span[0], block.start + span[1]
    return Quote(
        citation_id=citation_id(block.source_id, block.page_hash, start, end),
        text=block.text[span[0] : span[1]],
        source_id=block.source_id,
        url=block.url,
        title=block.title,
        heading_path=block.heading_path,
        anchor=block.anchor,
        start=start,
        end=end,
        page_hash=block.page_hash,
        fetched_at=block.fetched_at,
        confidence=block.confidence,
    )
