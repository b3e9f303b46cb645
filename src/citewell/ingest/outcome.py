"""What became of a URL that was to be stored, and when the stored page will do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.web.urls import is_file_url

if TYPE_CHECKING:
    from citewell.core.errors import CitewellError
    from citewell.core.records import ExtractedPage, FetchedPage, PageInfo

# Some are fetched, some read and one is written at a time: with 4 the cores were idle for a third
# of the Python docs (21 pages/s), with 8 they are not (31), and 12 bring no more.
PARALLEL_PAGES = 8


@frozen
class IngestOutcome:
    """What became of one URL.

    `error` without `page`: it could not be read. `error` with `page`: an older copy was kept.
    """

    url: str
    page: PageInfo | None
    changed: bool = False
    error: CitewellError | None = None
    read: tuple[FetchedPage, ExtractedPage] | None = None
    """What was read of it just now; None where the stored page is as good as new."""
    chunks_removed: int = 0
    chunks_added: int = 0

    @property
    def bytes_read(self) -> int:
        """How many bytes the site sent for it just now."""
        return 0 if self.read is None else len(self.read[0].body)


def is_stale(page: PageInfo, *, after_days: float) -> bool:
    """Return whether the page was fetched more than `after_days` ago."""
    return datetime.now(UTC) - page.fetched_at > timedelta(days=after_days)


def is_of_its_url(page: PageInfo) -> bool:
    """Return whether the text came from the page's URL; what a caller supplied for it did not."""
    return page.origin != "supplied" or is_file_url(page.url)


def has_labels(stored: PageInfo, tags: tuple[str, ...], content_type: str | None) -> bool:
    """Return whether the page has the tags, and the content type unless that is None."""
    has_type = content_type is None or stored.content_type == content_type
    return has_type and set(tags) <= set(stored.tags)
