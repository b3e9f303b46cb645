"""BM25 over the words of chunks, and which words of a query are worth looking up first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.core.words import weight_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

HEADING_WEIGHT = 5.0
BODY_WEIGHT = 1.0

# The usual values of BM25's two constants.
_SATURATION = 1.2
_LENGTH_WEIGHT = 0.75

# A longer query is cut: its first words say what it is about.
MOST_WORDS = 256
# How many (word, chunk) pairs the index may go through; 1 to 2 µs each.
_MOST_POSTINGS = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """How much the whole store holds."""

    chunks: int
    words: int

    @property
    def words_per_chunk(self) -> float:
        """The mean length of a chunk."""
        return self.words / self.chunks


def rare_words(frequencies: Mapping[str, int], *, share: float, enough: int) -> set[str]:
    """Return the rarest words, as many as an index can go through quickly.

    There are always enough of them to expect `enough` chunks, where `share` of all may be seen.
    """
    rare: set[str] = set()
    postings = 0
    for word in sorted(frequencies, key=lambda word: (frequencies[word], word)):
        too_many = postings + frequencies[word] > _MOST_POSTINGS
        if rare and too_many and postings * share >= enough:
            break
        rare.add(word)
        postings += frequencies[word]
    return rare


def weigh(frequencies: Mapping[str, int], totals: Totals) -> dict[str, float]:
    """Return the weight of each word, given in how many chunks it is: the fewer, the higher."""
    return {
        word: weight_of(word) * _rarity(count, totals.chunks) for word, count in frequencies.items()
    }


def score_chunks(
    chunks: Iterable[tuple[int, str, str]], weights: Mapping[str, float], totals: Totals
) -> Iterator[tuple[float, int]]:
    """Yield (minus the BM25 score, chunk_id) of each chunk that holds any of the words.

    A chunk is given as its id, its heading words and its body words.

    A database's own ranking gives a word that most chunks hold no weight at all. On small sites
    those are the words people ask about: the Kubernetes glossary has nDCG@10 .580, and .556 with
    the ranking of FTS5.
    """
    wanted = frozenset(weights)
    for chunk_id, heading, body in chunks:
        heading_words, body_words = heading.split(), body.split()
        present = wanted.intersection(heading_words + body_words)
        if not present:
            continue
        relative_length = (len(heading_words) + len(body_words)) / totals.words_per_chunk
        damping = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * relative_length)
        score = 0.0
        # Sorted, because sums of the same numbers in another order may differ in the last digit.
        for word in sorted(present):
            in_heading, in_body = heading_words.count(word), body_words.count(word)
            count = HEADING_WEIGHT * in_heading + BODY_WEIGHT * in_body
            score += weights[word] * count * (_SATURATION + 1) / (count + damping)
        yield -score, chunk_id


def _rarity(chunks_with_word: int, chunks: int) -> float:
    # A remembered count may be a little ahead of the chunks there are now.
    without = max(chunks - chunks_with_word, 0)
    return math.log(1 + (without + 0.5) / (chunks_with_word + 0.5))
