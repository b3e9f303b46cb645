"""`data_read_website_source`: one source as a row."""

from __future__ import annotations

from citewell.tools.data.sources import (
    SourceInput,
    SourceShape,
    find_source,
    render_source,
    shape_source,
)
from citewell.tools.registry import Annotations, Call, Tool, as_is


async def run(given: SourceInput, call: Call) -> SourceShape:
    """Return the source.

    Raises:
        NotFound: there is no such source.
    """
    return shape_source(await find_source(given.source_id, call))


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
    input_model=SourceInput,
    output_model=SourceShape,
    annotations=Annotations(read_only=True),
    needs=("store",),
    run=run,
    shape=as_is,
    render=render_source,
    example={"source_id": 42},
)
