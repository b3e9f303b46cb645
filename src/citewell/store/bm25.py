"""BM25 over the words of chunks, and which words of a query are worth looking up first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from citewell.core.words import weight_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

HEADING_WEIGHT = 5.0
BODY_WEIGHT = 1.0

# The usual values of BM25's two constants.
_SATURATION = 1.2
_LENGTH_WEIGHT = 0.75
_LEAST_FTS5_WEIGHT = 1e-6

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
        word: weight_of(word) * math.log(1 + _odds_against(count, totals.chunks))
        for word, count in frequencies.items()
    }


def weigh_as_fts5(frequencies: Mapping[str, int], totals: Totals) -> dict[str, float]:
    """Return the weight that SQLite's FTS5 gives each word: none to one that most chunks hold.

    What chooses chunks by it chooses those that SQLite would.
    """
    return {
        word: max(math.log(_odds_against(count, totals.chunks)), _LEAST_FTS5_WEIGHT)
        for word, count in frequencies.items()
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
    for chunk in count_in_chunks(chunks, weights, totals):
        yield -chunk.score(weights), chunk.chunk_id


class CountedChunk(NamedTuple):
    """How often each word is in a chunk, headings counting more, and how its length dampens it."""

    chunk_id: int
    counts: Mapping[str, float]
    damping: float

    def score(self, weights: Mapping[str, float]) -> float:
        """Return the BM25 score by those of the words that have a weight."""
        score = 0.0
        for word, count in self.counts.items():
            if word in weights:
                score += weights[word] * count * (_SATURATION + 1) / (count + self.damping)
        return score


def count_in_chunks(
    chunks: Iterable[tuple[int, str, str]], words: Collection[str], totals: Totals
) -> Iterator[CountedChunk]:
    """Yield each of the chunks that holds any of the words; they are given as above."""
    wanted = frozenset(words)
    for chunk_id, heading, body in chunks:
        heading_words, body_words = heading.split(), body.split()
        present = wanted.intersection(heading_words + body_words)
        if not present:
            continue
        relative_length = (len(heading_words) + len(body_words)) / totals.words_per_chunk
        damping = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * relative_length)
        # Sorted, because sums of the same numbers in another order may differ in the last digit.
        counts = {
            word: HEADING_WEIGHT * heading_words.count(word) + BODY_WEIGHT * body_words.count(word)
            for word in sorted(present)
        }
        yield CountedChunk(chunk_id, counts, damping)


def _odds_against(chunks_with_word: int, chunks: int) -> float:
    # A remembered count may be a little ahead of the chunks there are now.
    without = max(chunks - chunks_with_word, 0)
    return (without + 0.5) / (chunks_with_word + 0.5)
