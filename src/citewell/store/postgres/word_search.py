"""Finding chunks by their words, ranked by BM25."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from citewell.core.records import Hit
from citewell.store.bm25 import MOST_WORDS, Totals, rare_words, score_chunks, weigh
from citewell.store.postgres.connection import SQL
from citewell.store.postgres.filters import allowed_pages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import AsyncConnection

    from citewell.core.records import SearchFilter
    from citewell.store.postgres.connection import Database
    from citewell.store.postgres.filters import AllowedPages

    Session = AsyncConnection[dict[str, Any]]

# How many chunks that hold the rare words are scored by all of the words.
_SCORED = 300
_SCORED_PER_HIT = 2
# Pages that have no more chunks than this together are scored without the index.
_FEW_CHUNKS = 400
# A store of fewer chunks is counted anew at each search: it takes a millisecond.
_COUNTED_AT_ONCE = 2_000
# From here on what ANALYZE found common is taken from there; in fewer chunks each word is counted
# exactly, once. It counts a sample, and what was common in the first pages need not be in all.
MANY_CHUNKS = 20_000
_COUNT_SECONDS = 30.0


@dataclass(slots=True)
class _Counts:
    """What was counted, and until when it holds."""

    totals: Totals = field(default_factory=lambda: Totals(chunks=0, words=0))
    frequencies: dict[str, int] = field(default_factory=dict)
    until: float = 0.0


class WordSearch:
    """The best chunks for some words; remembers how many chunks each word is in.

    The index proposes chunks that hold the rarest words, and BM25 over all words decides among
    them: ranking everything that holds a common word would read most of the table.
    """

    def __init__(self) -> None:
        self._counts = _Counts()

    async def search(
        self, connection: Session, words: Sequence[str], *, where: SearchFilter, limit: int
    ) -> list[Hit]:
        """Return the `limit` chunks that pass `where` and match best, best first."""
        allowed = await allowed_pages(connection, where)
        totals = await self._count_all(connection)
        if limit < 1 or not (totals.chunks if allowed is None else allowed.chunks):
            return []
        # PostgreSQL has no character of code 0, so no chunk has a word with it.
        asked = [word for word in dict.fromkeys(words) if "\0" not in word][:MOST_WORDS]
        frequencies = await self._count_words(connection, asked)
        if not frequencies or not totals.chunks:
            return []
        weights = weigh(frequencies, totals)
        if allowed is not None and allowed.chunks <= _FEW_CHUNKS:
            values: dict[str, object] = {"source_ids": allowed.source_ids}
            found = await connection.execute(SQL["words_of_pages"], values)
        else:
            enough = max(_SCORED, _SCORED_PER_HIT * limit)
            share = 1.0 if allowed is None else allowed.chunks / totals.chunks
            rare = sorted(rare_words(frequencies, share=share, enough=enough))
            values = _match_values(rare, weights, allowed, limit=enough)
            found = await connection.execute(SQL["match_words"], values)
        chunks = [(row["chunk_id"], row["heading"], row["body"]) for row in await found.fetchall()]
        best = heapq.nsmallest(limit, score_chunks(chunks, weights, totals))
        return [Hit(chunk_id=chunk_id, score=-negative) for negative, chunk_id in best]

    async def _count_all(self, connection: Session) -> Totals:
        counts = self._counts
        if counts.totals.chunks > _COUNTED_AT_ONCE and anyio.current_time() < counts.until:
            return counts.totals
        row = await (await connection.execute(SQL["corpus_totals"])).fetchone()
        assert row is not None, "an aggregate has a row"
        totals = Totals(chunks=row["chunks"], words=row["words"])
        # Only the choice of words and the weight of common ones hang on it: near enough will do.
        if abs(totals.chunks - counts.totals.chunks) > 0.1 * counts.totals.chunks:
            counts.frequencies = {}
        if totals.chunks > MANY_CHUNKS:
            counts.frequencies |= await _common_words(connection, totals)
        counts.totals = totals
        counts.until = anyio.current_time() + _COUNT_SECONDS
        return totals

    async def _count_words(self, connection: Session, words: Sequence[str]) -> dict[str, int]:
        """Return in how many chunks each word is, of those that are in any."""
        frequencies = self._counts.frequencies
        known = {word: frequencies[word] for word in words if word in frequencies}
        unknown = [word for word in words if word not in known]
        if unknown:
            found = await connection.execute(SQL["word_frequencies"], {"words": unknown})
            # A count of 0 is not remembered: the next page may have the word.
            known |= {row["word"]: row["chunks"] for row in await found.fetchall() if row["chunks"]}
            frequencies.update(known)
        return known


async def have_common_words_counted(database: Database) -> None:
    """Have PostgreSQL count the common words if it never has.

    It would by itself within a minute or two; until then each search of a large load that asks for
    a common word would count it by reading half of the table.
    """
    if not await database.look(partial(_common_words, totals=Totals(chunks=1, words=1))):
        await database.run_alone(lambda connection: connection.execute(SQL["count_common_words"]))


async def _common_words(connection: Session, totals: Totals) -> dict[str, int]:
    """Return the words that ANALYZE found common; the index counts the others quickly."""
    row = await (await connection.execute(SQL["common_words"])).fetchone()
    if row is None or row["words"] is None:
        return {}
    # After the words' own frequencies come the least, the greatest and that of no word.
    shares = row["shares"][: len(row["words"])]
    return {
        word: max(round(share * totals.chunks), 1)
        for word, share in zip(row["words"], shares, strict=True)
    }


def _match_values(
    rare: Sequence[str], weights: dict[str, float], allowed: AllowedPages | None, *, limit: int
) -> dict[str, object]:
    return {
        "words": list(rare),
        "weights": [weights[word] for word in rare],
        "source_ids": allowed.source_ids if allowed is not None else None,
        "limit": limit,
    }
