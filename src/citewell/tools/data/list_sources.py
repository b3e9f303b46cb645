"""`data_list_website_sources`: sources as rows, filtered."""

from __future__ import annotations

from pydantic import Field

from citewell.core.boundary import NOTE_PLACE, enclose
from citewell.core.library import ContentType, WebsiteQuery
from citewell.tools.data.sources import (
    MAX_LIMIT,
    Limit,
    Offset,
    SourceShape,
    render_source,
    shape_source,
)
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.websites.arguments import Status

DEFAULT_LIMIT = 50


class SourceFilters(ToolInput):
    """Conditions that sources must meet."""

    content_type: ContentType | None = None
    status: Status | None = None


class ListSourcesInput(ToolInput):
    """Arguments of `data_list_website_sources`."""

    filters: SourceFilters = Field(default_factory=SourceFilters)
    limit: Limit = DEFAULT_LIMIT
    offset: Offset = 0


class ListSourcesOutput(ToolOutput):
    """One page of the list."""

    sources: list[SourceShape]
    total_count: int


async def run(arguments: ListSourcesInput, call: Call) -> ListSourcesOutput:
    """List the sources of the caller's project, latest first."""
    listed = await call.parts.store.library.list_websites(
        WebsiteQuery(
            project=call.caller.project,
            content_type=arguments.filters.content_type,
            status=arguments.filters.status,
            limit=arguments.limit,
            offset=arguments.offset,
        )
    )
    return ListSourcesOutput(
        sources=[shape_source(website) for website in listed.websites], total_count=listed.total
    )


def render(output: ListSourcesOutput, call: Call) -> str:
    """Return one line for each source."""
    lines = [f"{len(output.sources)} of {output.total_count} sources"]
    listed = "\n".join(render_source(source, call) for source in output.sources)
    return "\n".join([*lines, NOTE_PLACE, enclose(listed)]) if listed else lines[0]


TOOL = Tool(
    name="data_list_website_sources",
    toolset="data",
    title="List sources",
    description=f"""
        List source rows.
        Use when you need ids.
        Do not use when you look for content: rag_query_websites.
        Returns at most limit rows.
        If you need more, call again with offset.
        Defaults: {DEFAULT_LIMIT}. Max: {MAX_LIMIT}.
    """,
    needs=("store",),
    run=run,
    render=render,
    example={"filters": {"status": "completed"}, "limit": 10},
    lists_columns=False,
)
