"""`rag_list_websites`: list the websites of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from citewell.app.websites import READ_NEEDS, list_websites
from citewell.core.boundary import NOTE_PLACE, enclose
from citewell.core.library import WebsiteQuery
from citewell.core.text import counted
from citewell.tools.supplied import Supplied, SuppliedBy, is_supplied, render_supplied
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl
from citewell.tools.websites.arguments import (
    ContentTypeFilter,
    Status,
    fetch_timestamp,
    shown_title,
)

if TYPE_CHECKING:
    from citewell.app.websites import WebsiteView

DEFAULT_LIMIT = 50
MAX_LIMIT = 100


class ListInput(ToolInput):
    """Arguments of `rag_list_websites`."""

    content_type: ContentTypeFilter = None
    status: Annotated[Status | None, Field(description="Only this status.")] = None
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT
    offset: Annotated[int, Field(ge=0)] = 0
    order_by: Literal["fetch_timestamp", "url", "status"] = "fetch_timestamp"
    order: Literal["ASC", "DESC"] = "DESC"


class WebsiteShape(ToolOutput):
    """One website of the library."""

    id: int
    url: PageUrl
    title: PageLabel
    content_type: OwnText
    language: OwnText | None
    fetch_timestamp: OwnText | None
    processing_status: Status
    chunks_count: int
    is_stale: bool
    error_message: PageText | None
    pages: int | None = None
    supplied: Supplied = None
    supplied_by: SuppliedBy = None


class ListOutput(ToolOutput):
    """One page of the list."""

    websites: list[WebsiteShape]
    total_count: int
    limit: int
    offset: int
    has_more: bool


async def run(arguments: ListInput, call: Call) -> ListOutput:
    """List the websites of the caller's project."""
    listed = await list_websites(
        call.parts,
        WebsiteQuery(
            project=call.caller.project,
            content_type=arguments.content_type,
            status=arguments.status,
            order_by=arguments.order_by,
            descending=arguments.order == "DESC",
            limit=arguments.limit,
            offset=arguments.offset,
        ),
    )
    return ListOutput(
        websites=[_shape(view) for view in listed.websites],
        total_count=listed.total,
        limit=arguments.limit,
        offset=arguments.offset,
        has_more=arguments.offset + len(listed.websites) < listed.total,
    )


def _shape(view: WebsiteView) -> WebsiteShape:
    website = view.website
    return WebsiteShape(
        id=website.source_id,
        url=website.url,
        title=shown_title(website),
        content_type=website.content_type,
        language=website.language,
        fetch_timestamp=fetch_timestamp(website),
        supplied=is_supplied(website.origin),
        supplied_by=website.supplied_by or None,
        processing_status=website.status,
        chunks_count=website.chunks,
        is_stale=view.is_stale,
        error_message=website.error_message,
        pages=website.pages if website.kind == "site" else None,
    )


def render(output: ListOutput, call: Call) -> str:
    """Return one line for each website."""
    if not output.websites:
        return f"No websites here ({output.total_count} in all). Add one: rag_process_website."
    last = output.offset + len(output.websites)
    lines: list[str] = []
    for website in output.websites:
        marks = [website.processing_status, website.content_type, website.language or "?"]
        marks += [f"{counted(website.pages, 'page')}"] if website.pages is not None else []
        marks += [counted(website.chunks_count, "chunk")]
        marks += [f"fetched {website.fetch_timestamp}"] if website.fetch_timestamp else []
        marks += [render_supplied(website.supplied_by)] if website.supplied else []
        marks += ["stale"] if website.is_stale else []
        lines.append(f"[{website.id}] {website.title} — {website.url} ({', '.join(marks)})")
        if website.error_message:
            lines.append(f"    error: {website.error_message}")
    listed = [f"Websites {output.offset + 1}–{last} of {output.total_count}:"]
    listed += [NOTE_PLACE, enclose("\n".join(lines))]
    if output.has_more:
        listed.append(f"More: call again with offset {last}.")
    return "\n".join(listed)


TOOL = Tool(
    name="rag_list_websites",
    toolset="websites",
    title="List processed websites",
    description=f"""
        List the websites of the library with status, age and size.
        Use when you need source_ids, or look for stale or failed websites.
        Do not use when you look for content: call rag_query_websites.
        Returns at most limit websites; is_stale marks those fetched over 30 days ago.
        If you need more, call again with a higher offset.
        Defaults: {DEFAULT_LIMIT}, latest first. Max: {MAX_LIMIT}.
    """,
    needs=READ_NEEDS,
    run=run,
    render=render,
    example={"content_type": "job_posting", "limit": 20},
    lists_columns=False,
)
