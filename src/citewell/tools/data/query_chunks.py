"""`data_query_chunks_hybrid`: chunks by a vector and by words, without reranking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from citewell.core.errors import InvalidArgument
from citewell.core.records import SearchFilter
from citewell.retrieve.fuse import fuse_by_reciprocal_rank
from citewell.retrieve.query import read_query
from citewell.tools.data.sources import ChunkShape, render_chunks, shape_chunk, within_budget
from citewell.tools.registry import Annotations, Call, Tool, ToolInput, ToolOutput, as_is
from citewell.tools.untrusted import PageUrl
from citewell.tools.websites.scores import combined_distance, vector_distance, word_distance

if TYPE_CHECKING:
    from citewell.core.records import Hit

DEFAULT_RESULTS = 10
MAX_RESULTS = 20
# How many of each search are fused, as seed B has it, but never fewer than are wanted.
_LEAST_DEPTH = 20


class QueryChunksInput(ToolInput):
    """Arguments of `data_query_chunks_hybrid`."""

    query_embedding: Annotated[
        list[float] | None,
        Field(max_length=4_096, description="Of the server's model; else made by it."),
    ] = None
    query_text: Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"\S")]
    max_results: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = DEFAULT_RESULTS


class FoundChunkShape(ChunkShape):
    """A chunk with its scores; 0 is best."""

    source_url: PageUrl
    vector_score: float
    fts_score: float | None = None
    combined_score: float


class QueryChunksOutput(ToolOutput):
    """Chunks, best first."""

    results: list[FoundChunkShape]


async def run(given: QueryChunksInput, call: Call) -> QueryChunksOutput:
    """Search by vector and by words, and fuse by rank.

    Raises:
        InvalidArgument: the embedding is not one of the server's model.
    """
    store = call.parts.store
    where = SearchFilter(project=call.caller.project)
    depth = max(_LEAST_DEPTH, 2 * given.max_results)
    by_words = await store.search_words(
        read_query(given.query_text).words, where=where, limit=depth
    )
    by_vectors = await _vector_hits(given, call, where=where, limit=depth)
    fused = fuse_by_reciprocal_rank(
        [([hit.chunk_id for hit in hits], 1.0) for hits in (by_words, by_vectors)]
    )
    cosines = {hit.chunk_id: hit.score for hit in by_vectors}
    word_scores = {hit.chunk_id: hit.score for hit in by_words}
    best = sorted(fused, key=lambda chunk_id: -fused[chunk_id])[: given.max_results]
    results: list[FoundChunkShape] = []
    for chunk in within_budget(await store.load_chunks(best)):
        vector = vector_distance(cosines.get(chunk.chunk_id))
        by_word = word_distance(word_scores.get(chunk.chunk_id, 0.0))
        results.append(
            FoundChunkShape(
                **shape_chunk(chunk).model_dump(),
                source_url=chunk.url,
                vector_score=vector,
                fts_score=by_word,
                combined_score=combined_distance(None, vector=vector, words_score=by_word),
            )
        )
    return QueryChunksOutput(results=results)


async def _vector_hits(
    given: QueryChunksInput, call: Call, *, where: SearchFilter, limit: int
) -> list[Hit]:
    embedder = call.parts.embedder
    if embedder is None:
        if given.query_embedding is not None:
            raise InvalidArgument("query_embedding: this server has no embedding model.")
        return []
    if given.query_embedding is None:
        if not embedder.supports(given.query_text):
            return []
        vector = await embedder.embed_query(given.query_text)
    else:
        vector = np.array(given.query_embedding, dtype=np.float32)
        length = float(np.linalg.norm(vector))
        if len(vector) != embedder.dimensions or not np.isfinite(length) or length == 0.0:
            raise InvalidArgument(
                f"query_embedding must be {embedder.dimensions} finite numbers, not all zero.",
                suggestion="Leave query_embedding out: the server makes its own.",
            )
        vector = vector / np.float32(length)
    return await call.parts.store.search_vectors(
        vector, model=embedder.name, where=where, limit=limit
    )


def render(output: QueryChunksOutput, call: Call) -> str:
    """Return the scores of each chunk, then the chunks."""
    if not output.results:
        return "Nothing found."
    scores = [
        f"[{each.chunk_id}] {each.source_url}: combined {each.combined_score}, "
        f"vector {each.vector_score}, words {each.fts_score}"
        for each in output.results
    ]
    return "\n".join([*scores, render_chunks(output.results)])


TOOL = Tool(
    name="data_query_chunks_hybrid",
    toolset="data",
    title="Search chunks by vector and words",
    description=(
        "Find chunks by vector and words, fused by rank.\n"
        "Use when you have an embedding or want raw scores.\n"
        "Do not use when you have a question: rag_query_websites.\n"
        "Returns at most max_results chunks.\n"
        "If you need more, call data_read_website_chunks.\n"
        f"Defaults: {DEFAULT_RESULTS}. Max: {MAX_RESULTS}."
    ),
    input_model=QueryChunksInput,
    output_model=QueryChunksOutput,
    annotations=Annotations(read_only=True),
    needs=("store", "embedder"),
    run=run,
    shape=as_is,
    render=render,
    example={"query_text": "backend requirements", "max_results": 5},
    in_default=False,
    lists_columns=False,
)
