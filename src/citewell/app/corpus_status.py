"""What is indexed, for the tool `status` and the command of the same name."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from citewell.answer.corpus_status import CorpusStatus, PageStatus
from citewell.core.errors import NotFound
from citewell.core.records import SearchFilter
from citewell.inference.names import missing_embedder_note

if TYPE_CHECKING:
    from citewell.app.parts import PartName, Parts
    from citewell.core.records import PageInfo

STATUS_NEEDS: tuple[PartName, ...] = ("store",)

MAX_LISTED_PAGES = 30
"""About 1,500 tokens; a whole library would not be read."""


async def corpus_status(
    parts: Parts, *, project: str, lists_pages: bool = True, after_source_id: int = 0
) -> CorpusStatus:
    """Return the counts of a project and, if asked for, its next pages."""
    where = SearchFilter(project=project)
    stats = await parts.store.corpus_stats(where)
    pages: list[PageInfo] = []
    if lists_pages:
        # One row more than is shown reveals whether there are more.
        pages = await parts.store.list_pages(
            where, limit=MAX_LISTED_PAGES + 1, after_source_id=after_source_id
        )
    listed = pages[:MAX_LISTED_PAGES]
    return CorpusStatus(
        documents=stats.pages,
        chunks=stats.chunks,
        tokens=stats.tokens,
        embedded_chunks=stats.embedded_chunks,
        pages=tuple(_page_status(page, parts) for page in listed) if lists_pages else None,
        next_cursor=listed[-1].source_id if len(pages) > len(listed) else None,
        note=missing_embedder_note(parts.settings.embedder),
    )


async def page_status(parts: Parts, url: str, *, project: str) -> CorpusStatus:
    """Return the status of one page.

    Raises:
        NotFound: it is not indexed.
    """
    # Its URL parser takes longer to import than the rest of a status.
    from citewell.app.stored_pages import find_stored_page

    page = await find_stored_page(parts.store, url, project=project)
    if page is None:
        raise NotFound(f"{url} is not indexed.", suggestion="Call answer or ingest with this URL.")
    return CorpusStatus(
        documents=1,
        chunks=page.chunks,
        tokens=page.tokens,
        embedded_chunks=page.embedded_chunks,
        pages=(_page_status(page, parts),),
        next_cursor=None,
    )


def _page_status(page: PageInfo, parts: Parts) -> PageStatus:
    limit = timedelta(days=parts.settings.page_stale_days)
    return PageStatus(
        source_id=page.source_id,
        title=page.title,
        url=page.url,
        chunks=page.chunks,
        tokens=page.tokens,
        embedded_chunks=page.embedded_chunks,
        language=page.language,
        fetched_at=page.fetched_at,
        # No call reads a file again, and supplied text never came from its URL.
        is_stale=page.origin == "fetched" and datetime.now(UTC) - page.fetched_at > limit,
        origin=page.origin,
        supplied_by=page.supplied_by,
    )


def status_json(status: CorpusStatus) -> dict[str, Any]:
    """Return the status as plain values; what does not apply is left out."""
    values = asdict(status)
    if status.pages is not None:
        values["pages"] = [_page_json(page) for page in status.pages]
    return {name: value for name, value in values.items() if value is not None}


def _page_json(page: PageStatus) -> dict[str, Any]:
    values = asdict(page)
    moment = "supplied_at" if page.origin == "supplied" else "fetched_at"
    values[moment] = values.pop("fetched_at").isoformat(timespec="seconds")
    if page.origin == "fetched":
        del values["origin"]
    if not page.is_stale:
        del values["is_stale"]
    if not page.supplied_by:
        del values["supplied_by"]
    return values
