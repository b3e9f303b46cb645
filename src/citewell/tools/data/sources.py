"""Websites and chunks as plain rows, for the `data_*` tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from citewell.core.boundary import SUPPLIED, enclose
from citewell.core.text import counted
from citewell.jobs.website_status import no_such_website
from citewell.tools.paging import fit_tokens
from citewell.tools.supplied import Supplied, SuppliedBy, is_supplied, render_supplied
from citewell.tools.tool import Call, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl
from citewell.tools.websites.arguments import (
    SourceId,
    Status,
    fetch_timestamp,
    shown_title,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.library import Website
    from citewell.core.records import StoredChunk

MAX_CHUNKS = 200
MAX_CHUNK_CHARACTERS = 8_000
MAX_LIMIT = 100
MAX_RESULT_TOKENS = 12_000


class SourceInput(ToolInput):
    """The argument of tools that read or delete a source."""

    source_id: SourceId


class SourceShape(ToolOutput):
    """A website source."""

    source_id: int
    url: PageUrl
    title: PageLabel
    content_type: OwnText
    language: OwnText | None = None
    processing_status: Status
    error_message: PageText | None = None
    fetch_timestamp: OwnText | None = None
    chunks_count: int
    supplied: Supplied = None
    supplied_by: SuppliedBy = None


class ChunkShape(ToolOutput):
    """A stored chunk: `content` is the page's text from `start` to `end`."""

    chunk_id: int
    source_id: int
    chunk_index: int
    content: PageText
    heading_path: list[PageLabel]
    start: int
    end: int
    tokens: int
    supplied: Supplied = None


Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT)]
Offset = Annotated[int, Field(ge=0)]


async def find_source(source_id: int, call: Call) -> Website:
    """Return a website of the caller's project.

    Raises:
        NotFound: there is no such website.
    """
    website = await call.parts.store.library.get_website(source_id, project=call.caller.project)
    if website is None:
        raise no_such_website(source_id)
    return website


def within_budget(chunks: Sequence[StoredChunk]) -> list[StoredChunk]:
    """Return the first chunks that fit MAX_RESULT_TOKENS together, and at least one."""
    return fit_tokens(chunks, (chunk.tokens for chunk in chunks), max_tokens=MAX_RESULT_TOKENS)


def shape_source(website: Website) -> SourceShape:
    """Return a website as a row."""
    return SourceShape(
        source_id=website.source_id,
        url=website.url,
        title=shown_title(website),
        content_type=website.content_type,
        language=website.language,
        processing_status=website.status,
        error_message=website.error_message,
        fetch_timestamp=fetch_timestamp(website),
        chunks_count=website.chunks,
        supplied=is_supplied(website.origin),
        supplied_by=website.supplied_by or None,
    )


def shape_chunk(chunk: StoredChunk) -> ChunkShape:
    """Return a chunk as a row."""
    return ChunkShape(
        chunk_id=chunk.chunk_id,
        source_id=chunk.source_id,
        chunk_index=chunk.ordinal,
        content=chunk.text,
        heading_path=list(chunk.heading_path),
        start=chunk.start,
        end=chunk.end,
        tokens=chunk.tokens,
        supplied=is_supplied(chunk.origin),
    )


def render_source(source: SourceShape, call: Call) -> str:
    """Return a source on one line."""
    error = f", error: {source.error_message}" if source.error_message else ""
    error += f", {render_supplied(source.supplied_by)}" if source.supplied else ""
    page = enclose(f"{source.title} — {source.url}")
    return (
        f"[{source.source_id}] {page} ({source.processing_status}, "
        f"{source.content_type}, {counted(source.chunks_count, 'chunk')}{error})"
    )


def render_chunks(chunks: Sequence[ChunkShape]) -> str:
    """Return each chunk with its id and its text."""
    lines: list[str] = []
    for chunk in chunks:
        path = enclose(" > ".join(chunk.heading_path)) if chunk.heading_path else "no heading"
        supplied = f", {SUPPLIED}" if chunk.supplied else ""
        lines.append(f"[{chunk.chunk_id}] chunk {chunk.chunk_index}, {path}{supplied}")
        lines.append(chunk.content)
    return "\n".join(lines)
