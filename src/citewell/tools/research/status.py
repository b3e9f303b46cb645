"""`status`: what is indexed."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.answer.corpus_status import format_corpus_status
from citewell.core.errors import NotFound
from citewell.core.records import CorpusStats, PageInfo, SearchFilter
from citewell.tools.registry import Annotations, Call, Tool, ToolInput, ToolOutput, as_is
from citewell.tools.research.arguments import Url
from citewell.tools.schemas import ROWS

MAX_LISTED_PAGES = 200


class StatusInput(ToolInput):
    """Arguments of `status`."""

    source_url: Annotated[Url | None, Field(description="Report on this URL only.")] = None
    include_urls: Annotated[bool, Field(description="List the indexed URLs.")] = True


class PageShape(ToolOutput):
    """One indexed page."""

    source_id: int
    title: str
    url: str
    chunks: int
    tokens: int
    embedded_chunks: int
    language: str
    fetched_at: str


class StatusOutput(ToolOutput):
    """How much is indexed, and what."""

    documents: int
    chunks: int
    tokens: int
    embedded_chunks: int
    pages: Annotated[list[PageShape] | None, ROWS] = None
    unlisted_pages: int | None = None


async def run(given: StatusInput, call: Call) -> StatusOutput:
    """Count and list what the caller's project holds."""
    if given.source_url is not None:
        return await _page_status(given.source_url, call)
    where = SearchFilter(project=call.caller.project)
    stats = await call.services.store.corpus_stats(where)
    if not given.include_urls:
        return _shape(stats, None)
    pages = await call.services.store.list_pages(where, limit=MAX_LISTED_PAGES)
    return _shape(stats, pages)


async def _page_status(url: str, call: Call) -> StatusOutput:
    page = await call.services.ingester.find_page(url, project=call.caller.project)
    if page is None:
        raise NotFound(f"{url} is not indexed.", suggestion="Call answer or ingest with this URL.")
    stats = CorpusStats(
        pages=1, chunks=page.chunks, tokens=page.tokens, embedded_chunks=page.embedded_chunks
    )
    return _shape(stats, [page])


def _shape(stats: CorpusStats, pages: list[PageInfo] | None) -> StatusOutput:
    listed = [
        PageShape(
            source_id=page.source_id,
            title=page.title,
            url=page.url,
            chunks=page.chunks,
            tokens=page.tokens,
            embedded_chunks=page.embedded_chunks,
            language=page.language,
            fetched_at=page.fetched_at.isoformat(timespec="seconds"),
        )
        for page in pages or ()
    ]
    return StatusOutput(
        documents=stats.pages,
        chunks=stats.chunks,
        tokens=stats.tokens,
        embedded_chunks=stats.embedded_chunks,
        pages=None if pages is None else listed,
        unlisted_pages=None if pages is None else stats.pages - len(listed) or None,
    )


def render(output: StatusOutput, call: Call) -> str:
    """Return the status as a model reads it."""
    rows = [
        (page.title, page.url, page.chunks, page.tokens, page.fetched_at)
        for page in output.pages or ()
    ]
    return format_corpus_status(
        documents=output.documents,
        chunks=output.chunks,
        tokens=output.tokens,
        waiting=output.chunks - output.embedded_chunks,
        pages=None if output.pages is None else rows,
        unlisted=output.unlisted_pages or 0,
    )


TOOL = Tool(
    name="status",
    toolset="research",
    title="What is indexed",
    description=(
        "Check what is indexed: document count, tokens, URLs with titles and fetch times.\n"
        "Use when choosing between answer (fetches new pages) and search (indexed pages only).\n"
        "Do not use when you look for content: call search.\n"
        f"Returns at most {MAX_LISTED_PAGES} URLs.\n"
        "If you need more, call status with source_url, then search or answer.\n"
        f"Defaults: include_urls true. Max: {MAX_LISTED_PAGES} URLs."
    ),
    input_model=StatusInput,
    output_model=StatusOutput,
    annotations=Annotations(read_only=True),
    run=run,
    shape=as_is,
    render=render,
    example={"include_urls": True},
)
