"""The corpus status as text (seed A §5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.boundary import NOTE_PLACE, enclose, label, mark
from citewell.core.frozen import frozen
from citewell.core.text import counted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from citewell.core.records import PageOrigin

_DONE: Mapping[PageOrigin, str] = {
    "fetched": "fetched",
    "supplied": "supplied by a caller",
    "file": "read from a file",
}


@frozen
class PageStatus:
    """One indexed page."""

    source_id: int
    title: str
    url: str
    chunks: int
    tokens: int
    embedded_chunks: int
    language: str
    fetched_at: datetime
    """When its text was stored, for a page that was not fetched."""
    is_stale: bool
    origin: PageOrigin = "fetched"
    supplied_by: str = ""


@frozen
class SiteStatus:
    """A whole site of the library, and how far the work on it is."""

    source_id: int
    url: str
    status: str
    pages: int
    message: str


@frozen
class CorpusStatus:
    """How much is indexed, and which pages."""

    documents: int
    chunks: int
    tokens: int
    embedded_chunks: int
    pages: tuple[PageStatus, ...] | None
    """None when they were not asked for."""
    next_cursor: int | None
    sites: tuple[SiteStatus, ...] | None = None
    """Those being indexed; of one URL, the site that begins there."""
    note: str | None = None
    """What keeps searches from using vectors, and the command that changes it."""
    citations: Mapping[str, int] | None = None
    """How many quotes handed out to the caller still stand, by verdict."""


MORE_BY_TOOL = "ask with cursor {cursor} for the next, or with source_url for one of them."


def format_corpus_status(status: CorpusStatus, *, more: str = MORE_BY_TOOL) -> str:
    """Return counts and, unless `pages` is None, that part of the list of indexed URLs.

    `more` says how to see the rest of them.

    The words of pages are marked; a `Boundary` draws the brackets around them.
    """
    lines = [
        "[CORPUS STATUS]",
        f"Documents indexed: {status.documents}",
        f"Total chunks: {status.chunks:,}",
        f"Total tokens: {status.tokens:,}",
    ]
    waiting = status.chunks - status.embedded_chunks
    if status.note is not None:
        lines.append(status.note)
    elif waiting:
        lines.append(f"Chunks found by words only so far: {waiting:,}")
    if status.citations:
        verdicts = ", ".join(f"{count:,} {verdict}" for verdict, count in status.citations.items())
        lines.append(f"Citations handed out: {verdicts}")
    if status.sites:
        sites = "\n".join(_site_line(site) for site in status.sites)
        lines += ["", "Sites:", NOTE_PLACE, enclose(sites)]
    if status.pages is not None:
        listed = "\n".join(_page_line(page) for page in status.pages)
        shown = [NOTE_PLACE, enclose(listed)] if status.pages else ["(none)"]
        lines += ["", "Indexed URLs:", *shown]
        if status.next_cursor is not None:
            lines.append(f"… there are more: {more.format(cursor=status.next_cursor)}")
    return "\n".join(lines)


def _site_line(site: SiteStatus) -> str:
    return (
        f"- {site.status}: {mark(site.url)} ({counted(site.pages, 'page')}). {mark(site.message)}"
    )


def _page_line(page: PageStatus) -> str:
    when = page.fetched_at.strftime("%Y-%m-%d %H:%M UTC")
    stale = ", stale: answer or ingest fetches it again" if page.is_stale else ""
    who = f" ({mark(label(page.supplied_by))})" if page.supplied_by else ""
    done = f"{_DONE[page.origin]}{who} {when}{stale}"
    counts = f"{counted(page.chunks, 'chunk')}, {counted(page.tokens, 'token')}, {done}"
    title = mark(label(page.title)) or "Untitled"
    return f"- {title} — {mark(page.url)}\n  ({counts})"
