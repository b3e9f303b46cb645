"""Finding chunks by their words, ranked by BM25."""

from __future__ import annotations

import heapq
import json
import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.core.records import Hit
from citewell.store.sqlite.connection import SQL
from citewell.store.sqlite.filters import allowed_pages

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from citewell.core.records import SearchFilter
    from citewell.store.sqlite.filters import AllowedPages

HEADING_WEIGHT = 5.0
BODY_WEIGHT = 1.0

# The usual values of BM25's two constants.
_SATURATION = 1.2
_LENGTH_WEIGHT = 0.75

# A longer query is cut: its first words say what it is about.
_MOST_WORDS = 256
# How many (word, chunk) pairs the index may go through; 1 to 2 µs each.
_MOST_POSTINGS = 4_000
# How many chunks that hold the rare words are scored by all of the words. With 200, SciFact's
# nDCG@10 stays the same when the postings are cut to a twentieth; ranked by the rare words alone
# it falls from .689 to .612.
_SCORED = 200
_SCORED_PER_HIT = 2
# Pages that have no more chunks than this together are scored without the index.
_FEW_CHUNKS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class _Totals:
    chunks: int
    words: int

    @property
    def words_per_chunk(self) -> float:
        return self.words / self.chunks


class WordSearch:
    """The best chunks for some words; remembers how many chunks each word is in."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._frequencies: dict[str, int] = {}
        self._counted_at_chunks = 0

    def search(
        self,
        connection: sqlite3.Connection,
        words: Sequence[str],
        *,
        where: SearchFilter,
        limit: int,
    ) -> list[Hit]:
        """Return the `limit` chunks that pass `where` and match best, best first."""
        totals = _Totals(**connection.execute(SQL["corpus_totals"]).fetchone())
        allowed = allowed_pages(connection, where)
        if limit < 1 or not (totals.chunks if allowed is None else allowed.chunks):
            return []
        frequencies = self._count(connection, list(dict.fromkeys(words))[:_MOST_WORDS], totals)
        if not frequencies:
            return []
        if allowed is not None and allowed.chunks <= _FEW_CHUNKS:
            reading, asked = "words_of_pages", {"source_ids": allowed.source_ids}
        else:
            enough = max(_SCORED, _SCORED_PER_HIT * limit)
            rare = _rare_words(frequencies, allowed, totals=totals, enough=enough)
            found = _match(connection, rare, allowed=allowed, limit=enough)
            reading, asked = "words_of_chunks", {"chunk_ids": found}
        chunks = json.loads(connection.execute(SQL[reading], asked).fetchone()[0])
        weights = {word: _rarity(count, totals.chunks) for word, count in frequencies.items()}
        best = heapq.nsmallest(limit, _bm25(chunks, weights, totals))
        return [Hit(chunk_id=chunk_id, score=-negative) for negative, chunk_id in best]

    def _count(
        self, connection: sqlite3.Connection, words: Sequence[str], totals: _Totals
    ) -> dict[str, int]:
        """Return in how many chunks each word is, of those that are in any."""
        with self._lock:
            # Only the choice of words and the weight of common ones hang on it: near enough will
            # do, but a count of 0 is never remembered past a new page.
            if abs(totals.chunks - self._counted_at_chunks) > 0.1 * self._counted_at_chunks:
                self._frequencies.clear()
                self._counted_at_chunks = totals.chunks
            known = {word: self._frequencies[word] for word in words if word in self._frequencies}
        asked = {"words": json.dumps([word for word in words if word not in known])}
        known |= json.loads(connection.execute(SQL["word_frequencies"], asked).fetchone()[0])
        with self._lock:
            self._frequencies.update(known)
        return known


def _rare_words(
    frequencies: Mapping[str, int], allowed: AllowedPages | None, *, totals: _Totals, enough: int
) -> set[str]:
    """Return the rarest words, as many as the index can go through quickly.

    There are always enough of them to expect `enough` chunks among the allowed ones.
    """
    share = 1.0 if allowed is None else allowed.chunks / totals.chunks
    rare: set[str] = set()
    postings = 0
    for word in sorted(frequencies, key=lambda word: (frequencies[word], word)):
        too_many = postings + frequencies[word] > _MOST_POSTINGS
        if rare and too_many and postings * share >= enough:
            break
        rare.add(word)
        postings += frequencies[word]
    return rare


def _match(
    connection: sqlite3.Connection, rare: set[str], *, allowed: AllowedPages | None, limit: int
) -> str:
    """Return the ids of the `limit` chunks that hold `rare` words best, as a JSON list."""
    values = {
        "query": " OR ".join(f'"{word.replace(chr(34), chr(34) * 2)}"' for word in sorted(rare)),
        "heading_weight": HEADING_WEIGHT,
        "body_weight": BODY_WEIGHT,
        "limit": limit,
        "source_ids": allowed.source_ids if allowed is not None else None,
    }
    matching = "match_words" if allowed is None else "match_words_of_pages"
    return str(connection.execute(SQL[matching], values).fetchone()[0])


def _bm25(
    chunks: Iterable[tuple[int, str, str]], weights: Mapping[str, float], totals: _Totals
) -> Iterator[tuple[float, int]]:
    """Yield (minus the BM25 score, chunk_id) of each chunk that holds any of the words.

    A chunk is given as its id, its heading words and its body words.

    FTS5's own bm25() gives a word that most chunks hold no weight at all. On small sites those are
    the words people ask about: the Kubernetes glossary has nDCG@10 .580, with FTS5's .556.
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
