"""Finding candidates: by words and by vectors at the same time, each with all its scores."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

import anyio

from citewell.core.errors import InferenceError
from citewell.core.frozen import frozen
from citewell.retrieve.fuse import fuse_by_reciprocal_rank

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from citewell.core.question import Query, QueryKind
    from citewell.core.records import Hit, MatchedBy, SearchFilter, StoredChunk
    from citewell.inference.protocols import Embedder
    from citewell.store.protocol import Store

    Vector = npt.NDArray[np.float32]

# The weight of vectors in fusion, words having 1. Chosen, not measured: a symbol is a matter of
# spelling. They only shape the pool and the order without a reranker, which reweighs scores.
_VECTOR_WEIGHT: dict[QueryKind, float] = {
    "symbol": 0.3,
    "keywords": 0.8,
    "question": 1.0,
    "statement": 1.0,
}
# Chunks without a vector that one query may embed: about half a second at 30 chunks a second.
EMBED_LIMIT = 16


@frozen
class FoundChunk:
    """A candidate: a chunk with the evidence gathered for it."""

    chunk: StoredChunk
    word_score: float
    vector_score: float | None
    fused_score: float
    matched_by: MatchedBy


@frozen
class Definitions:
    """The chunks that define what a question names, the nearest name first."""

    chunks: tuple[StoredChunk, ...] = ()
    starts: Mapping[int, int] = field(default_factory=dict)
    """Where in its chunk, by id, each definition begins."""
    come_first: bool = False
    """Whether the question is about the symbol itself, not about something done with it."""
    later: frozenset[int] = frozenset()
    """Those that come after the others: of legacy names, and those that only point to another."""
    notes: tuple[str, ...] = ()
    """Where a symbol is defined, if not under the name that the question has."""


@frozen
class Candidates:
    """The candidates of one query, best fused score first, and what went wrong on the way."""

    found: tuple[FoundChunk, ...]
    chunks_matched: int
    """How many chunks words or vectors named, before the cut."""
    notes: tuple[str, ...] = ()
    definitions: Definitions = Definitions()


class _VectorSide:
    """What the vector half of a search brought; empty when there is no model for the query."""

    def __init__(self) -> None:
        self.query_vector: Vector | None = None
        self.hits: list[Hit] = []
        self.notes: list[str] = []


async def find_candidates(
    query: Query,
    *,
    store: Store,
    embedder: Embedder | None,
    where: SearchFilter,
    depth: int,
    embed_limit: int = EMBED_LIMIT,
    query_vector: Vector | None = None,
) -> Candidates:
    """Return up to `depth` chunks for `query`, best fused score first.

    Word candidates that have no vector yet are embedded, the best `embed_limit` of them, and their
    vectors kept. When the model fails the words alone decide and a note says so. `query_vector`
    stands in for the embedder's own.
    """
    side = _VectorSide()
    side.query_vector = query_vector
    has_vectors = embedder is not None and (
        query_vector is not None or embedder.supports(query.text)
    )
    # What stands deep in one list can still come out on top where another list names it too.
    limit = 2 * depth if has_vectors else depth

    async with anyio.create_task_group() as tasks:
        if embedder is not None and has_vectors:
            tasks.start_soon(_search_by_vectors, query, side, store, embedder, where, limit)
        word_hits = (
            await store.search_words(query.words, where=where, limit=limit) if query.words else []
        )
    cosines = {hit.chunk_id: hit.score for hit in side.hits}
    if embedder is not None and side.query_vector is not None:
        cosines |= await _cosines_of_words_hits(
            side, word_hits, cosines, store=store, embedder=embedder, embed_limit=embed_limit
        )
    return await _fused(query, word_hits, cosines, side, store=store, depth=depth)


def join_candidates(several: Sequence[Candidates], further: Sequence[FoundChunk]) -> Candidates:
    """Return the candidates of several searches for one query as one, each chunk once.

    `further` are chunks that an earlier search found.
    """
    chunks = {each.chunk.chunk_id: each for each in further}
    chunks |= {each.chunk.chunk_id: each for one in several for each in one.found}
    found = sorted(chunks.values(), key=lambda each: (-each.fused_score, each.chunk.chunk_id))
    starts = {at: start for one in several for at, start in one.definitions.starts.items()}
    return Candidates(
        found=tuple(found),
        chunks_matched=sum(one.chunks_matched for one in several),
        notes=tuple(dict.fromkeys(note for one in several for note in one.notes)),
        definitions=Definitions(
            chunks=tuple(chunk for one in several for chunk in one.definitions.chunks),
            starts=starts,
            come_first=any(one.definitions.come_first for one in several),
            later=frozenset(at for one in several for at in one.definitions.later),
            notes=tuple(dict.fromkeys(note for one in several for note in one.definitions.notes)),
        ),
    )


async def _search_by_vectors(
    query: Query,
    side: _VectorSide,
    store: Store,
    embedder: Embedder,
    where: SearchFilter,
    limit: int,
) -> None:
    try:
        vector = side.query_vector
        if vector is None:
            vector = await embedder.embed_query(query.text)
    except InferenceError as error:
        side.notes.append(f"Searched by words only: {error.message}")
        return
    side.query_vector = vector
    if query.words and not await store.vectors_ready(model=embedder.name):
        side.notes.append("The vectors are being loaded: only chunks found by words were compared.")
        return
    side.hits = await store.search_vectors(vector, model=embedder.name, where=where, limit=limit)


async def _cosines_of_words_hits(
    side: _VectorSide,
    word_hits: Sequence[Hit],
    known: dict[int, float],
    *,
    store: Store,
    embedder: Embedder,
    embed_limit: int,
) -> dict[int, float]:
    """Return cosines of the chunks that only words found, making the best missing vectors."""
    assert side.query_vector is not None, "called only with a query vector"
    unknown = [hit.chunk_id for hit in word_hits if hit.chunk_id not in known]
    cosines = await store.compare_vectors(unknown, side.query_vector, model=embedder.name)
    missing = [chunk_id for chunk_id in unknown if chunk_id not in cosines][:embed_limit]
    if missing:
        texts = await store.embedded_texts(missing)
        wanted = [at for at in missing if at in texts and embedder.supports(texts[at])]
        try:
            made = await embedder.embed_passages([texts[at] for at in wanted]) if wanted else ()
        except InferenceError as error:
            side.notes.append(f"New pages were searched by words only: {error.message}")
        else:
            fresh = dict(zip(wanted, made, strict=True))
            if fresh:
                await store.put_vectors(fresh, model=embedder.name)
            cosines |= {at: float(vector @ side.query_vector) for at, vector in fresh.items()}
    return cosines


async def _fused(
    query: Query,
    word_hits: Sequence[Hit],
    cosines: dict[int, float],
    side: _VectorSide,
    *,
    store: Store,
    depth: int,
) -> Candidates:
    word_scores = {hit.chunk_id: hit.score for hit in word_hits}
    by_vector = sorted(cosines, key=lambda chunk_id: -cosines[chunk_id])[: 2 * depth]
    fused = fuse_by_reciprocal_rank(
        [([hit.chunk_id for hit in word_hits], 1.0), (by_vector, _VECTOR_WEIGHT[query.kind])]
    )
    best = sorted(fused, key=lambda chunk_id: (-fused[chunk_id], chunk_id))[:depth]
    near = set(by_vector)
    found = tuple(
        FoundChunk(
            chunk=chunk,
            word_score=word_scores.get(chunk.chunk_id, 0.0),
            vector_score=cosines.get(chunk.chunk_id),
            fused_score=fused[chunk.chunk_id],
            matched_by=_matched_by(chunk.chunk_id in word_scores, chunk.chunk_id in near),
        )
        for chunk in await store.load_chunks(best)
    )
    return Candidates(found=found, chunks_matched=len(fused), notes=tuple(side.notes))


def _matched_by(words: bool, vectors: bool) -> MatchedBy:
    if words and vectors:
        return "both"
    return "words" if words else "vectors"
