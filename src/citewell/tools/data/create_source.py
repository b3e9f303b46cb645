"""`data_create_website_source`: add an entry to the library without fetching anything."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from citewell.core.library import ContentType, WebsiteDraft
from citewell.tools.data.sources import SourceShape, render_source, shape_source
from citewell.tools.research.arguments import Url
from citewell.tools.tool import Annotations, Call, Tool, ToolInput
from citewell.web.urls import canonical_url


class CreateSourceInput(ToolInput):
    """Arguments of `data_create_website_source`."""

    url: Url
    content_type: ContentType
    tags: Annotated[list[str] | None, Field(max_length=20)] = None


async def run(arguments: CreateSourceInput, call: Call) -> SourceShape:
    """Add the entry, or return the existing one.

    Raises:
        NotAUrl: it is not an HTTP or HTTPS URL.
    """
    draft = WebsiteDraft(
        url=canonical_url(arguments.url),
        project=call.caller.project,
        content_type=arguments.content_type,
        tags=tuple(arguments.tags or ()),
    )
    website, _ = await call.parts.store.library.add_website(draft, now=datetime.now(UTC))
    return shape_source(website)


TOOL = Tool(
    name="data_create_website_source",
    toolset="data",
    title="Create a website source",
    description="""
        Add a website source without fetching it.
        Use when the content comes from elsewhere.
        Do not use when it should be fetched: rag_process_website.
        Returns at most the source.
        If you need more, call data_create_website_chunks.
        Defaults: none. Max: one.
    """,
    annotations=Annotations(read_only=False),
    needs=("store",),
    run=run,
    render=render_source,
    example={"url": "https://example.com/jobs/1", "content_type": "job_posting"},
)
