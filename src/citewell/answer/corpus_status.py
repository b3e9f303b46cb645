"""The corpus status as text (seed A §5.3)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from citewell.core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

PageRow = tuple[str, str, int, int, str]
"""Title, URL, chunks, tokens and the time of fetching in ISO form."""


def format_corpus_status(
    *,
    documents: int,
    chunks: int,
    tokens: int,
    waiting: int,
    pages: Sequence[PageRow] | None,
    unlisted: int,
) -> str:
    """Return counts and, unless `pages` is None, the list of indexed URLs."""
    lines = [
        "[CORPUS STATUS]",
        f"Documents indexed: {documents}",
        f"Total chunks: {chunks:,}",
        f"Total tokens: {tokens:,}",
    ]
    if waiting:
        lines.append(f"Chunks found by words only so far: {waiting:,}")
    if pages is not None:
        lines += ["", "Indexed URLs:", *(_page_line(page) for page in pages)]
        if not pages:
            lines.append("(none)")
        if unlisted:
            lines.append(f"… and {unlisted:,} more; ask with source_url for one of them.")
    return "\n".join(lines)


def _page_line(page: PageRow) -> str:
    title, url, chunks, tokens, fetched_at = page
    fetched = datetime.fromisoformat(fetched_at).strftime("%Y-%m-%d %H:%M UTC")
    counts = f"{chunks:,} chunks, {tokens:,} tokens, fetched {fetched}"
    return f"- {one_line(title) or 'Untitled'} — {url}\n  ({counts})"
