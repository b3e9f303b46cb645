"""Choosing the part of a sentence, row or program to quote where the whole is too long."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from citewell.core.tokens import count_tokens, truncate_to_tokens
from citewell.core.words import text_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.core.text import Span

_FENCES = ("```", "~~~")
_STEPS_PER_PART = 4
# Where a part can begin: after a clause or a cell, or else after a word.
_CLAUSE_END = re.compile(r"[.,;:|)。、，；：)\]](?:\s|(?<=[。、，；：]))\s*")
_WORD_END = re.compile(r"\s+")
_FARTHEST_CLAUSE = 80
_LINK = re.compile(r"!?\[[^\[\]]*\]\([^()\s]*\)")


def part_to_quote(text: str, weights: Mapping[str, float], *, max_tokens: int) -> Span:
    """Return where the part of `text` stands that holds most of the words in `weights`.

    It is the beginning unless another part holds more. Code is always quoted from its beginning,
    up to the end of a line: without its fence it would not be read as code.
    """
    tokens = count_tokens(text)
    if tokens <= max_tokens:
        return 0, len(text)
    start = (
        0
        if any(fence in text for fence in _FENCES)
        else _best_start(text, weights, size=len(text) * max_tokens // tokens)
    )
    return start, start + len(_shorten(text[start:], max_tokens))


def _best_start(text: str, weights: Mapping[str, float], *, size: int) -> int:
    step = max(1, size // _STEPS_PER_PART)
    # The last part that is tried ends where the text does.
    places = [*range(0, len(text) - size, step), len(text) - size]
    starts = list(dict.fromkeys(_beginning(text, place) for place in places))
    worth = [_worth(text[start : start + size], weights) for start in starts]
    best = max(worth)
    equal = [start for start, value in zip(starts, worth, strict=True) if value == best]
    # In the middle one, something stands on both sides of the words.
    return 0 if worth[0] == best else equal[len(equal) // 2]


def _beginning(text: str, place: int) -> int:
    """Return the start of a clause or a word near `place`, outside any link."""
    if place <= 0:
        return 0
    ends = [
        match.end() for match in _CLAUSE_END.finditer(text, max(0, place - _FARTHEST_CLAUSE), place)
    ]
    word = _WORD_END.search(text, place)
    start = (
        ends[-1]
        if ends
        else word.end()
        if word and word.end() - place < _FARTHEST_CLAUSE
        else place
    )
    return next((m.start() for m in _LINK.finditer(text) if m.start() < start < m.end()), start)


def _worth(text: str, weights: Mapping[str, float]) -> float:
    held = frozenset(text_words(text))
    return math.fsum(weight for word, weight in weights.items() if word in held)


def _shorten(text: str, max_tokens: int) -> str:
    """Return the beginning of what is too long, code up to a line's end."""
    short = truncate_to_tokens(text, max_tokens)
    is_in_code = any(short.count(fence) % 2 for fence in _FENCES)
    if len(short) < len(text) and is_in_code:
        whole_lines = short.rpartition("\n")[0].rstrip()
        # A fence without code says nothing: then a part of the line is better.
        short = whole_lines if _holds_code(whole_lines) else short
    return short.rstrip()


def _holds_code(text: str) -> bool:
    return any(
        line.strip() and not line.lstrip("> ").startswith(_FENCES) for line in text.splitlines()
    )
