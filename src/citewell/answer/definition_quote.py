"""The quote of a definition: its signature and its first sentence, as one slice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.answer.quote import QuotedSpan
from citewell.answer.spans import split_units
from citewell.core.tokens import count_tokens, truncate_to_tokens

if TYPE_CHECKING:
    from citewell.answer.quote import QuoteLimits

_HEADING = re.compile(r"#{1,6} [^\n]*\n+")
_FENCE = re.compile(r"(?:> ?)*```[^\n]*\n.*?\n(?:> ?)*```[ \t]*(?:\n|$)", re.DOTALL)
_BOLD_LINES = re.compile(r"(?:(?:> ?)*\*\*[^\n]*(?:\n|$))+")
_GAP = re.compile(r"(?:[\s>]+)")


def quote_definition(text: str, *, offset: int, passage: int, limits: QuoteLimits) -> QuotedSpan:
    """Return the signature that the section at `offset` begins with and the sentence after it.

    A declaration that is the heading itself, as in rustdoc, is the signature.
    """
    heading = _HEADING.match(text, offset)
    body = heading.end() if heading is not None else offset
    signature = _FENCE.match(text, body) or _BOLD_LINES.match(text, body)
    start = body if signature is not None else offset
    sentence = signature.end() if signature is not None else body
    end = _end_of_sentence(text, sentence) or sentence or len(text)
    quoted = text[start:end].rstrip()
    is_cut = count_tokens(quoted) > limits.longest_tokens
    if is_cut:
        quoted = truncate_to_tokens(quoted, limits.longest_tokens)
    end = start + len(quoted)
    return QuotedSpan(passage=passage, start=start, end=end, score=0.0, share=1.0, is_cut=is_cut)


def _end_of_sentence(text: str, start: int) -> int | None:
    """Return where the first sentence from `start` on ends; None when none follows."""
    gap = _GAP.match(text, start)
    place = gap.end() if gap is not None else start
    units = split_units(text[place:])
    return place + units[0].end if units else None
