"""The quote of a definition: its signature and its first sentence, as one slice."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.answer.quote import QuotedSpan
from citewell.answer.spans import split_units
from citewell.core.symbols import end_of_listed
from citewell.core.tokens import count_tokens, truncate_to_tokens

if TYPE_CHECKING:
    from citewell.answer.quote import QuoteLimits

_HEADING = re.compile(r"#{1,6} [^\n]*\n+")
_FENCE = re.compile(r"(?:> ?)*```[^\n]*\n.*?\n(?:> ?)*```[ \t]*(?:\n|$)", re.DOTALL)
_BOLD_LINES = re.compile(r"(?:(?:> ?)*\*\*[^\n]*(?:\n|$))+")
_GAP = re.compile(r"(?:[\s>]+)")


def quote_definition(
    text: str, *, offset: int, passage: int, limits: QuoteLimits, with_paragraph: bool = False
) -> QuotedSpan:
    """Return the signature that the section at `offset` begins with and the sentence after it.

    A declaration that is the heading itself, as in rustdoc, is the signature. `with_paragraph`
    adds the rest of the sentence's paragraph, as far as it fits. What the code of a class lists is
    its line there.
    """
    most = max(limits.first_tokens, limits.longest_tokens)
    start, end = offset, end_of_listed(text, offset)
    if end is None:
        heading = _HEADING.match(text, offset)
        body = heading.end() if heading is not None else offset
        signature = _FENCE.match(text, body) or _BOLD_LINES.match(text, body)
        start = body if signature is not None else offset
        sentence = signature.end() if signature is not None else body
        if signature is not None and count_tokens(text[start:sentence]) > most:
            start = _place_of_sentence(text, sentence) or start
        room = most - count_tokens(text[start:sentence]) if with_paragraph else 0
        end = _end_of_sentences(text, sentence, max_tokens=room) or sentence or len(text)
    quoted = text[start:end].rstrip()
    is_cut = count_tokens(quoted) > most
    if is_cut:
        quoted = truncate_to_tokens(quoted, most)
    end = start + len(quoted)
    return QuotedSpan(passage=passage, start=start, end=end, score=0.0, share=1.0, is_cut=is_cut)


def _place_of_sentence(text: str, start: int) -> int | None:
    """Return where the prose begins below a signature that no quote has room for."""
    gap = _GAP.match(text, start)
    place = gap.end() if gap is not None else start
    units = split_units(text[place:])
    return place if units and units[0].kind == "sentence" else None


def _end_of_sentences(text: str, start: int, *, max_tokens: int) -> int | None:
    """Return where the first sentences from `start` on end that fit; None when none follows."""
    gap = _GAP.match(text, start)
    place = gap.end() if gap is not None else start
    units = split_units(text[place:])
    if not units:
        return None
    end = units[0].end
    for unit in units[1:]:
        is_over = count_tokens(text[place : place + unit.end]) > max_tokens
        if unit is units[1] and _is_open(text[place : place + end]):
            # The full stop was that of an abbreviation, as in “(e.g. from env. vars)”.
            is_over = False
        if unit.starts_paragraph or unit.kind != "sentence" or is_over:
            break
        end = unit.end
    return place + end


def _is_open(sentence: str) -> bool:
    return sentence.count("(") > sentence.count(")")
