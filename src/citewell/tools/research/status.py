"""`status`: what is indexed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from pydantic import Field

from citewell.answer.corpus_status import ListedPage, format_corpus_status
from citewell.app.stored_pages import find_stored_page
from citewell.core.errors import NotFound
from citewell.core.records import PageInfo, SearchFilter
from citewell.core.storage import CorpusStats
from citewell.tools.registry import Annotations, Call, Tool, ToolInput, ToolOutput, as_is
from citewell.tools.research.arguments import Url
from citewell.tools.schemas import ROWS
from citewell.tools.untrusted import OwnText, PageLabel, PageUrl

# About 1,500 tokens; a whole library would not be read.
MAX_LISTED_PAGES = 30


class StatusInput(ToolInput):
    """Arguments of `status`."""

    source_url: Annotated[Url | None, Field(description="Report on this URL only.")] = None
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
    fetched_at: OwnText
    is_stale: bool | None = None


class StatusOutput(ToolOutput):
    """How much is indexed, and what."""

    documents: int
    chunks: int
    tokens: int
    embedded_chunks: int
    pages: Annotated[list[PageShape] | None, ROWS] = None
    next_cursor: int | None = None


async def run(given: StatusInput, call: Call) -> StatusOutput:
    """Count what the caller's project holds and list it, a screen at a time."""
    if given.source_url is not None:
        return await _page_status(given.source_url, call)
    where = SearchFilter(project=call.caller.project)
    stats = await call.parts.store.corpus_stats(where)
    if not given.include_urls:
        return _shape(stats)
    # One more than is shown tells whether there are more.
    pages = await call.parts.store.list_pages(
        where, limit=MAX_LISTED_PAGES + 1, after_source_id=given.cursor or 0
    )
    listed = [_shape_page(page, call) for page in pages[:MAX_LISTED_PAGES]]
    goes_on = len(pages) > len(listed)
    return _shape(stats, listed, next_cursor=listed[-1].source_id if goes_on else None)


async def _page_status(url: str, call: Call) -> StatusOutput:
    page = await find_stored_page(call.parts.store, url, project=call.caller.project)
    if page is None:
        raise NotFound(f"{url} is not indexed.", suggestion="Call answer or ingest with this URL.")
    stats = CorpusStats(
        pages=1, chunks=page.chunks, tokens=page.tokens, embedded_chunks=page.embedded_chunks
    )
    return _shape(stats, [_shape_page(page, call)])


def _shape_page(page: PageInfo, call: Call) -> PageShape:
    limit = timedelta(days=call.settings.page_stale_days)
    return PageShape(
        source_id=page.source_id,
        title=page.title,
        url=page.url,
        chunks=page.chunks,
        tokens=page.tokens,
        embedded_chunks=page.embedded_chunks,
        language=page.language,
        fetched_at=page.fetched_at.isoformat(timespec="seconds"),
        is_stale=datetime.now(UTC) - page.fetched_at > limit or None,
    )


def _shape(
    stats: CorpusStats, pages: list[PageShape] | None = None, *, next_cursor: int | None = None
) -> StatusOutput:
    return StatusOutput(
        documents=stats.pages,
        chunks=stats.chunks,
        tokens=stats.tokens,
        embedded_chunks=stats.embedded_chunks,
        pages=pages,
        next_cursor=next_cursor,
    )


def render(output: StatusOutput, call: Call) -> str:
    """Return the status as a model reads it."""
    pages = None
    if output.pages is not None:
        pages = [
            ListedPage(
                title=page.title,
                url=page.url,
                chunks=page.chunks,
                tokens=page.tokens,
                fetched_at=datetime.fromisoformat(page.fetched_at),
                is_stale=bool(page.is_stale),
            )
            for page in output.pages
        ]
    return format_corpus_status(
        documents=output.documents,
        chunks=output.chunks,
        tokens=output.tokens,
        waiting=output.chunks - output.embedded_chunks,
        pages=pages,
        next_cursor=output.next_cursor,
    )


TOOL = Tool(
    name="status",
    toolset="research",
    title="What is indexed",
    description=(
        "Check what is indexed: counts, URLs with titles and fetch times.\n"
        "Use when choosing between answer (fetches new pages) and search (indexed pages only).\n"
        "Do not use when you look for content: call search.\n"
        f"Returns at most {MAX_LISTED_PAGES} URLs.\n"
        "If you need more, call status with next_cursor as cursor, or source_url.\n"
        f"Defaults: include_urls true. Max: {MAX_LISTED_PAGES} URLs."
    ),
    input_model=StatusInput,
    output_model=StatusOutput,
    annotations=Annotations(read_only=True),
    needs=("store",),
    run=run,
    shape=as_is,
    render=render,
    example={"include_urls": True},
)
