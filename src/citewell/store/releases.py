"""Products and versions: those that pages document, and those that the user's folders use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.releases import Release
from citewell.store.rows import read_record, record_values
from citewell.store.session import read_datetime

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from citewell.store.library import DeletePage
    from citewell.store.session import Database, Row, Session


# What is kept of a page's earlier fetches; the newest is kept whatever its length.
KEPT_TEXTS = {"most_texts": 8, "most_characters": 1_000_000}


@frozen
class StoredRelease:
    """A release that pages document, and how many."""

    release: Release
    pages: int


@frozen
class UsedRelease:
    """A release that a synced folder uses."""

    release: Release
    folder: str


@frozen
class SiblingPage:
    """The same page in another version."""

    source_id: int
    url: str
    release: Release


@frozen
class EarlierText:
    """What a page said when it was fetched."""

    text: str
    fetched_at: datetime


class ReleaseStore:
    """Releases by project. Every method may raise StoreError."""

    def __init__(self, database: Database, *, delete_page: DeletePage) -> None:
        self._database = database
        self._delete_page = delete_page

    async def list_releases(self, project: str) -> list[StoredRelease]:
        """Return the releases that the project's pages document, by product and version."""
        rows = await self._database.fetch_all("list_releases", {"project": project})
        return [StoredRelease(release=_release(row), pages=row["pages"]) for row in rows]

    async def siblings_of_page(self, source_id: int) -> list[SiblingPage]:
        """Return the same page in the other versions that are stored."""
        rows = await self._database.fetch_all("siblings_of_page", {"source_id": source_id})
        return [read_record(SiblingPage, row, release=_release(row)) for row in rows]

    async def twins_of_chunks(self, chunk_ids: Sequence[int], *, model: str) -> dict[int, int]:
        """Return chunks of other versions of their page that read the same and have a vector."""
        values = {"chunk_ids": [*chunk_ids], "model": model}
        rows = await self._database.fetch_all("twins_of_chunks", values)
        return {row["chunk_id"]: row["twin_id"] for row in rows}

    async def earlier_fetches(self, source_id: int) -> list[datetime]:
        """Return when the page was fetched with the texts that it had before, newest first."""
        rows = await self._database.fetch_all("earlier_fetches", {"source_id": source_id})
        return [read_datetime(row["fetched_at"]) for row in rows]

    async def earlier_texts(self, source_id: int) -> list[EarlierText]:
        """Return the kept earlier texts of a page, newest first."""
        rows = await self._database.fetch_all("earlier_texts", {"source_id": source_id})
        return [read_record(EarlierText, row) for row in rows]

    async def drop_release(self, project: str, release: Release) -> int:
        """Delete all pages of a release, each in a transaction; return how many there were."""
        values = record_values(release) | {"project": project}
        rows = await self._database.fetch_all("pages_of_release", values)
        return sum([await self._delete_page(row["source_id"]) for row in rows])

    async def used_releases(self, project: str) -> list[UsedRelease]:
        """Return what the synced folders of a project use."""
        rows = await self._database.fetch_all("used_releases", {"project": project})
        return [UsedRelease(release=_release(row), folder=row["folder"]) for row in rows]

    async def put_used_releases(
        self, project: str, *, folder: str, releases: Sequence[Release]
    ) -> None:
        """Remember what a folder uses, instead of what it used before."""
        key = {"project": project, "folder": folder}
        rows = [key | record_values(release) for release in releases]

        async def work(session: Session) -> None:
            await session.execute("forget_used_releases", key)
            await session.execute_many("add_used_release", rows)

        await self._database.transaction(work)


def _release(row: Row) -> Release:
    return read_record(Release, row)
