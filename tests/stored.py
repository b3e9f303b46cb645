"""Records as a store returns them, for tests that need no store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tests.drafts import FETCHED_AT

from citewell.core.records import PageInfo, StoredChunk
from citewell.core.storage import PageResponse


def stored_chunk(text: str, **changes: Any) -> StoredChunk:
    """Return the only chunk of an English page."""
    chunk = StoredChunk(
        chunk_id=1,
        source_id=1,
        url="https://example.org/",
        title="",
        page_hash="0123456789abcdef",
        fetched_at=FETCHED_AT,
        language="en",
        kind="html",
        content_type="general",
        ordinal=0,
        section=0,
        heading_path=(),
        anchor=None,
        start=0,
        end=len(text),
        text=text,
        tokens=len(text.split()),
        has_code=False,
    )
    return replace(chunk, **changes)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A chunk that a search returned, for rerankers."""

    chunk: StoredChunk
    word_score: float = 1.0
    vector_score: float | None = None
    fused_score: float = 0.05


def page_info(url: str, **changes: Any) -> PageInfo:
    """Return an English page of one chunk."""
    info = PageInfo(
        source_id=1,
        url=url,
        final_url=url,
        title="Page",
        kind="html",
        language="en",
        content_type="general",
        project="default",
        tags=(),
        text_hash="0123",
        chunks=1,
        tokens=10,
        embedded_chunks=0,
        fetched_at=FETCHED_AT,
        etag=None,
        last_modified=None,
        published_at=None,
        modified_at=None,
    )
    return replace(info, **changes)


def html_response(url: str, body: str) -> PageResponse:
    """Return the response that is kept beside a page."""
    return PageResponse(
        status=200,
        final_url=url,
        content_type="text/html",
        headers=(("content-type", "text/html"),),
        body=body.encode(),
        fetched_at=FETCHED_AT,
    )
