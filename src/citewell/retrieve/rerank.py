"""Ordering candidates by the probability that they answer the query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.core.errors import InferenceError
from citewell.core.records import RankedChunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from citewell.inference.protocols import Reranker
    from citewell.retrieve.candidates import FoundChunk
    from citewell.retrieve.query import Query


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """Chunks, best first; `calibrated` says whether their confidence means anything."""

    chunks: tuple[RankedChunk, ...]
    calibrated: bool
    notes: tuple[str, ...] = ()


async def rank(query: Query, found: Sequence[FoundChunk], *, reranker: Reranker | None) -> Ranking:
    """Return `found` by falling probability; in fused order without a reranker, or if it fails."""
    if reranker is None or not found:
        return Ranking(chunks=_in_fused_order(query, found), calibrated=False)
    try:
        probabilities = await reranker.score(query.text, found)
    except InferenceError as error:
        note = f"Results are in the order of search, not reranked: {error.message}"
        return Ranking(chunks=_in_fused_order(query, found), calibrated=False, notes=(note,))
    ranked = [
        RankedChunk(
            chunk=candidate.chunk,
            relevance=probability,
            confidence=probability,
            matched_by=candidate.matched_by,
            sub_query=query.text,
        )
        for candidate, probability in zip(found, probabilities, strict=True)
    ]
    return Ranking(chunks=_best_first(ranked), calibrated=True)


def merge_rankings(rankings: Iterable[Ranking]) -> Ranking:
    """Return the chunks of several queries as one ranking; each chunk keeps its best standing."""
    several = list(rankings)
    best: dict[int, RankedChunk] = {}
    for ranking in several:
        for ranked in ranking.chunks:
            known = best.get(ranked.chunk.chunk_id)
            if known is None or ranked.relevance > known.relevance:
                best[ranked.chunk.chunk_id] = ranked
    return Ranking(
        chunks=_best_first(best.values()),
        calibrated=all(ranking.calibrated for ranking in several),
        notes=tuple(dict.fromkeys(note for ranking in several for note in ranking.notes)),
    )


def _in_fused_order(query: Query, found: Sequence[FoundChunk]) -> tuple[RankedChunk, ...]:
    best = max((candidate.fused_score for candidate in found), default=1.0)
    return _best_first(
        RankedChunk(
            chunk=candidate.chunk,
            relevance=candidate.fused_score / best,
            confidence=None,
            matched_by=candidate.matched_by,
            sub_query=query.text,
        )
        for candidate in found
    )


def _best_first(chunks: Iterable[RankedChunk]) -> tuple[RankedChunk, ...]:
    # The sort is stable: equals stay in the order of fusion.
    return tuple(sorted(chunks, key=lambda ranked: -ranked.relevance))
