"""BM25 over the words of chunks, and which words of a query are worth looking up first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.words import weight_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

HEADING_WEIGHT = 5.0
BODY_WEIGHT = 1.0

# The usual values of BM25's two constants.
_SATURATION = 1.2
_LENGTH_WEIGHT = 0.75
_LEAST_FTS5_WEIGHT = 1e-6

# Longer queries are truncated: the first words say what they are about.
MOST_WORDS = 256
# Maximum number of (word, chunk) postings to scan; 1 to 2 µs each.
_MOST_POSTINGS = 4_000


@frozen
class Totals:
    """How much the whole store holds."""

    chunks: int
    words: int

    @property
    def words_per_chunk(self) -> float:
        """The mean length of a chunk."""
        return self.words / self.chunks


def rare_words(frequencies: Mapping[str, int], *, share: float, enough: int) -> set[str]:
    """Return the rarest words, as many as the index can scan quickly.

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
    """Return the weight that FTS5 gives each word; 0 for a word that most chunks hold.

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
    is_asked = weights.__contains__
    for chunk_id, heading, body in chunks:
        in_heading, in_body = heading.split(), body.split()
        heading_hits, body_hits = [*filter(is_asked, in_heading)], [*filter(is_asked, in_body)]
        if not heading_hits and not body_hits:
            continue
        relative_length = (len(in_heading) + len(in_body)) / totals.words_per_chunk
        damping = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * relative_length)
        score = 0.0
        # Sorted, because floating-point sums depend on the order.
        for word in sorted({*heading_hits, *body_hits}):
            held = HEADING_WEIGHT * heading_hits.count(word) + BODY_WEIGHT * body_hits.count(word)
            score += weights[word] * held * (_SATURATION + 1) / (held + damping)
        yield -score, chunk_id


def _odds_against(chunks_with_word: int, chunks: int) -> float:
    # A cached count may exceed the current number of chunks.
    without = max(chunks - chunks_with_word, 0)
    return (without + 0.5) / (chunks_with_word + 0.5)
