"""Which pages hold a word, and how strongly, as one short string; those of all words as bytes.

JSON reads and memory keeps a string at a fraction of what a list of pairs of numbers costs. A pair
is two characters: the page's number and the word's weight in it. The strings of all words stay as
the JSON that the cache holds, in the order of the words, where a word is found by halving.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Self

from typing_extensions import override

MAX_WEIGHT = 160
"""Heavier words count as this; it keeps the weight to one byte of memory."""

MAX_PAGES = 50_000

# The first character after the backslash, so that JSON escapes none; the last number stays below
# the surrogates, which no UTF-8 can hold.
_FIRST = 93

_WEIGHTS = [chr(weight + _FIRST) for weight in range(MAX_WEIGHT + 1)]

Posting = tuple[int, int]
"""A page's number and the weight of the word in it."""


class Postings(Mapping[str, str]):
    """The postings of all words, in the order of the words.

    Neither a word nor a posting holds a quote, a comma or anything that JSON would escape.
    """

    def __init__(self, encoded: bytes) -> None:
        self.encoded = encoded
        """A JSON object without spaces, its names in order."""

    @classmethod
    def of(cls, postings: Mapping[str, str]) -> Self:
        """Return those of a dictionary in any order."""
        pairs = [f'"{word}":"{postings[word]}"' for word in sorted(postings)]
        return cls(f"{{{','.join(pairs)}}}".encode())

    @override
    def __getitem__(self, word: str) -> str:
        encoded, wanted = self.encoded, word.encode()
        low, high = 1, len(encoded) - 1
        while low < high:
            start = encoded.rfind(b",", low, (low + high) // 2) + 1 or low
            end = encoded.index(b'"', start + 1)
            middle = encoded[start + 1 : end]
            if middle == wanted:
                begin = end + len(b'":"')
                return encoded[begin : encoded.index(b'"', begin)].decode()
            if middle < wanted:
                low = encoded.find(b",", end, high) + 1 or high
            else:
                high = start
        raise KeyError(word)

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(json.loads(self.encoded))

    @override
    def __len__(self) -> int:
        return self.encoded.count(b":")


def encode_posting(page: int, weight: int) -> str:
    """Encode one pair; the strings of pages in order can be concatenated."""
    return chr(page + _FIRST) + _WEIGHTS[min(weight, MAX_WEIGHT)]


def add_page(postings: dict[str, str], page: int, weights: Mapping[str, int]) -> None:
    """Add a page, which comes after those that are there, to the postings of its words."""
    number = chr(page + _FIRST)
    for word, weight in weights.items():
        mark = _WEIGHTS[weight] if weight < MAX_WEIGHT else _WEIGHTS[MAX_WEIGHT]
        postings[word] = postings.get(word, "") + number + mark


def decode_postings(encoded: str) -> list[Posting]:
    """Return the pairs of a string."""
    codes = [ord(character) - _FIRST for character in encoded]
    return list(zip(codes[::2], codes[1::2], strict=True))
