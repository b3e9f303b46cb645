"""`data_read_website_chunks`: the chunks of a source, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.tools.data.sources import (
    ChunkShape,
    Limit,
    Offset,
    find_source,
    render_chunks,
    shape_chunk,
    within_budget,
)
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.websites.arguments import SourceId

if TYPE_CHECKING:
    from citewell.core.records import StoredChunk

DEFAULT_LIMIT = 20


class ReadChunksInput(ToolInput):
    """Arguments of `data_read_website_chunks`."""

    source_id: SourceId
    limit: Limit = DEFAULT_LIMIT
    offset: Offset = 0


class ReadChunksOutput(ToolOutput):
    """Chunks of a source; of a site, page after page."""

    chunks: list[ChunkShape]
    total_count: int
    has_more: bool


async def run(arguments: ReadChunksInput, call: Call) -> ReadChunksOutput:
    """Return the chunks from `offset` on.

    Raises:
        NotFound: there is no such source.
    """
    website = await find_source(arguments.source_id, call)
    store = call.parts.store
    chunks_read: list[StoredChunk] = []
    skipped = 0
    for source_id in await store.library.pages_of([website.source_id], project=website.project):
        if len(chunks_read) == arguments.limit:
            break
        chunks = await store.chunks_of_page(source_id)
        fresh = chunks[max(0, arguments.offset - skipped) :][: arguments.limit - len(chunks_read)]
        chunks_read.extend(fresh)
        skipped += len(chunks)
    shown = within_budget(chunks_read)
    return ReadChunksOutput(
        chunks=[shape_chunk(chunk) for chunk in shown],
        total_count=website.chunks,
        has_more=bool(shown) and arguments.offset + len(shown) < website.chunks,
    )


def render(output: ReadChunksOutput, call: Call) -> str:
    """Return the count and the chunks."""
    if not output.chunks:
        return f"No chunks here ({output.total_count} in all)."
    return f"{len(output.chunks)} of {output.total_count} chunks. {render_chunks(output.chunks)}"


TOOL = Tool(
    name="data_read_website_chunks",
    toolset="data",
    title="Read the chunks of a source",
    description=f"""
        Read a source's chunks in order.
        Use when you need all its text.
        Do not use when you have a question: rag_query_websites.
        Returns at most limit chunks, fewer when they are long.
        If you need more, call again with offset.
        Defaults: {DEFAULT_LIMIT}. Max: 100.
    """,
    needs=("store",),
    run=run,
    render=render,
    example={"source_id": 42, "limit": 10},
    lists_columns=False,
)
