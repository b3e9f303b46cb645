"""A quote as a person reads it: with the sentences around it, in the line that it stands in."""

from __future__ import annotations

import re
from itertools import pairwise

from citewell.core.frozen import frozen
from citewell.core.page_slice import fence_line
from citewell.docsite.site.stored_text import MarkedSpan, StoredText

_CONTEXT_CHARACTERS = 200
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*\s+|[。！？]\s*")


@frozen
class ContextSpan:
    """A span of a page's text around a quote."""

    start: int
    end: int


def context_of(text: str, start: int, end: int) -> ContextSpan:
    """Return the quote with whole sentences around it that stand in the same line."""
    line_start = text.rfind("\n", 0, start) + 1
    ends_line = text[end - 1 : end] == "\n"
    next_line = text.find("\n", end)
    line_end = end if ends_line else len(text) if next_line < 0 else next_line
    return ContextSpan(
        start=_first_sentence(text, line_start, start), end=_last_sentence(text, end, line_end)
    )


def excerpt_of(
    text: str,
    start: int,
    end: int,
    *,
    quote_id: str,
    key: tuple[int, int] | None,
    question_words: frozenset[str],
    escapes: bool = False,
) -> StoredText:
    """Return the excerpt to render, its quote and the answering part of it (`key`) marked.

    Code stays code though its fence is cut.
    """
    span = context_of(text, start, end)
    cuts = (start, *(key or (start, start)), end)
    opening = fence_line(text, span.start)
    prefix = f"{opening}\n" if opening else ""
    shift = len(prefix) - span.start
    return StoredText(
        text=prefix + text[span.start : span.end],
        marks=tuple(
            MarkedSpan(start=a + shift, end=b + shift, id=quote_id, is_answer=(a, b) == key)
            for a, b in pairwise(cuts)
            if a < b
        ),
        question_words=question_words,
        heading_shift=3,
        escapes=escapes,
    )


def _first_sentence(text: str, line_start: int, start: int) -> int:
    if start - line_start <= _CONTEXT_CHARACTERS:
        return line_start
    earliest = start - _CONTEXT_CHARACTERS
    ends = (match.end() for match in _SENTENCE_END.finditer(text, line_start, start))
    return next((position for position in ends if position >= earliest), start)


def _last_sentence(text: str, end: int, line_end: int) -> int:
    if line_end - end <= _CONTEXT_CHARACTERS:
        return line_end
    latest = end + _CONTEXT_CHARACTERS
    ends = [match.end() for match in _SENTENCE_END.finditer(text, end, latest)]
    return ends[-1] if ends else end
