"""Telling prose that has links from lists of links: only the first is evidence."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.core.text import chunk_sentences

if TYPE_CHECKING:
    from collections.abc import Iterable

_LINK = re.compile(r"(?<!!)\[(?P<words>[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]\([^()\s]*\)")
# From this share of linked letters on, a sentence says nothing beyond naming other pages.
_ONLY_LINKS = 0.85


def prose_sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of Markdown `text` without link targets and without lists of links."""
    return _prose_sentences(text)


def only_names(text: str, linked: Iterable[str]) -> bool:
    """Return whether `text` is little more than the words of the links in it."""
    letters = sum(_letters(words) for words in linked)
    return letters > 0 and letters >= _ONLY_LINKS * _letters(text)


@lru_cache(maxsize=2048)
def _prose_sentences(text: str) -> tuple[str, ...]:
    found: list[str] = []
    for start, end in chunk_sentences(text):
        sentence = text[start:end]
        if "](" not in sentence:
            found.append(sentence)
            continue
        plain = _LINK.sub(lambda match: match["words"], sentence)
        if not only_names(plain, [match["words"] for match in _LINK.finditer(sentence)]):
            found.append(plain)
    return tuple(found)


# The links of one paragraph have the same context.
@lru_cache(maxsize=1024)
def _letters(text: str) -> int:
    return sum(map(str.isalnum, text)) + text.count("_")
