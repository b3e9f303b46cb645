"""Fetched pages made from text, for tests of extraction and chunking."""

from __future__ import annotations

from datetime import UTC, datetime

from citewell.core.records import ExtractedPage, FetchedPage, PageKind
from citewell.ingest.extract.extract import extract_page

PAGE_URL = "https://example.org/docs/page.html"


def fetched(source: str | bytes, kind: PageKind = "html", *, url: str = PAGE_URL) -> FetchedPage:
    body = source if isinstance(source, bytes) else source.encode("utf-8", "replace")
    return FetchedPage(
        url=url,
        final_url=url,
        status=200,
        kind=kind,
        body=body,
        text="" if isinstance(source, bytes) else source,
        fetched_at=datetime(2025, 1, 1, tzinfo=UTC),
    )


def extracted(
    source: str | bytes, kind: PageKind = "html", *, url: str = PAGE_URL
) -> ExtractedPage:
    return extract_page(fetched(source, kind, url=url))


def body(html: str) -> str:
    """The canonical text of a documentation page with this content."""
    return extracted(f'<div role="main" class="body">{html}</div>').text
