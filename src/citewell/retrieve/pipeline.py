"""From query to ranked blocks: the steps, in order."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from citewell.retrieve.blocks import cut_blocks, plan_blocks
from citewell.retrieve.candidates import Candidates, find_candidates
from citewell.retrieve.locality import add_locality
from citewell.retrieve.query import Query, read_query
from citewell.retrieve.rerank import merge_rankings, rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from citewell.core.records import Block, PageText, RankedChunk, SearchFilter
    from citewell.inference.protocols import Embedder, Reranker
    from citewell.retrieve.blocks import BlockPlan
    from citewell.store.protocol import Store

# Chunks per query that are reranked: enough that ten pages are among them.
DEPTH = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """What a query found, best first, and how long each stage took in milliseconds."""

    blocks: tuple[Block, ...]
    ranked: tuple[RankedChunk, ...]
    best_by_query: Mapping[str, RankedChunk]
    """The best chunk for the query and for each sub-query that found any."""
    best_cosines: Mapping[str, float]
    """The highest cosine of any candidate, for each query that was also asked by vectors."""
    chunks_evaluated: int
    """How many different chunks were ranked, over all sub-queries."""
    chunks_matched: int
    """How many chunks words or vectors named, over all sub-queries."""
    pages: Mapping[int, PageText]
    """The pages that the blocks are cut from."""
    retrieval_ms: float
    reranking_ms: float
    locality_ms: float
    merge_ms: float
    notes: tuple[str, ...] = ()
    """What could not be done, such as searching by vectors."""


async def retrieve(
    query: str,
    *,
    store: Store,
    embedder: Embedder | None,
    reranker: Reranker | None,
    where: SearchFilter,
    limit: int,
    sub_queries: Sequence[str] = (),
) -> Retrieval:
    """Return up to `limit` blocks that best answer `query` and its `sub_queries`.

    Every block's text is a slice of its page. A model that fails does not fail the search: what
    remains decides, and a note says so.

    Raises:
        StoreError: the store could not be read.
    """
    clock = _Stopwatch()
    asked = [read_query(text) for text in dict.fromkeys((query, *sub_queries)) if text.strip()]
    gathered = await _find_all(
        asked,
        store=store,
        embedder=embedder,
        where=where,
        depth=max(DEPTH, 2 * limit),
    )
    retrieval_ms = clock.lap_ms()
    rankings = [
        await rank(each, candidates.found, reranker=reranker)
        for each, candidates in zip(asked, gathered, strict=True)
    ]
    ranking = merge_rankings(rankings)
    reranking_ms = clock.lap_ms()
    plans = plan_blocks(ranking.chunks, limit=limit, calibrated=ranking.calibrated)
    merge_ms = clock.lap_ms()
    plans = await add_locality(plans, store=store, limit=limit)
    locality_ms = clock.lap_ms()
    pages = await _pages_of(plans, store=store)
    return Retrieval(
        blocks=tuple(cut_blocks(plans, pages)),
        ranked=ranking.chunks,
        best_by_query={one.chunks[0].sub_query: one.chunks[0] for one in rankings if one.chunks},
        best_cosines=_best_cosines(asked, gathered),
        chunks_evaluated=len(ranking.chunks),
        chunks_matched=sum(candidates.chunks_matched for candidates in gathered),
        pages=pages,
        retrieval_ms=retrieval_ms,
        reranking_ms=reranking_ms,
        locality_ms=locality_ms,
        merge_ms=merge_ms + clock.lap_ms(),
        notes=_once((*(note for each in gathered for note in each.notes), *ranking.notes)),
    )


async def _find_all(
    asked: Sequence[Query],
    *,
    store: Store,
    embedder: Embedder | None,
    where: SearchFilter,
    depth: int,
) -> list[Candidates]:
    found: dict[int, Candidates] = {}

    async def find(at: int) -> None:
        found[at] = await find_candidates(
            asked[at],
            store=store,
            embedder=embedder,
            where=where,
            depth=depth,
        )

    async with anyio.create_task_group() as tasks:
        for at in range(len(asked)):
            tasks.start_soon(find, at)
    return [found[at] for at in range(len(asked))]


async def _pages_of(plans: Sequence[BlockPlan], *, store: Store) -> dict[int, PageText]:
    return await store.page_texts(list(dict.fromkeys(plan.source_id for plan in plans)))


def _best_cosines(asked: Sequence[Query], gathered: Sequence[Candidates]) -> dict[str, float]:
    known = {
        query.text: [each.vector_score for each in found.found if each.vector_score is not None]
        for query, found in zip(asked, gathered, strict=True)
    }
    return {text: max(cosines) for text, cosines in known.items() if cosines}


def _once(notes: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))


class _Stopwatch:
    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap_ms(self) -> float:
        now = time.perf_counter()
        lap, self._last = (now - self._last) * 1000, now
        return lap
