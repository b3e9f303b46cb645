"""Counting tokens as cl100k does, offline."""

from __future__ import annotations

import gzip
import re
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken

# A run without end, a page that is one word or one gap, would take the tokenizer's pattern apart
# for seconds; cutting such runs changes the count by at most one token a cut.
_LONG = 256
_LONG_RUN = re.compile(rf"\S{{{_LONG}}}|\s{{{_LONG}}}")
_LONG_GAP = re.compile(rf"\s{{{_LONG}}}")

# The pieces that cl100k splits text into before it merges their bytes.
_PIECES = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)


# How many tokens there are (four bytes), the length of each, and the tokens, in the order of their
# ranks: half of what tiktoken's own file takes, which has them in base64.
_RANKS = Path(__file__).with_name("ranks") / "cl100k_base.gz"


@cache
def _encoding() -> tiktoken.Encoding:
    # Imported when first needed: its 100,000 ranks take 0.15 s to load.
    import tiktoken

    return tiktoken.Encoding(
        "cl100k_base", pat_str=_PIECES, mergeable_ranks=_load_ranks(), special_tokens={}
    )


def _load_ranks() -> dict[bytes, int]:
    """Return the rank of each token; tiktoken itself would fetch them from the network."""
    ranks = gzip.decompress(_RANKS.read_bytes())
    first = 4 + int.from_bytes(ranks[:4])
    places = accumulate(ranks[4:first], initial=first)
    return {ranks[start:end]: rank for rank, (start, end) in enumerate(pairwise(places))}


@lru_cache(maxsize=4096)
def count_tokens(text: str) -> int:
    """Return how many cl100k tokens `text` is."""
    if _LONG_GAP.search(text) or max(map(len, text.split()), default=0) >= _LONG:
        text = _LONG_RUN.sub(lambda run: run.group() + "\n", text)
    return len(_encoding().encode_ordinary(text))


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
    cut = max(text.rfind(" ", 0, low), text.rfind("\n", 0, low))
    # A word may be a long address; but where words have no spaces, the last one may be far back.
    least = low // 8 if text[low - 1 : low + 1].isascii() else low // 2
    return text[: cut if cut > least else low].rstrip()
