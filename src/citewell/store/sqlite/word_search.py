"""Finding chunks by their words, ranked by BM25."""

from __future__ import annotations

import heapq
import json
import threading
from typing import TYPE_CHECKING

from citewell.core.records import Hit
from citewell.store.bm25 import (
    BODY_WEIGHT,
    HEADING_WEIGHT,
    MOST_WORDS,
    Totals,
    rare_words,
    score_chunks,
    weigh,
)
from citewell.store.filters import allowed_pages
from citewell.store.sqlite.session import SQL, SqliteSession, run_to_end

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from citewell.core.records import SearchFilter
    from citewell.store.filters import AllowedPages

# How many chunks that hold the rare words are scored by all of the words. With 200, SciFact's
# nDCG@10 stays the same when the postings are cut to a twentieth; ranked by the rare words alone
# it falls from .689 to .612.
_SCORED = 200
_SCORED_PER_HIT = 2
# Pages that have no more chunks than this together are scored without the index.
_FEW_CHUNKS = 400


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
        totals = Totals(**connection.execute(SQL["corpus_totals"]).fetchone())
        allowed = run_to_end(allowed_pages(SqliteSession(connection), where))
        if limit < 1 or not (totals.chunks if allowed is None else allowed.chunks):
            return []
        frequencies = self._count(connection, list(dict.fromkeys(words))[:MOST_WORDS], totals)
        if not frequencies:
            return []
        if allowed is not None and allowed.chunks <= _FEW_CHUNKS:
            reading, asked = "words_of_pages", {"source_ids": allowed.source_ids}
        else:
            enough = max(_SCORED, _SCORED_PER_HIT * limit)
            share = 1.0 if allowed is None else allowed.chunks / totals.chunks
            rare = rare_words(frequencies, share=share, enough=enough)
            found = _match(connection, rare, allowed=allowed, limit=enough)
            reading, asked = "words_of_chunks", {"chunk_ids": found}
        chunks = json.loads(connection.execute(SQL[reading], asked).fetchone()[0])
        best = heapq.nsmallest(limit, score_chunks(chunks, weigh(frequencies, totals), totals))
        return [Hit(chunk_id=chunk_id, score=-negative) for negative, chunk_id in best]

    def held(
        self, connection: sqlite3.Connection, words: Sequence[str], *, where: SearchFilter
    ) -> frozenset[str]:
        """Return those of `words` that any chunk which passes `where` holds."""
        totals = Totals(**connection.execute(SQL["corpus_totals"]).fetchone())
        allowed = run_to_end(allowed_pages(SqliteSession(connection), where))
        anywhere = self._count(connection, words, totals)
        if allowed is None and not _has_unlisted(connection):
            return frozenset(anywhere)
        matches = {word: _match(connection, {word}, allowed=allowed, limit=1) for word in anywhere}
        return frozenset(word for word, found in matches.items() if found != "[]")

    def _count(
        self, connection: sqlite3.Connection, words: Sequence[str], totals: Totals
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
        if not _has_unlisted(connection):
            with self._lock:
                self._frequencies.update(known)
        return known


def _has_unlisted(connection: sqlite3.Connection) -> bool:
    """Return whether the word index also holds words of chunks that nobody may see."""
    return bool(connection.execute(SQL["has_unlisted"]).fetchone()[0])


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
    matching = "match_words_of_pages"
    if allowed is None:
        matching = "match_words_of_listed" if _has_unlisted(connection) else "match_words"
    return str(connection.execute(SQL[matching], values).fetchone()[0])
