"""`data_query_chunks_hybrid`: chunks by a vector and by words, without reranking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from citewell.core.errors import InvalidArgument
from citewell.core.records import SearchFilter
from citewell.retrieve.pipeline import Models, Options, retrieve
from citewell.tools.data.sources import ChunkShape, render_chunks, shape_chunk, within_budget
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import PageUrl
from citewell.tools.websites.scores import combined_distance, vector_distance, word_distance

if TYPE_CHECKING:
    import numpy.typing as npt

    from citewell.inference.protocols import Embedder

    Vector = npt.NDArray[np.float32]

DEFAULT_RESULTS = 10
MAX_RESULTS = 20


class QueryChunksInput(ToolInput):
    """Arguments of `data_query_chunks_hybrid`."""

    query_embedding: Annotated[
        list[float] | None,
        Field(max_length=4_096, description="Of the server's model; else made by it."),
    ] = None
    query_text: Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"\S")]
    max_results: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = DEFAULT_RESULTS


class FoundChunkShape(ChunkShape):
    """A chunk; `relevance` is 1 at best, each score 0."""

    source_url: PageUrl
    relevance: float
    vector_score: float
    fts_score: float | None = None
    combined_score: float


class QueryChunksOutput(ToolOutput):
    """Chunks, best first."""

    results: list[FoundChunkShape]


async def run(arguments: QueryChunksInput, call: Call) -> QueryChunksOutput:
    """Search by vector and by words, and fuse by rank.

    Raises:
        InvalidArgument: the embedding is not one of the server's model.
    """
    parts = call.parts
    found = await retrieve(
        arguments.query_text,
        store=parts.store,
        models=Models(embedder=parts.embedder, reranker=None),
        where=SearchFilter(project=call.caller.project),
        options=Options(
            limit=arguments.max_results, query_vector=_given_vector(arguments, parts.embedder)
        ),
    )
    ranked = {each.chunk.chunk_id: each for each in found.chunks}
    results: list[FoundChunkShape] = []
    for chunk in within_budget([each.chunk for each in found.chunks]):
        vector = vector_distance(ranked[chunk.chunk_id].vector_score)
        by_word = word_distance(ranked[chunk.chunk_id].word_score)
        combined = combined_distance(None, vector=vector, words_score=by_word)
        results.append(
            FoundChunkShape(
                **shape_chunk(chunk).model_dump(),
                source_url=chunk.url,
                relevance=round(1.0 - combined, 4),
                vector_score=vector,
                fts_score=by_word,
                combined_score=combined,
            )
        )
    return QueryChunksOutput(results=results)


def _given_vector(arguments: QueryChunksInput, embedder: Embedder | None) -> Vector | None:
    """Return the caller's own vector of the query at unit length; None where there is none."""
    if arguments.query_embedding is None:
        return None
    if embedder is None:
        raise InvalidArgument("query_embedding: this server has no embedding model.")
    vector = np.array(arguments.query_embedding, dtype=np.float32)
    length = float(np.linalg.norm(vector))
    if len(vector) != embedder.dimensions or not np.isfinite(length) or length == 0.0:
        raise InvalidArgument(
            f"query_embedding must be {embedder.dimensions} finite numbers, not all zero.",
            suggestion="Leave query_embedding out: the server makes its own.",
        )
    return vector / np.float32(length)


def render(output: QueryChunksOutput, call: Call) -> str:
    """Return the scores of each chunk, then the chunks."""
    if not output.results:
        return "Nothing found."
    scores = [
        f"[{each.chunk_id}] {each.source_url}: relevance {each.relevance}, "
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
    annotations=Annotations(read_only=True),
    needs=("store", "embedder"),
    run=run,
    render=render,
    example={"query_text": "backend requirements", "max_results": 5},
    lists_columns=False,
)
