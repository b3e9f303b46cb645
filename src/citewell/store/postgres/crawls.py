"""The CrawlStore on PostgreSQL."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from citewell.core.library import Crawl, CrawlUrl
from citewell.store.library_json import change_from_json, change_to_json
from citewell.store.postgres.connection import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import AsyncConnection

    from citewell.core.library import CrawlOutcome, CrawlState, PageChange
    from citewell.store.postgres.connection import Database

    Session = AsyncConnection[dict[str, Any]]


class PostgresCrawls:
    """Crawls in one PostgreSQL database; see CrawlStore for what each method promises."""

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
        return bool(await self._database.query("is_crawl_url_known", values))

    async def retry_aliases(self, website_id: int) -> int:
        """Let aliases whose canonical URL was not read wait again, to be read themselves."""
        return await self._database.change("retry_aliases", {"website_id": website_id})

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


async def _start_crawl(
    connection: Session, website_id: int, *, crawl: Crawl, urls: Sequence[CrawlUrl]
) -> bool:
    before = await _get_crawl(connection, website_id)
    if before is not None and before.job_id == crawl.job_id:
        return False
    await connection.execute(SQL["remove_crawl"], {"website_id": website_id})
    values = {
        "website_id": website_id,
        "job_id": crawl.job_id,
        "discovery": crawl.discovery,
        "started_at": crawl.started_at,
    }
    if (await connection.execute(SQL["start_crawl"], values)).rowcount == 0:
        return False
    await _add_urls(connection, website_id, urls)
    return True


async def _add_urls(connection: Session, website_id: int, urls: Sequence[CrawlUrl]) -> None:
    added = [
        {
            "website_id": website_id,
            "url": at.url,
            "depth": at.depth,
            "modified_at": at.modified_at,
            "ignore_canonical": at.ignore_canonical,
        }
        for at in urls
    ]
    async with connection.cursor() as cursor:
        await cursor.executemany(SQL["add_crawl_url"], added)


async def _get_crawl(connection: Session, website_id: int) -> Crawl | None:
    row = await (await connection.execute(SQL["get_crawl"], {"website_id": website_id})).fetchone()
    if row is None:
        return None
    return Crawl(
        job_id=row["job_id"],
        discovery=row["discovery"],
        started_at=row["started_at"],
    )


async def _next_urls(connection: Session, website_id: int, *, limit: int) -> list[CrawlUrl]:
    values = {"website_id": website_id, "limit": limit}
    return [
        CrawlUrl(
            url=row["url"],
            depth=row["depth"],
            modified_at=row["modified_at"],
            ignore_canonical=row["ignore_canonical"],
        )
        async for row in await connection.execute(SQL["next_crawl_urls"], values)
    ]


async def _note_outcome(connection: Session, website_id: int, *, outcome: CrawlOutcome) -> None:
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
    if (await connection.execute(SQL["note_crawl_outcome"], values)).rowcount > 0:
        await _add_urls(connection, website_id, outcome.links)


async def _count_urls(connection: Session, website_id: int) -> dict[CrawlState, int]:
    found = await connection.execute(SQL["count_crawl_urls"], {"website_id": website_id})
    return {row["state"]: row["urls"] async for row in found}


async def _first_errors(
    connection: Session, website_id: int, *, limit: int
) -> list[tuple[str, str]]:
    values = {"website_id": website_id, "limit": limit}
    found = await connection.execute(SQL["first_crawl_errors"], values)
    return [(row["url"], row["error"] or "") async for row in found]


async def _list_changes(connection: Session, website_id: int, *, limit: int) -> list[PageChange]:
    values = {"website_id": website_id, "limit": limit}
    found = await connection.execute(SQL["crawl_changes"], values)
    return [change_from_json(row["change"]) async for row in found]


async def _sum_chunks(connection: Session, website_id: int) -> tuple[int, int]:
    key = {"website_id": website_id}
    row = await (await connection.execute(SQL["sum_crawl_chunks"], key)).fetchone()
    assert row is not None, "an aggregate has a row"
    return row["removed"], row["added"]
