"""The CrawlStore on SQLite."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from citewell.core.library import Crawl, CrawlUrl
from citewell.store.library_json import change_from_json, change_to_json
from citewell.store.sqlite.connection import SQL, timestamp

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from citewell.core.library import CrawlOutcome, CrawlState, PageChange
    from citewell.store.sqlite.connection import Database


class SqliteCrawls:
    """Crawls in one SQLite database; see CrawlStore for what each method promises."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def start_crawl(self, website_id: int, crawl: Crawl, urls: Sequence[CrawlUrl]) -> bool:
        """Begin a crawl with these URLs, in place of the site's last one."""
        return await self._database.write(
            partial(_start_crawl, website_id=website_id, crawl=crawl, urls=urls)
        )

    async def get_crawl(self, website_id: int) -> Crawl | None:
        """Return the site's last crawl."""
        return await self._database.read(partial(_get_crawl, website_id=website_id))

    async def next_urls(self, website_id: int, *, limit: int) -> list[CrawlUrl]:
        """Return URLs that wait, the shallowest first, then in the order they were found."""
        return await self._database.read(partial(_next_urls, website_id=website_id, limit=limit))

    async def note_outcome(self, website_id: int, outcome: CrawlOutcome) -> None:
        """Note what became of a URL and add the links that are new, in one transaction."""
        await self._database.write(partial(_note_outcome, website_id=website_id, outcome=outcome))

    async def is_known(self, website_id: int, url: str) -> bool:
        """Return whether the URL is in the frontier or was."""
        values = {"website_id": website_id, "url": url}
        return await self._database.read(
            lambda connection: (
                connection.execute(SQL["is_crawl_url_known"], values).fetchone() is not None
            )
        )

    async def retry_aliases(self, website_id: int) -> int:
        """Let aliases whose canonical URL was not read wait again, to be read themselves."""
        values = {"website_id": website_id}
        return await self._database.write(
            lambda connection: connection.execute(SQL["retry_aliases"], values).rowcount
        )

    async def count_urls(self, website_id: int) -> dict[CrawlState, int]:
        """Return how many URLs there are of each state that occurs."""
        return await self._database.read(partial(_count_urls, website_id=website_id))

    async def first_errors(self, website_id: int, *, limit: int) -> list[tuple[str, str]]:
        """Return (URL, why) of the first URLs that failed."""
        return await self._database.read(partial(_first_errors, website_id=website_id, limit=limit))

    async def list_changes(self, website_id: int, *, limit: int) -> list[PageChange]:
        """Return what was noted as changed, in the order it was noted."""
        return await self._database.read(partial(_list_changes, website_id=website_id, limit=limit))

    async def sum_chunks(self, website_id: int) -> tuple[int, int]:
        """Return how many chunks were removed and how many added."""
        return await self._database.read(partial(_sum_chunks, website_id=website_id))


def _start_crawl(
    connection: sqlite3.Connection, website_id: int, *, crawl: Crawl, urls: Sequence[CrawlUrl]
) -> bool:
    before = _get_crawl(connection, website_id)
    if before is not None and before.job_id == crawl.job_id:
        return False
    connection.execute(SQL["remove_crawl"], {"website_id": website_id})
    values = {
        "website_id": website_id,
        "job_id": crawl.job_id,
        "discovery": crawl.discovery,
        "started_at": timestamp(crawl.started_at),
    }
    if connection.execute(SQL["start_crawl"], values).rowcount == 0:
        return False
    _add_urls(connection, website_id, urls)
    return True


def _add_urls(connection: sqlite3.Connection, website_id: int, urls: Sequence[CrawlUrl]) -> None:
    connection.executemany(
        SQL["add_crawl_url"],
        [
            {
                "website_id": website_id,
                "url": at.url,
                "depth": at.depth,
                "modified_at": at.modified_at,
                "ignore_canonical": int(at.ignore_canonical),
            }
            for at in urls
        ],
    )


def _get_crawl(connection: sqlite3.Connection, website_id: int) -> Crawl | None:
    row = connection.execute(SQL["get_crawl"], {"website_id": website_id}).fetchone()
    if row is None:
        return None
    return Crawl(
        job_id=row["job_id"],
        discovery=row["discovery"],
        started_at=datetime.fromisoformat(row["started_at"]),
    )


def _next_urls(connection: sqlite3.Connection, website_id: int, *, limit: int) -> list[CrawlUrl]:
    values = {"website_id": website_id, "limit": limit}
    return [
        CrawlUrl(
            url=row["url"],
            depth=row["depth"],
            modified_at=row["modified_at"],
            ignore_canonical=bool(row["ignore_canonical"]),
        )
        for row in connection.execute(SQL["next_crawl_urls"], values)
    ]


def _note_outcome(
    connection: sqlite3.Connection, website_id: int, *, outcome: CrawlOutcome
) -> None:
    values = {
        "website_id": website_id,
        "url": outcome.url,
        "state": outcome.state,
        "canonical_url": outcome.canonical_url,
        "error": outcome.error,
        "change": None if outcome.change is None else change_to_json(outcome.change),
        "chunks_removed": outcome.chunks_removed,
        "chunks_added": outcome.chunks_added,
    }
    # None is noted when the crawl is gone; its links would then have nowhere to go either.
    if connection.execute(SQL["note_crawl_outcome"], values).rowcount > 0:
        _add_urls(connection, website_id, outcome.links)


def _count_urls(connection: sqlite3.Connection, website_id: int) -> dict[CrawlState, int]:
    found = connection.execute(SQL["count_crawl_urls"], {"website_id": website_id})
    return {row["state"]: row["urls"] for row in found}


def _first_errors(
    connection: sqlite3.Connection, website_id: int, *, limit: int
) -> list[tuple[str, str]]:
    values = {"website_id": website_id, "limit": limit}
    found = connection.execute(SQL["first_crawl_errors"], values)
    return [(row["url"], row["error"] or "") for row in found]


def _list_changes(
    connection: sqlite3.Connection, website_id: int, *, limit: int
) -> list[PageChange]:
    values = {"website_id": website_id, "limit": limit}
    found = connection.execute(SQL["crawl_changes"], values)
    return [change_from_json(row["change"]) for row in found]


def _sum_chunks(connection: sqlite3.Connection, website_id: int) -> tuple[int, int]:
    row = connection.execute(SQL["sum_crawl_chunks"], {"website_id": website_id}).fetchone()
    return row["removed"], row["added"]
