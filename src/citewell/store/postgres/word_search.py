"""Finding chunks by their words, ranked by BM25."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from psycopg.types.json import Json

from citewell.core.records import Hit
from citewell.store.bm25 import (
    MOST_WORDS,
    Totals,
    rare_words,
    score_chunks,
    weigh,
    weigh_as_fts5,
)
from citewell.store.filters import allowed_pages, names_project_at_most
from citewell.store.postgres.session import PostgresSession
from citewell.store.postgres.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from psycopg import AsyncConnection

    from citewell.core.records import SearchFilter
    from citewell.store.filters import AllowedPages
    from citewell.store.postgres.connection import Database

    Session = AsyncConnection[dict[str, Any]]

# Number of chunks with the rare words that are scored by all words, as in SQLite.
_SCORED = 200
_SCORED_PER_HIT = 2
# How many are read, since the index does not know how often a chunk holds a word: with 600 the best
# fifty are those of SQLite but for one in 250 (bench/postgres_quality.py), with 400 but for one in
# 40. In a large store the time counts more.
_READ, _READ_OF_MANY = 600, 400
# Below this number of chunks, pages of a filter are scored without the index.
_FEW_CHUNKS = 400
# Smaller stores are counted at each search: it takes a millisecond.
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

    def __init__(self, database: Database) -> None:
        self._database = database
        self._counts = _Counts()

    async def search(self, words: Sequence[str], *, where: SearchFilter, limit: int) -> list[Hit]:
        """Return the `limit` chunks that pass `where` and match best, best first."""
        # PostgreSQL text cannot hold NUL, so no chunk has such a word.
        asked = [word for word in dict.fromkeys(words) if "\0" not in word][:MOST_WORDS]
        if limit < 1 or not asked:
            return []
        hits: list[Hit] = []
        if names_project_at_most(where):
            find = partial(self._search_all, words=asked, only_project=where.project, limit=limit)
            hits = await self._database.look(find)
        return hits or await self._database.read(
            partial(self._search_passing, words=asked, where=where, limit=limit)
        )

    async def _search_all(
        self, connection: Session, *, words: Sequence[str], only_project: str | None, limit: int
    ) -> list[Hit]:
        """Return the best chunks of all; none when there is a project beside `only_project`."""
        totals, frequencies = await self._count(connection, words)
        if not frequencies:
            return []
        return await _match(
            connection, frequencies, totals=totals, only_project=only_project, limit=limit
        )

    async def _search_passing(
        self, connection: Session, *, words: Sequence[str], where: SearchFilter, limit: int
    ) -> list[Hit]:
        totals, frequencies = await self._count(connection, words)
        allowed = await allowed_pages(PostgresSession(connection), where)
        if not frequencies or not (totals.chunks if allowed is None else allowed.chunks):
            return []
        if allowed is None or allowed.chunks > _FEW_CHUNKS:
            return await _match(
                connection, frequencies, totals=totals, allowed=allowed, limit=limit
            )
        values = {"source_ids": allowed.source_ids}
        found = await (await connection.execute(SQL["words_of_pages"], values)).fetchall()
        return _best(score_chunks(_texts(found), weigh(frequencies, totals), totals), limit=limit)

    async def _count(
        self, connection: Session, words: Sequence[str]
    ) -> tuple[Totals, dict[str, int]]:
        """Return how much there is, and in how many chunks each word is, of those in any."""
        counts = self._counts
        if anyio.current_time() >= counts.until:
            await self._ask(connection, [], totals=True)
        known = [word for word in words if word in counts.frequencies]
        unknown = [word for word in words if word not in counts.frequencies]
        is_small = counts.totals.chunks <= _COUNTED_AT_ONCE
        if unknown or is_small:
            await self._ask(connection, unknown, totals=is_small)
        if not all(word in counts.frequencies for word in known):
            # The totals show that the cached counts are stale.
            return await self._count(connection, words)
        frequencies = counts.frequencies
        return counts.totals, {word: frequencies[word] for word in words if word in frequencies}

    async def _ask(self, connection: Session, words: list[str], *, totals: bool) -> None:
        """Count the chunks that hold each word, and all chunks where `totals` are due."""
        values = {"words": Json(words), "totals": totals}
        row = await (await connection.execute(SQL["count_words"], values)).fetchone()
        assert row is not None, "an aggregate has a row"
        if totals:
            await self._note(connection, Totals(chunks=row["chunks"], words=row["words"]))
        # A count of 0 is not cached: the next page may have the word.
        counted = zip(words, row["frequencies"], strict=True)
        self._counts.frequencies |= {word: chunks for word, chunks in counted if chunks}

    async def _note(self, connection: Session, totals: Totals) -> None:
        counts = self._counts
        # It only decides which words are used and how common ones weigh: an estimate is enough.
        if abs(totals.chunks - counts.totals.chunks) > 0.1 * counts.totals.chunks:
            counts.frequencies = {}
        if totals.chunks > MANY_CHUNKS:
            counts.frequencies |= await _common_words(connection, totals)
        counts.totals = totals
        counts.until = anyio.current_time() + _COUNT_SECONDS


async def have_common_words_counted(database: Database) -> None:
    """Run ANALYZE for the common words if it never ran.

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


async def _match(
    connection: Session,
    frequencies: Mapping[str, int],
    *,
    totals: Totals,
    allowed: AllowedPages | None = None,
    only_project: str | None = None,
    limit: int,
) -> list[Hit]:
    """Return the best of the chunks that hold the rarest words."""
    enough = max(_SCORED, _SCORED_PER_HIT * limit)
    share = 1.0 if allowed is None else allowed.chunks / totals.chunks
    rare = sorted(rare_words(frequencies, share=share, enough=enough))
    choosing = weigh_as_fts5({word: frequencies[word] for word in rare}, totals)
    values: dict[str, object] = {
        "words": Json([{"word": word, "weight": choosing[word]} for word in rare]),
        "limit": max(_READ if totals.chunks <= MANY_CHUNKS else _READ_OF_MANY, enough),
    }
    if allowed is None:
        values |= {"only_project": only_project}
        found = await connection.execute(SQL["match_words"], values)
    else:
        values |= {"source_ids": allowed.source_ids}
        found = await connection.execute(SQL["match_words_of_pages"], values, prepare=False)
    texts = list(_texts(await found.fetchall()))
    chosen = {
        chunk_id for _, chunk_id in heapq.nsmallest(enough, score_chunks(texts, choosing, totals))
    }
    best = [text for text in texts if text[0] in chosen]
    return _best(score_chunks(best, weigh(frequencies, totals), totals), limit=limit)


def _texts(found: Iterable[dict[str, Any]]) -> Iterator[tuple[int, str, str]]:
    return ((row["chunk_id"], row["heading"], row["body"]) for row in found)


def _best(scored: Iterable[tuple[float, int]], *, limit: int) -> list[Hit]:
    best = heapq.nsmallest(limit, scored)
    return [Hit(chunk_id=chunk_id, score=-negative) for negative, chunk_id in best]
