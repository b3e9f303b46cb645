"""Ordering candidates by the probability that they answer the query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.errors import InferenceError
from citewell.core.frozen import frozen
from citewell.core.records import RankedChunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from citewell.core.question import Query
    from citewell.inference.protocols import Reranker
    from citewell.retrieve.candidates import FoundChunk


# How far a chunk that holds the operators of a question comes towards the best.
_TOWARDS_BEST = 0.5


@frozen
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
        _ranked(query, candidate, relevance=probability, confidence=probability)
        for candidate, probability in zip(found, probabilities, strict=True)
    ]
    return Ranking(chunks=best_first(ranked), calibrated=True)


def rank_by_cosine(query: Query, found: Sequence[FoundChunk]) -> Ranking:
    """Return `found` by falling cosine to the query."""
    ranked = [
        _ranked(query, each, relevance=min(1.0, max(0.0, each.vector_score or 0.0)))
        for each in found
    ]
    return Ranking(chunks=best_first(ranked), calibrated=False)


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
        chunks=best_first(best.values()),
        calibrated=all(ranking.calibrated for ranking in several),
        notes=tuple(dict.fromkeys(note for ranking in several for note in ranking.notes)),
    )


def raise_signs(scores: Sequence[float], texts: Sequence[str], signs: Sequence[str]) -> list[float]:
    """Return the scores, those of texts that hold the operators asked about nearer to the best."""
    if not signs:
        return list(scores)
    best = max(scores, default=0.0)
    return [
        score + _TOWARDS_BEST * (best - score) if all(sign in text for sign in signs) else score
        for score, text in zip(scores, texts, strict=True)
    ]


def best_first(chunks: Iterable[RankedChunk]) -> tuple[RankedChunk, ...]:
    """Return the chunks by falling relevance; equals stay in the order of fusion."""
    return tuple(sorted(chunks, key=lambda ranked: -ranked.relevance))


def _in_fused_order(query: Query, found: Sequence[FoundChunk]) -> tuple[RankedChunk, ...]:
    best = max((candidate.fused_score for candidate in found), default=1.0) or 1.0
    return best_first(
        _ranked(query, candidate, relevance=candidate.fused_score / best) for candidate in found
    )


def _ranked(
    query: Query, found: FoundChunk, *, relevance: float, confidence: float | None = None
) -> RankedChunk:
    return RankedChunk(
        chunk=found.chunk,
        relevance=relevance,
        confidence=confidence,
        matched_by=found.matched_by,
        sub_query=query.text,
        word_score=found.word_score,
        vector_score=found.vector_score,
        fused_score=found.fused_score,
    )
