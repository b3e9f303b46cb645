"""`data_create_website_chunks`: add chunks that were cut elsewhere to a source."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.core.errors import InvalidArgument
from citewell.core.text import counted
from citewell.tools.data.given_chunks import GivenChunk, compose_page, parse_headings
from citewell.tools.data.sources import MAX_CHUNK_CHARACTERS, MAX_CHUNKS, find_source
from citewell.tools.data.vectors import unit_vector
from citewell.tools.supplied import add_supplier
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput
from citewell.tools.websites.arguments import SourceId, headings_above

MAX_STORED_CHUNKS = 5_000
_MAX_DIMENSIONS = 4_096


class ChunkInput(ToolInput):
    """A chunk."""

    content: Annotated[str, Field(min_length=1, max_length=MAX_CHUNK_CHARACTERS, pattern=r"\S")]
    metadata: Annotated[
        dict[str, str] | None, Field(description="Headings: Header 1 … Header 6.")
    ] = None
    embedding: Annotated[
        list[float] | None,
        Field(max_length=_MAX_DIMENSIONS, description="By the server's model; made if left out."),
    ] = None


class CreateChunksInput(ToolInput):
    """Arguments of `data_create_website_chunks`."""

    source_id: SourceId
    chunks: Annotated[list[ChunkInput], Field(min_length=1, max_length=MAX_CHUNKS)]


class CreateChunksOutput(ToolOutput):
    """How many chunks were created."""

    source_id: int
    chunks_created: int
    chunks_count: int


async def run(arguments: CreateChunksInput, call: Call) -> CreateChunksOutput:
    """Append chunks to a source, in one transaction.

    Raises:
        NotFound: there is no such source.
        InvalidArgument: it is a site, has too many chunks, or an embedding does not fit.
    """
    website = await find_source(arguments.source_id, call)
    if website.kind == "site":
        raise InvalidArgument("A site gets its chunks from its pages.")
    store = call.parts.store
    before = await _stored(website.source_id, call)
    if len(before) + len(arguments.chunks) > MAX_STORED_CHUNKS:
        raise InvalidArgument(f"A source has at most {MAX_STORED_CHUNKS:,} chunks.")
    added = [
        GivenChunk(content=chunk.content.strip(), headings=parse_headings(chunk.metadata or {}))
        for chunk in arguments.chunks
    ]
    embedder = call.parts.embedder
    vectors = [
        None
        if chunk.embedding is None
        else unit_vector(chunk.embedding, embedder, argument="embedding")
        for chunk in arguments.chunks
    ]
    suppliers = add_supplier(website.supplied_by, call.caller)
    page = await store.put_page(compose_page(website, [*before, *added], supplied_by=suppliers))
    created = await store.chunks_of_page(page.source_id, first_ordinal=len(before))
    known = {
        chunk.chunk_id: vector
        for chunk, vector in zip(created, vectors, strict=True)
        if vector is not None
    }
    if known and embedder is not None:
        await store.put_vectors(known, model=embedder.name)
    return CreateChunksOutput(
        source_id=page.source_id, chunks_created=len(created), chunks_count=page.chunks
    )


async def _stored(source_id: int, call: Call) -> list[GivenChunk]:
    page = await call.parts.store.get_page(source_id)
    if page is None:
        return []
    chunks = await call.parts.store.chunks_of_page(source_id)
    return [
        GivenChunk(content=chunk.text, headings=headings_above(chunk, page.sections))
        for chunk in chunks
    ]


def render(output: CreateChunksOutput, call: Call) -> str:
    """Return one line."""
    return (
        f"Created {counted(output.chunks_created, 'chunk')}; source {output.source_id} has "
        f"{output.chunks_count}."
    )


TOOL = Tool(
    name="data_create_website_chunks",
    toolset="data",
    title="Add chunks to a source",
    description=f"""
        Add chunks to a source, after those it has.
        Use when you cut the content yourself.
        Do not use when it can be fetched: rag_process_website.
        Returns at most the count.
        If you need more, call data_update_website_status.
        Defaults: none. Max: {MAX_CHUNKS} chunks a call.
    """,
    annotations=Annotations(read_only=False, idempotent=False),
    needs=("store", "embedder"),
    run=run,
    render=render,
    example={
        "source_id": 42,
        "chunks": [{"content": "Five years of Python.", "metadata": {"Header 2": "Requirements"}}],
    },
)
