"""CrawlStore: what a database must promise of crawls, so that a killed one goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.library import (
        Crawl,
        CrawlOutcome,
        CrawlState,
        CrawlUrl,
        PageChange,
    )


class CrawlStore(Protocol):
    """The frontier of each site's crawl. Every method may raise StoreError."""

    async def start_crawl(self, website_id: int, crawl: Crawl, urls: Sequence[CrawlUrl]) -> bool:
        """Begin a crawl with these URLs, in place of the site's last one.

        Nothing is done when the job's crawl has begun already; returns whether it began now, and
        False also when there is no such website.
        """

    async def get_crawl(self, website_id: int) -> Crawl | None:
        """Return the site's last crawl."""

    async def next_urls(self, website_id: int, *, limit: int) -> list[CrawlUrl]:
        """Return URLs that wait, the shallowest first, then in the order they were found."""

    async def note_outcome(self, website_id: int, outcome: CrawlOutcome) -> None:
        """Note what became of a URL and add the links that are new, in one transaction."""

    async def is_known(self, website_id: int, url: str) -> bool:
        """Return whether the URL is in the frontier or was."""

    async def retry_aliases(self, website_id: int) -> int:
        """Let aliases whose canonical URL was not read wait again, to be read themselves.

        Returns how many wait now.
        """

    async def count_urls(self, website_id: int) -> dict[CrawlState, int]:
        """Return how many URLs there are of each state that occurs."""

    async def first_errors(self, website_id: int, *, limit: int) -> list[tuple[str, str]]:
        """Return (URL, why) of the first URLs that failed."""

    async def list_changes(self, website_id: int, *, limit: int) -> list[PageChange]:
        """Return what was noted as changed, in the order it was noted."""

    async def sum_chunks(self, website_id: int) -> tuple[int, int]:
        """Return how many chunks were removed and how many added."""
