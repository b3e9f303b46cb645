"""`data_read_website_source`: one source as a row."""

from __future__ import annotations

from citewell.tools.data.sources import (
    SourceInput,
    SourceShape,
    find_source,
    render_source,
    shape_source,
)
from citewell.tools.tool import Annotations, Call, Tool


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
    description=(
        "Read one source's row.\n"
        "Use when you have its id.\n"
        "Do not use when you want its fields: rag_get_website_status.\n"
        "Returns at most one row.\n"
        "If you need more, call data_read_website_chunks.\n"
        "Defaults: none. Max: one."
    ),
    annotations=Annotations(read_only=True),
    needs=("store",),
    run=run,
    render=render_source,
    example={"source_id": 42},
)
