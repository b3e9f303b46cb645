"""What goes into a store beside a page, and what the store reports about its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from datetime import datetime


@frozen
class PageResponse:
    """The response a page was made from, kept so that it can be extracted again without a fetch."""

    status: int
    final_url: str
    content_type: str
    """The Content-Type header as the site sent it."""
    headers: tuple[tuple[str, str], ...]
    body: bytes
    """After decompression; stored compressed."""
    fetched_at: datetime


@frozen
class PutResult:
    """What writing a page did."""

    source_id: int
    created: bool
    text_changed: bool
    chunks: int
    chunks_kept: int
    """Chunks whose words were there before; they kept their vectors."""


@frozen
class CorpusStats:
    """How much the store holds, under a filter."""

    pages: int
    chunks: int
    tokens: int
    embedded_chunks: int
    text_bytes: int = 0
