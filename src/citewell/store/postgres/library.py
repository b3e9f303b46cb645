"""The LibraryStore on PostgreSQL."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from citewell.core.library import CrawlOptions, Member, RemovedWebsite, Website, WebsiteList
from citewell.store.field_filter import have_values
from citewell.store.library_json import (
    fields_from_json,
    fields_to_json,
    options_from_json,
    options_to_json,
    report_from_json,
    report_to_json,
)
from citewell.store.postgres.connection import SQL
from citewell.store.postgres.pages import delete_page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psycopg import AsyncConnection

    from citewell.core.library import (
        ChangeReport,
        Fields,
        WebsiteDraft,
        WebsiteKind,
        WebsiteQuery,
        WebsiteStatus,
    )
    from citewell.store.postgres.connection import Database

    Session = AsyncConnection[dict[str, Any]]


class PostgresLibrary:
    """The library in one PostgreSQL database; LibraryStore says what each method promises."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_website(self, draft: WebsiteDraft, *, now: datetime) -> tuple[Website, bool]:
        """Return the entry of the draft's URL, and whether it was made just now."""
        return await self._database.write(partial(_add_website, draft=draft, now=now))

    async def get_website(self, source_id: int, *, project: str) -> Website | None:
        """Return the entry, or a stored page without one as if it were."""
        return await self._database.read(
            partial(_get_website, source_id=source_id, project=project)
        )

    async def find_website(self, url: str, *, project: str) -> Website | None:
        """Return the entry of a canonical URL, or the page stored under it as if it were one."""
        return await self._database.read(partial(_find_website, url=url, project=project))

    async def list_websites(self, query: WebsiteQuery) -> WebsiteList:
        """Return one screen of entries in the order asked, and the total."""
        return await self._database.read(partial(_list_websites, query=query))

    async def update_website(
        self,
        source_id: int,
        *,
        now: datetime,
        kind: WebsiteKind | None = None,
        content_type: str | None = None,
        options: CrawlOptions | None = None,
        tags: Sequence[str] | None = None,
    ) -> bool:
        """Change what is not None; return whether there is such an entry."""
        values = {
            "source_id": source_id,
            "kind": kind,
            "content_type": content_type,
            "options": None if options is None else options_to_json(options),
            "tags": None if tags is None else list(tags),
            "now": now,
        }
        return await self._database.change("update_website", values) > 0

    async def schedule_refresh(
        self, source_id: int, *, every_seconds: float | None, now: datetime
    ) -> bool:
        """Refresh the entry every so often, or never (None)."""
        values = {
            "source_id": source_id,
            "every_seconds": every_seconds,
            "due_at": _later(now, every_seconds),
            "now": now,
        }
        return await self._database.change("schedule_refresh", values) > 0

    async def due_refreshes(self, *, now: datetime, limit: int) -> list[Website]:
        """Return the entries whose refresh is due, longest first, and count anew for each."""
        return await self._database.write(partial(_due_refreshes, now=now, limit=limit))

    async def set_status(
        self,
        source_id: int,
        status: WebsiteStatus,
        *,
        now: datetime,
        error_message: str | None = None,
    ) -> bool:
        """Set status and message; return whether there is such an entry."""
        values = {
            "source_id": source_id,
            "status": status,
            "error_message": error_message,
            "now": now,
        }
        return await self._database.change("set_website_status", values) > 0

    async def finish_website(
        self,
        source_id: int,
        status: WebsiteStatus,
        *,
        now: datetime,
        title: str | None = None,
        error_message: str | None = None,
        change: ChangeReport | None = None,
    ) -> bool:
        """Note the end of processing or refreshing; return whether there is such an entry."""
        values = {
            "source_id": source_id,
            "status": status,
            "title": title,
            "error_message": error_message,
            "change": None if change is None else report_to_json(change),
            "now": now,
        }
        return await self._database.change("finish_website", values) > 0

    async def join_page(
        self, website_id: int, source_id: int, *, fields: Fields | None = None
    ) -> bool:
        """Make a page a member; return whether entry and page are there."""
        values = {
            "website_id": website_id,
            "source_id": source_id,
            "fields": None if fields is None else fields_to_json(fields),
        }
        return await self._database.change("join_page", values) > 0

    async def leave_page(self, website_id: int, source_id: int) -> bool:
        """Take a page out of the entry, and delete it unless another entry holds it."""
        return await self._database.write(
            partial(_leave_page, website_id=website_id, source_id=source_id)
        )

    async def list_members(
        self, website_id: int, *, limit: int, after_source_id: int = 0
    ) -> list[Member]:
        """Return the pages of an entry by rising source_id."""
        values = {"website_id": website_id, "limit": limit, "after_source_id": after_source_id}
        return [_member(row) for row in await self._database.query("list_members", values)]

    async def find_member_by_text(self, website_id: int, text_hash: str) -> Member | None:
        """Return the first page of the entry whose text has this hash."""
        values = {"website_id": website_id, "text_hash": text_hash}
        found = await self._database.query("find_member_by_text", values)
        return _member(found[0]) if found else None

    async def pages_of(self, source_ids: Sequence[int], *, project: str) -> list[int]:
        """Return the pages of these entries, and those of the ids that are pages, each once."""
        values = {"source_ids": [*source_ids], "project": project}
        return [row["source_id"] for row in await self._database.query("pages_of", values)]

    async def fields_of(self, source_ids: Sequence[int]) -> dict[int, Fields]:
        """Return what content types found in these pages; pages without any are left out."""
        found = await self._database.query("fields_of", {"source_ids": [*source_ids]})
        return {row["source_id"]: fields_from_json(row["fields"]) for row in found}

    async def pages_with_fields(self, wanted: Mapping[str, str], *, project: str) -> list[int]:
        """Return the pages that have, for each name, a value holding the text, in any case."""
        found = await self._database.query("pages_with_fields", {"project": project})
        matching = (
            row["source_id"]
            for row in found
            if have_values(fields_from_json(row["fields"]), wanted)
        )
        return list(dict.fromkeys(matching))

    async def delete_website(self, source_id: int, *, project: str) -> RemovedWebsite | None:
        """Remove an entry with its crawl and unfinished jobs, and pages no other entry holds."""
        return await self._database.write(
            partial(_delete_website, source_id=source_id, project=project)
        )


async def _reserve_number(connection: Session, draft: WebsiteDraft) -> int:
    given = {"source_id": draft.source_id}
    if draft.source_id is not None:
        free = await (await connection.execute(SQL["is_free_number"], given)).fetchone()
        if free is not None and free["is_free"]:
            await connection.execute(SQL["pass_page_number"], given)
            return draft.source_id
    drawn = await (await connection.execute(SQL["reserve_page_number"])).fetchone()
    assert drawn is not None, "a sequence has a next number"
    return int(drawn["source_id"])


async def _add_website(
    connection: Session, draft: WebsiteDraft, *, now: datetime
) -> tuple[Website, bool]:
    key = {"project": draft.project, "url": draft.url}
    page = await (await connection.execute(SQL["find_page_as_website"], key)).fetchone()
    values = key | {
        "source_id": page["source_id"] if page else await _reserve_number(connection, draft),
        "kind": draft.kind,
        "content_type": draft.content_type,
        "tags": list(draft.tags),
        "options": options_to_json(draft.options),
        "refresh_seconds": draft.refresh_seconds,
        "refresh_due_at": _later(now, draft.refresh_seconds),
        "now": now,
    }
    added = await (await connection.execute(SQL["add_website"], values)).fetchone()
    if added is not None:
        # Joins the page that is there already; where there is none, nothing.
        source_id = added["source_id"]
        member = {"website_id": source_id, "source_id": source_id, "fields": None}
        await connection.execute(SQL["join_page"], member)
        return await _entry(connection, source_id), True
    known = await (await connection.execute(SQL["find_website"], key)).fetchone()
    assert known is not None, "what an insert ran into is there"
    website = await _entry(connection, known["source_id"])
    if draft.kind == "site" and website.kind == "page":
        site = {"source_id": website.source_id, "options": values["options"], "now": now}
        await connection.execute(SQL["make_site"], site)
        website = await _entry(connection, website.source_id)
    return website, False


async def _entries(
    connection: Session, source_ids: Sequence[int], *, project: str | None
) -> dict[int, Website]:
    values = {"source_ids": [*source_ids], "project": project}
    found = await connection.execute(SQL["get_website"], values)
    return {row["source_id"]: _website(row) async for row in found}


async def _entry(connection: Session, source_id: int) -> Website:
    return (await _entries(connection, [source_id], project=None))[source_id]


async def _get_website(connection: Session, source_id: int, *, project: str) -> Website | None:
    entry = (await _entries(connection, [source_id], project=project)).get(source_id)
    if entry is not None:
        return entry
    values = {"source_id": source_id, "project": project}
    page = await (await connection.execute(SQL["page_as_website"], values)).fetchone()
    return _page_as_website(page) if page is not None else None


async def _find_website(connection: Session, url: str, *, project: str) -> Website | None:
    key = {"project": project, "url": url}
    for name in ("look_up_website", "find_page_as_website"):
        found = await (await connection.execute(SQL[name], key)).fetchone()
        if found is not None:
            return await _get_website(connection, found["source_id"], project=project)
    return None


async def _list_websites(connection: Session, query: WebsiteQuery) -> WebsiteList:
    values = {
        "project": query.project,
        "content_type": query.content_type,
        "status": query.status,
        "order_by": query.order_by,
        "descending": query.descending,
        "limit": query.limit,
        "offset": query.offset,
    }
    found = await connection.execute(SQL["list_websites"], values)
    ids = [row["source_id"] for row in await found.fetchall()]
    entries = await _entries(connection, ids, project=query.project)
    total = await (await connection.execute(SQL["count_websites"], values)).fetchone()
    assert total is not None, "an aggregate has a row"
    return WebsiteList(websites=tuple(entries[at] for at in ids), total=total["total"])


async def _due_refreshes(connection: Session, *, now: datetime, limit: int) -> list[Website]:
    values = {"now": now, "tomorrow": now + timedelta(days=1), "limit": limit}
    found = await (await connection.execute(SQL["due_refreshes"], values)).fetchall()
    ids = [row["source_id"] for row in sorted(found, key=lambda row: row["due_at"])]
    entries = await _entries(connection, ids, project=None)
    return [entries[at] for at in ids]


async def _leave_page(connection: Session, website_id: int, *, source_id: int) -> bool:
    key = {"website_id": website_id, "source_id": source_id}
    if (await connection.execute(SQL["leave_page"], key)).rowcount == 0:
        return False
    return await _delete_unheld_page(connection, source_id)


async def _delete_unheld_page(connection: Session, source_id: int) -> bool:
    """Delete a page unless an entry holds it; return whether it was deleted."""
    held = await connection.execute(SQL["is_page_held"], {"source_id": source_id})
    return held.rowcount == 0 and await delete_page(connection, source_id)


async def _delete_website(
    connection: Session, source_id: int, *, project: str
) -> RemovedWebsite | None:
    website = await _get_website(connection, source_id, project=project)
    if website is None:
        return None
    await connection.execute(SQL["cancel_jobs_of"], {"project": project, "key": str(source_id)})
    members = await connection.execute(SQL["member_ids"], {"website_id": source_id})
    pages = [row["source_id"] async for row in members] if website.is_entry else [source_id]
    await connection.execute(SQL["delete_website"], {"source_id": source_id})
    removed = chunks = 0
    for page_id in pages:
        key = {"source_id": page_id, "project": project}
        size = await (await connection.execute(SQL["page_size"], key)).fetchone()
        if size is not None and await _delete_unheld_page(connection, page_id):
            removed += 1
            chunks += size["chunks"]
    return RemovedWebsite(source_id=source_id, url=website.url, pages=removed, chunks=chunks)


def _member(row: Mapping[str, Any]) -> Member:
    return Member(
        source_id=row["source_id"],
        url=row["url"],
        title=row["title"],
        language=row["language"],
        chunks=row["chunks"],
        fetched_at=row["fetched_at"],
        fields=fields_from_json(row["fields"]),
    )


def _website(row: Mapping[str, Any]) -> Website:
    is_page = row["kind"] == "page"
    return Website(
        source_id=row["source_id"],
        url=row["url"],
        project=row["project"],
        kind=row["kind"],
        content_type=row["content_type"],
        status=row["status"],
        error_message=row["error_message"],
        title=(row["own_title"] if is_page else None) or row["title"],
        language=(row["own_language"] if is_page else None) or row["language"],
        pages=row["pages"],
        chunks=row["chunks"],
        fetched_at=(row["own_fetched_at"] if is_page else None) or row["fetched_at"],
        fields=fields_from_json(row["fields"] or "{}"),
        tags=tuple(row["tags"]),
        options=options_from_json(row["options"]),
        refresh_seconds=row["refresh_seconds"],
        refresh_due_at=row["refresh_due_at"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        last_change=None if row["last_change"] is None else report_from_json(row["last_change"]),
    )


def _page_as_website(row: Mapping[str, Any]) -> Website:
    return Website(
        source_id=row["source_id"],
        url=row["url"],
        project=row["project"],
        kind="page",
        content_type=row["content_type"],
        status="completed",
        error_message=None,
        title=row["title"],
        language=row["language"],
        pages=1,
        chunks=row["chunks"],
        fetched_at=row["fetched_at"],
        fields={},
        tags=tuple(row["tags"]),
        options=CrawlOptions(),
        refresh_seconds=None,
        refresh_due_at=None,
        created_at=row["fetched_at"],
        updated_at=row["fetched_at"],
        last_change=None,
        is_entry=False,
    )


def _later(now: datetime, seconds: float | None) -> datetime | None:
    return None if seconds is None else now + timedelta(seconds=seconds)
