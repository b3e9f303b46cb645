"""Making a page that was read a member of the website it was read for."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from anyio import to_thread

from citewell.core.errors import NotFound
from citewell.core.frozen import frozen
from citewell.core.library import Fields
from citewell.core.records import ExtractedPage, FetchedPage

if TYPE_CHECKING:
    from citewell.core.library import Website
    from citewell.core.records import PageInfo
    from citewell.ingest.pipeline import Ingester
    from citewell.store.protocol import Store
    from citewell.web.fetcher import Fetcher

ReadFields = Callable[[FetchedPage, ExtractedPage, str], Fields]
"""What a content type finds in a page; CPU only."""

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time by the machine's clock, which may jump."""
    return datetime.now(UTC)


@frozen
class LibraryParts:
    """What reading pages for the library takes."""

    store: Store
    ingester: Ingester
    fetcher: Fetcher
    clock: Clock = utc_now
    extract_fields: ReadFields | None = None


async def join_read_page(
    parts: LibraryParts,
    website: Website,
    page: PageInfo,
    *,
    read: tuple[FetchedPage, ExtractedPage] | None = None,
) -> None:
    """Make `page` a member of `website`, with the fields of what was read of it just now.

    Raises:
        NotFound: the website was deleted meanwhile; the page is gone as well, then.
    """
    fields = None
    if read is not None and parts.extract_fields is not None and website.content_type != "general":
        fields = await to_thread.run_sync(parts.extract_fields, *read, website.content_type)
    library = parts.store.library
    if await library.join_page(website.source_id, page.source_id, fields=fields):
        return
    # Stored for an entry that somebody deleted at the same time: it must not come back.
    held = await library.get_website(page.source_id, project=page.project)
    if held is not None and not held.is_entry:
        await library.delete_website(page.source_id, project=page.project)
    raise NotFound(f"{website.url} was deleted meanwhile")
