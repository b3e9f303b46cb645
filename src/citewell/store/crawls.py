"""The frontier of each site's crawl, so that a killed one goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.library import Crawl, CrawlUrl
from citewell.store.library_json import change_from_json, change_to_json
from citewell.store.rows import read_record, record_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.library import CrawlOutcome, CrawlState, PageChange
    from citewell.store.session import Database, Session


class CrawlStore:
    """The frontier of each site's crawl. Every method may raise StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def start_crawl(self, website_id: int, crawl: Crawl, urls: Sequence[CrawlUrl]) -> bool:
        """Start a crawl with these URLs, replacing the site's previous one.

        Nothing is done when the job's crawl has begun already; returns whether it began now, and
        False also when there is no such website.
        """
        values = record_values(crawl) | {"website_id": website_id}

        async def work(session: Session) -> bool:
            before = await session.fetch_one("get_crawl", {"website_id": website_id})
            if before is not None and before["job_id"] == crawl.job_id:
                return False
            await session.execute("remove_crawl", {"website_id": website_id})
            if await session.execute("start_crawl", values) == 0:
                return False
            await _add_urls(session, website_id, urls)
            return True

        return await self._database.transaction(work)

    async def add_urls(self, website_id: int, urls: Sequence[CrawlUrl]) -> None:
        """Let URLs wait that the crawl does not know yet."""

        async def work(session: Session) -> None:
            await _add_urls(session, website_id, urls)

        await self._database.transaction(work)

    async def get_crawl(self, website_id: int) -> Crawl | None:
        """Return the site's last crawl."""
        row = await self._database.fetch_one("get_crawl", {"website_id": website_id})
        return None if row is None else read_record(Crawl, row)

    async def next_urls(self, website_id: int, *, limit: int) -> list[CrawlUrl]:
        """Return URLs that wait, the shallowest first, then in the order they were found."""
        values = {"website_id": website_id, "limit": limit}
        return [
            read_record(CrawlUrl, row)
            for row in await self._database.fetch_all("next_crawl_urls", values)
        ]

    async def note_outcome(self, website_id: int, outcome: CrawlOutcome) -> None:
        """Note what became of a URL and add the links that are new, in one transaction."""
        change = None if outcome.change is None else change_to_json(outcome.change)
        values = record_values(outcome) | {"website_id": website_id, "change": change}
        del values["links"]

        async def work(session: Session) -> None:
            # Nothing is recorded when the crawl is gone; its links would have nowhere to go either.
            if await session.execute("note_crawl_outcome", values) > 0:
                await _add_urls(session, website_id, outcome.links)

        await self._database.transaction(work)

    async def is_known(self, website_id: int, url: str) -> bool:
        """Return whether the URL is in the frontier or was."""
        values = {"website_id": website_id, "url": url}
        return await self._database.fetch_one("is_crawl_url_known", values) is not None

    async def retry_aliases(self, website_id: int) -> int:
        """Requeue aliases whose canonical URL was not fetched, to be fetched themselves.

        Returns how many wait now.
        """
        return await self._database.execute("retry_aliases", {"website_id": website_id})

    async def retry_failed(self, website_id: int, *, job_id: int) -> int:
        """Requeue the URLs that failed, and let `job_id` go on with the crawl.

        Returns how many wait now; nothing is done when the job has begun already.
        """
        values = {"website_id": website_id, "job_id": job_id}

        async def work(session: Session) -> int:
            if await session.execute("hand_over_crawl", values) == 0:
                return 0
            return await session.execute("retry_failed_urls", {"website_id": website_id})

        return await self._database.transaction(work)

    async def count_urls(self, website_id: int) -> dict[CrawlState, int]:
        """Return how many URLs there are of each state that occurs."""
        rows = await self._database.fetch_all("count_crawl_urls", {"website_id": website_id})
        return {row["state"]: row["urls"] for row in rows}

    async def first_errors(self, website_id: int, *, limit: int) -> list[tuple[str, str]]:
        """Return (URL, why) of the first URLs that failed."""
        values = {"website_id": website_id, "limit": limit}
        rows = await self._database.fetch_all("first_crawl_errors", values)
        return [(row["url"], row["error"] or "") for row in rows]

    async def list_changes(self, website_id: int, *, limit: int) -> list[PageChange]:
        """Return what was noted as changed, in the order it was noted."""
        values = {"website_id": website_id, "limit": limit}
        rows = await self._database.fetch_all("crawl_changes", values)
        return [change_from_json(row["change"]) for row in rows]

    async def sum_chunks(self, website_id: int) -> tuple[int, int]:
        """Return how many chunks were removed and how many added."""
        row = await self._database.fetch_one("sum_crawl_chunks", {"website_id": website_id})
        assert row is not None, "an aggregate has a row"
        return row["removed"], row["added"]


async def _add_urls(session: Session, website_id: int, urls: Sequence[CrawlUrl]) -> None:
    rows = [record_values(waiting) | {"website_id": website_id} for waiting in urls]
    await session.execute_many("add_crawl_url", rows)
