"""Finding the words of a value in the page, so that it can be shown where they stand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.content_fields import ContentField, FieldName
from citewell.core.text import one_line
from citewell.ingest.extract.canonical import plain_text

if TYPE_CHECKING:
    from citewell.core.text import Span

MAX_VALUE_CHARACTERS = 300
_MAX_QUOTE_CHARACTERS = 600
_CELL_PADDING = " \t　"
_LINK_TARGET = re.compile(
    r"(?:[a-z][a-z0-9+.-]{0,20}://|www\.|mailto:|tel:|[/#])\S*", re.IGNORECASE
)
# What these hold is a name, a place, an amount or a moment.
SINGLE: frozenset[FieldName] = frozenset(
    ("company", "role", "location", "employment_type", "salary", "author", "date", "industry")
)
_SENTENCE_WORDS = 6
_MOST_WORDS = 20


def from_text(name: FieldName, text: str, span: Span) -> ContentField | None:
    """Return the field that a span of the page's text holds; None when it is blank or too long."""
    start, end = _trim(text, span)
    quote = text[start:end]
    value = one_line(plain_text(quote), limit=MAX_VALUE_CHARACTERS)
    if not is_value(name, value) or len(quote) > _MAX_QUOTE_CHARACTERS:
        return None
    return ContentField(name=name, value=value, quote=quote, start=start, end=end)


def from_structured(
    name: FieldName, value: str, *, raw: str, path: str, text: str
) -> ContentField | None:
    """Return the field that structured data holds at `path`, anchored in the text if it is there.

    `raw` is what stands at the path; `value` is how it reads.
    """
    shown = one_line(plain_text(value), limit=MAX_VALUE_CHARACTERS)
    if not is_value(name, shown):
        return None
    span = find_words(text, shown)
    if span is not None:
        start, end = span
        quote = text[start:end]
        return ContentField(name=name, value=shown, quote=quote, start=start, end=end, path=path)
    quote = one_line(raw, limit=_MAX_QUOTE_CHARACTERS)
    return ContentField(name=name, value=shown, quote=quote, path=path)


def is_value(name: FieldName, value: str) -> bool:
    """Return whether words can be the value of a field.

    A link's target cannot, nor a sentence where a name is due.

    A requirement or a tip may well be a sentence.
    """
    if not any(map(str.isalnum, value)) or _LINK_TARGET.fullmatch(value):
        return False
    if name not in SINGLE:
        return True
    words = value.split()
    is_sentence = len(words) >= _SENTENCE_WORDS and value.endswith((".", "!", "?"))
    return not (is_sentence or len(words) > _MOST_WORDS or any(map(value.count, "。！？")))


def find_words(text: str, words: str) -> Span | None:
    """Return where `words` stand in `text`, however their spaces are broken; None if nowhere."""
    at = text.find(words)
    if at >= 0 and _stands_alone(text, at, at + len(words)):
        return at, at + len(words)
    parts = words.split()
    if not parts:
        return None
    pattern = r"\s+".join(map(re.escape, parts))
    for match in re.finditer(pattern, text, re.IGNORECASE):
        if _stands_alone(text, *match.span()):
            return match.span()
    return None


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Tell whether the span does not begin or end inside a word of Latin letters."""
    before, after = text[start - 1 : start], text[end : end + 1]
    inside_before = _is_latin(before) and _is_latin(text[start])
    inside_after = _is_latin(after) and _is_latin(text[end - 1])
    return not (inside_before or inside_after)


def _is_latin(letter: str) -> bool:
    return letter.isalnum() and letter.isascii()


def _trim(text: str, span: Span) -> Span:
    start, end = span
    while start < end and text[start] in _CELL_PADDING:
        start += 1
    while end > start and text[end - 1] in _CELL_PADDING:
        end -= 1
    # Emphasis around the whole value is no part of it.
    if text[start : start + 2] == "**" == text[end - 2 : end] and end - start > 4:
        return start + 2, end - 2
    return start, end
