"""`data_query_chunks_hybrid`: chunks by a vector and by words, without reranking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from citewell.core.records import SearchFilter
from citewell.retrieve.pipeline import Models, Options, retrieve
from citewell.tools.data.sources import ChunkShape, render_chunks, shape_chunk, within_budget
from citewell.tools.data.vectors import unit_vector
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import PageUrl
from citewell.tools.websites.scores import combined_distance, vector_distance, word_distance

if TYPE_CHECKING:
    from citewell.core.records import RankedChunk

DEFAULT_RESULTS = 10
MAX_RESULTS = 20


class QueryChunksInput(ToolInput):
    """Arguments of `data_query_chunks_hybrid`."""

    query_embedding: Annotated[
        list[float] | None,
        Field(max_length=4_096, description="By the server's model; made if left out."),
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
    parts, vector = call.parts, None
    if arguments.query_embedding is not None:
        vector = unit_vector(arguments.query_embedding, parts.embedder, argument="query_embedding")
    retrieval = await retrieve(
        arguments.query_text,
        store=parts.store,
        models=Models(embedder=parts.embedder, reranker=None),
        where=SearchFilter(project=call.caller.project),
        options=Options(limit=arguments.max_results, query_vector=vector),
    )
    kept = len(within_budget([ranked.chunk for ranked in retrieval.chunks]))
    return QueryChunksOutput(results=[_shape(ranked) for ranked in retrieval.chunks[:kept]])


def _shape(ranked: RankedChunk) -> FoundChunkShape:
    vector_score = vector_distance(ranked.vector_score)
    words_score = word_distance(ranked.word_score)
    combined = combined_distance(None, vector=vector_score, words_score=words_score)
    return FoundChunkShape(
        **shape_chunk(ranked.chunk).model_dump(),
        source_url=ranked.chunk.url,
        relevance=round(1.0 - combined, 4),
        vector_score=vector_score,
        fts_score=words_score,
        combined_score=combined,
    )


def render(output: QueryChunksOutput, call: Call) -> str:
    """Return the scores of each chunk, then the chunks."""
    if not output.results:
        return "Nothing found."
    scores = [
        f"[{chunk.chunk_id}] {chunk.source_url}: relevance {chunk.relevance}, "
        f"vector {chunk.vector_score}, words {chunk.fts_score}"
        for chunk in output.results
    ]
    return "\n".join([*scores, render_chunks(output.results)])


TOOL = Tool(
    name="data_query_chunks_hybrid",
    toolset="data",
    title="Search chunks by vector and words",
    description=f"""
        Find chunks by vector and words, fused by rank.
        Use when you have an embedding or want raw scores.
        Do not use when you have a question: rag_query_websites.
        Returns at most max_results chunks.
        If you need more, call data_read_website_chunks.
        Defaults: {DEFAULT_RESULTS}. Max: {MAX_RESULTS}.
    """,
    needs=("store", "embedder"),
    run=run,
    render=render,
    example={"query_text": "backend requirements", "max_results": 5},
    lists_columns=False,
)
