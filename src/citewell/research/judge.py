"""Judging whether what was found supports a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.words import content_words, words

if TYPE_CHECKING:
    from citewell.core.records import RankedChunk

SUPPORTED = 0.25
_HELD_WORDS = 0.5


def is_supported(query: str, best: RankedChunk | None) -> bool:
    """Return whether the best chunk found for `query` is likely to answer it."""
    if best is None:
        return False
    if best.confidence is None:
        return _share_of_words(query, best) >= _HELD_WORDS
    return best.confidence >= SUPPORTED


def _share_of_words(query: str, best: RankedChunk) -> float:
    asked = set(content_words(query))
    held = {*words(best.chunk.text), *words(" ".join((best.chunk.title, *best.chunk.heading_path)))}
    return len(asked & held) / (len(asked) or 1)
