"""`status`: what is indexed."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, Field

from citewell.answer.corpus_status import CorpusStatus, format_corpus_status
from citewell.app.corpus_status import (
    MAX_LISTED_PAGES,
    STATUS_NEEDS,
    corpus_status,
    page_status,
    status_json,
)
from citewell.tools.research.arguments import Url
from citewell.tools.schemas import ROWS
from citewell.tools.supplied import SuppliedAt, SuppliedBy
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl


class StatusInput(ToolInput):
    """Arguments of `status`."""

    source_url: Annotated[
        Url | None,
        Field(
            validation_alias=AliasChoices("source_url", "url"),
            description="Report on this page or site only.",
        ),
    ] = None
    include_urls: Annotated[bool, Field(description="List the indexed URLs.")] = True
    cursor: int | None = None


class PageShape(ToolOutput):
    """One indexed page."""

    source_id: int
    title: PageLabel
    url: PageUrl
    chunks: int
    tokens: int
    embedded_chunks: int
    language: OwnText
    fetched_at: OwnText | None = None
    supplied_at: SuppliedAt = None
    supplied_by: SuppliedBy = None
    origin: OwnText | None = None
    is_stale: bool | None = None


class SiteShape(ToolOutput):
    """A whole site and its progress."""

    source_id: int
    url: PageUrl
    status: OwnText
    pages: int
    message: PageText


class StatusOutput(ToolOutput):
    """What is indexed."""

    documents: int
    chunks: int
    tokens: int
    embedded_chunks: int
    pages: Annotated[list[PageShape] | None, ROWS] = None
    next_cursor: int | None = None
    sites: Annotated[list[SiteShape] | None, ROWS] = None
    """Sites that are being indexed; for one URL, the site that starts there."""
    note: OwnText | None = None
    citations: dict[OwnText, int] | None = None
    """Number of quotes handed out to the caller, by their current verdict."""


async def run(arguments: StatusInput, call: Call) -> CorpusStatus:
    """Return what the caller's project contains, one list of pages at a time."""
    project = call.caller.project
    if arguments.source_url is not None:
        return await page_status(call.parts, arguments.source_url, project=project)
    return await corpus_status(
        call.parts,
        project=project,
        owner=call.caller.owner,
        lists_pages=arguments.include_urls,
        offset=arguments.cursor or 0,
    )


def shape(status: CorpusStatus, call: Call) -> StatusOutput:
    """Return the status as structured content."""
    return StatusOutput.model_validate(status_json(status))


def render(status: CorpusStatus, call: Call) -> str:
    """Return the status as a model reads it."""
    return format_corpus_status(status)


TOOL = Tool(
    name="status",
    toolset="research",
    title="What is indexed",
    description=f"""
        List what the library holds: counts, URLs with titles and fetch times, and how far the
            indexing of whole sites is.
        Use when you need to know whether something is indexed, how old it is, or if it is done.
        Do not use when you look for content: call search.
        Returns at most {MAX_LISTED_PAGES} URLs.
        If you need more, call status with next_cursor as cursor, or source_url.
        Defaults: include_urls true. Max: {MAX_LISTED_PAGES} URLs.
    """,
    needs=STATUS_NEEDS,
    run=run,
    shape=shape,
    render=render,
    in_default=True,
    example={"include_urls": True},
)
