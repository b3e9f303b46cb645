"""BM25 over the words of chunks, and which words of a query are worth looking up first."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.words import weight_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    _Counts = dict[str, tuple[int, int]]

HEADING_WEIGHT = 5.0
BODY_WEIGHT = 1.0

# The usual values of BM25's two constants.
_SATURATION = 1.2
_LENGTH_WEIGHT = 0.75
_LEAST_FTS5_WEIGHT = 1e-6
# Maximum number of words matched by substring search; with more, a chunk is tokenised.
_FEW_WORDS = 8

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
    count = _look_for if len(weights) <= _FEW_WORDS else _cut_apart
    # Sorted, because floating-point sums depend on the order.
    words = sorted(weights)
    for chunk_id, heading, body in chunks:
        counts, length = count(heading, body, words)
        if not counts:
            continue
        relative_length = length / totals.words_per_chunk
        damping = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * relative_length)
        score = 0.0
        for word, (in_heading, in_body) in counts.items():
            held = HEADING_WEIGHT * in_heading + BODY_WEIGHT * in_body
            score += weights[word] * held * (_SATURATION + 1) / (held + damping)
        yield -score, chunk_id


def _cut_apart(heading: str, body: str, words: Sequence[str]) -> tuple[_Counts, int]:
    """Return how often each word is in the heading and the body, and how many words they have."""
    in_heading, in_body = heading.split(), body.split()
    present = frozenset((*in_heading, *in_body))
    counts = {
        word: (in_heading.count(word), in_body.count(word)) for word in words if word in present
    }
    return counts, len(in_heading) + len(in_body)


def _look_for(heading: str, body: str, words: Sequence[str]) -> tuple[_Counts, int]:
    """Return the same; a few words are found sooner than all words of a chunk are cut apart."""
    # Two spaces between words, so that each match consumes its own delimiters.
    spaced = f" {heading.replace(' ', '  ')} ", f" {body.replace(' ', '  ')} "
    counts: _Counts = {}
    for word in words:
        held = spaced[0].count(f" {word} "), spaced[1].count(f" {word} ")
        if any(held):
            counts[word] = held
    return counts, sum(text.count(" ") + bool(text) for text in (heading, body))


def _odds_against(chunks_with_word: int, chunks: int) -> float:
    # A cached count may exceed the current number of chunks.
    without = max(chunks - chunks_with_word, 0)
    return (without + 0.5) / (chunks_with_word + 0.5)
