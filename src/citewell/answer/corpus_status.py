"""The corpus status as text (seed A §5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.core.boundary import NOTE_PLACE, enclose

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedPage:
    """What the status tells of one page."""

    title: str
    url: str
    chunks: int
    tokens: int
    fetched_at: datetime
    is_stale: bool


def format_corpus_status(
    *,
    documents: int,
    chunks: int,
    tokens: int,
    waiting: int,
    pages: Sequence[ListedPage] | None,
    next_cursor: int | None,
) -> str:
    """Return counts and, unless `pages` is None, that part of the list of indexed URLs."""
    lines = [
        "[CORPUS STATUS]",
        f"Documents indexed: {documents}",
        f"Total chunks: {chunks:,}",
        f"Total tokens: {tokens:,}",
    ]
    if waiting:
        lines.append(f"Chunks found by words only so far: {waiting:,}")
    if pages is not None:
        listed = "\n".join(_page_line(page) for page in pages)
        lines += ["", "Indexed URLs:", *([NOTE_PLACE, enclose(listed)] if pages else ["(none)"])]
        if next_cursor is not None:
            lines.append(
                f"… there are more: ask with cursor {next_cursor} for the next, or with "
                "source_url for one of them."
            )
    return "\n".join(lines)


def _page_line(page: ListedPage) -> str:
    fetched = page.fetched_at.strftime("%Y-%m-%d %H:%M UTC")
    stale = ", stale: answer or ingest fetches it again" if page.is_stale else ""
    counts = f"{page.chunks:,} chunks, {page.tokens:,} tokens, fetched {fetched}{stale}"
    return f"- {page.title or 'Untitled'} — {page.url}\n  ({counts})"
