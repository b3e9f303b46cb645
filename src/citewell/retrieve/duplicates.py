"""Telling near-duplicates: the same words on several pages, or twice on one."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"\w+")
_SHINGLE_WORDS = 4
_SHINGLE_CHARACTERS = 8
# Share of a text's shingles that an earlier one holds, from which it says nothing new.
_SAME = 0.8


class SeenTexts:
    """The texts shown so far, to ask whether another says the same again."""

    def __init__(self) -> None:
        self._shingles: list[frozenset[int]] = []

    def holds(self, text: str) -> bool:
        """Return whether `text` is nearly the same as, or inside, a text added before."""
        own = _shingles(text)
        return any(_overlap(own, other) >= _SAME for other in self._shingles)

    def add(self, text: str) -> None:
        """Remember `text`."""
        self._shingles.append(_shingles(text))


def _overlap(one: frozenset[int], other: frozenset[int]) -> float:
    # A short text inside a long one adds nothing; a long one that holds a short one does.
    return len(one & other) / len(one) if one else 1.0


@lru_cache(maxsize=1024)
def _shingles(text: str) -> frozenset[int]:
    units: list[str] | str = _WORD.findall(text.lower())
    size = _SHINGLE_WORDS
    if len(text) > 16 * len(units):
        # Text without spaces, such as Japanese: a "word" would be a whole clause.
        units, size = "".join(units), _SHINGLE_CHARACTERS
    if len(units) <= size:
        return frozenset([hash(tuple(units))] if units else ())
    return frozenset(map(hash, zip(*(units[at:] for at in range(size)), strict=False)))
