"""`data_read_website_source`: one source as a row."""

from __future__ import annotations

from citewell.tools.data.sources import (
    SourceInput,
    SourceShape,
    find_source,
    render_source,
    shape_source,
)
from citewell.tools.tool import Call, Tool


async def run(arguments: SourceInput, call: Call) -> SourceShape:
    """Return the source.

    Raises:
        NotFound: there is no such source.
    """
    return shape_source(await find_source(arguments.source_id, call))


TOOL = Tool(
    name="data_read_website_source",
    toolset="data",
    title="Read a source",
    description="""
        Read one source's row.
        Use when you have its id.
        Do not use when you want its fields: rag_get_website_status.
        Returns at most one row.
        If you need more, call data_read_website_chunks.
        Defaults: none. Max: one.
    """,
    needs=("store",),
    run=run,
    render=render_source,
    example={"source_id": 42},
)
