"""The LibraryStore on SQLite."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from citewell.core.library import RemovedWebsite, WebsiteList
from citewell.store.field_filter import have_values
from citewell.store.library_json import (
    fields_from_json,
    fields_to_json,
    options_to_json,
    report_to_json,
)
from citewell.store.sqlite.connection import SQL, timestamp
from citewell.store.sqlite.library_rows import member, page_as_website, website_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from citewell.core.library import (
        ChangeReport,
        CrawlOptions,
        Fields,
        Member,
        Website,
        WebsiteDraft,
        WebsiteKind,
        WebsiteQuery,
        WebsiteStatus,
    )
    from citewell.store.sqlite.connection import Database


class SqliteLibrary:
    """The library in one SQLite database; see LibraryStore for what each method promises."""

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
            "tags": None if tags is None else _json_list(tags),
            "now": timestamp(now),
        }
        return await self._change("update_website", values)

    async def schedule_refresh(
        self, source_id: int, *, every_seconds: float | None, now: datetime
    ) -> bool:
        """Refresh the entry every so often, or never (None)."""
        values = {
            "source_id": source_id,
            "every_seconds": every_seconds,
            "due_at": _later(now, every_seconds),
            "now": timestamp(now),
        }
        return await self._change("schedule_refresh", values)

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
            "now": timestamp(now),
        }
        return await self._change("set_website_status", values)

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
            "now": timestamp(now),
        }
        return await self._change("finish_website", values)

    async def join_page(
        self, website_id: int, source_id: int, *, fields: Fields | None = None
    ) -> bool:
        """Make a page a member; return whether entry and page are there."""
        values = {
            "website_id": website_id,
            "source_id": source_id,
            "fields": None if fields is None else fields_to_json(fields),
        }
        return await self._change("join_page", values)

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
        return await self._database.read(partial(_members, name="list_members", values=values))

    async def find_member_by_text(self, website_id: int, text_hash: str) -> Member | None:
        """Return the first page of the entry whose text has this hash."""
        values = {"website_id": website_id, "text_hash": text_hash}
        found = await self._database.read(
            partial(_members, name="find_member_by_text", values=values)
        )
        return found[0] if found else None

    async def pages_of(self, source_ids: Sequence[int], *, project: str) -> list[int]:
        """Return the pages of these entries, and those of the ids that are pages, each once."""
        return await self._database.read(partial(_pages_of, source_ids=source_ids, project=project))

    async def fields_of(self, source_ids: Sequence[int]) -> dict[int, Fields]:
        """Return what content types found in these pages; pages without any are left out."""
        values = {"source_ids": json.dumps([*source_ids])}
        found = await self._database.read(
            lambda connection: connection.execute(SQL["fields_of"], values).fetchall()
        )
        return {row["source_id"]: fields_from_json(row["fields"]) for row in found}

    async def pages_with_fields(self, wanted: Mapping[str, str], *, project: str) -> list[int]:
        """Return the pages that have, for each name, a value holding the text, in any case."""
        found = await self._database.read(
            lambda connection: connection.execute(
                SQL["pages_with_fields"], {"project": project}
            ).fetchall()
        )
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

    async def _change(self, name: str, values: Mapping[str, object]) -> bool:
        return await self._database.write(
            lambda connection: connection.execute(SQL[name], values).rowcount > 0
        )


def _add_website(
    connection: sqlite3.Connection, draft: WebsiteDraft, *, now: datetime
) -> tuple[Website, bool]:
    key = {"project": draft.project, "url": draft.url}
    known = connection.execute(SQL["find_website"], key).fetchone()
    if known is not None:
        website = _entry(connection, known["source_id"])
        if draft.kind == "site" and website.kind == "page":
            values = {
                "source_id": website.source_id,
                "options": options_to_json(draft.options),
                "now": timestamp(now),
            }
            connection.execute(SQL["make_site"], values)
            website = _entry(connection, website.source_id)
        return website, False
    page = connection.execute(SQL["find_page_as_website"], key).fetchone()
    source_id = page["source_id"] if page is not None else _reserve_number(connection, draft)
    values = key | {
        "source_id": source_id,
        "kind": draft.kind,
        "content_type": draft.content_type,
        "tags": _json_list(draft.tags),
        "options": options_to_json(draft.options),
        "refresh_seconds": draft.refresh_seconds,
        "refresh_due_at": _later(now, draft.refresh_seconds),
        "now": timestamp(now),
    }
    connection.execute(SQL["add_website"], values)
    # Joins the page that is there already; where there is none, nothing.
    member = {"website_id": source_id, "source_id": source_id, "fields": None}
    connection.execute(SQL["join_page"], member)
    return _entry(connection, source_id), True


def _reserve_number(connection: sqlite3.Connection, draft: WebsiteDraft) -> int:
    connection.execute(SQL["init_page_numbers"])
    if draft.source_id is not None:
        given = {"source_id": draft.source_id}
        if connection.execute(SQL["is_free_number"], given).fetchone()[0]:
            connection.execute(SQL["pass_page_number"], given)
            return draft.source_id
    return int(connection.execute(SQL["reserve_page_number"]).fetchone()[0])


def _entry(connection: sqlite3.Connection, source_id: int) -> Website:
    values = {"source_id": source_id, "project": None}
    return website_of(connection.execute(SQL["get_website"], values).fetchone())


def _get_website(connection: sqlite3.Connection, source_id: int, *, project: str) -> Website | None:
    values = {"source_id": source_id, "project": project}
    row = connection.execute(SQL["get_website"], values).fetchone()
    if row is not None:
        return website_of(row)
    page = connection.execute(SQL["page_as_website"], values).fetchone()
    return page_as_website(page) if page is not None else None


def _find_website(connection: sqlite3.Connection, url: str, *, project: str) -> Website | None:
    key = {"project": project, "url": url}
    for name in ("find_website", "find_page_as_website"):
        found = connection.execute(SQL[name], key).fetchone()
        if found is not None:
            return _get_website(connection, found["source_id"], project=project)
    return None


def _list_websites(connection: sqlite3.Connection, query: WebsiteQuery) -> WebsiteList:
    values = {
        "project": query.project,
        "content_type": query.content_type,
        "status": query.status,
        "limit": query.limit,
        "offset": query.offset,
    }
    direction = "descending" if query.descending else "ascending"
    chosen = connection.execute(SQL[f"websites_by_{query.order_by}_{direction}"], values)
    source_ids = json.dumps([row["source_id"] for row in chosen])
    found = connection.execute(SQL["websites_of"], {"source_ids": source_ids}).fetchall()
    total = connection.execute(SQL["count_websites"], values).fetchone()[0]
    return WebsiteList(websites=tuple(map(website_of, found)), total=total)


def _due_refreshes(connection: sqlite3.Connection, *, now: datetime, limit: int) -> list[Website]:
    tomorrow = timestamp(now + timedelta(days=1))
    values = {"now": timestamp(now), "tomorrow": tomorrow, "limit": limit}
    due = connection.execute(SQL["due_refreshes"], values).fetchall()
    for row in due:
        anew = {
            "source_id": row["source_id"],
            "due_at": _later(now, row["refresh_seconds"]),
            "now": timestamp(now),
        }
        connection.execute(SQL["count_refresh_anew"], anew)
    return [_entry(connection, row["source_id"]) for row in due]


def _leave_page(connection: sqlite3.Connection, website_id: int, *, source_id: int) -> bool:
    key = {"website_id": website_id, "source_id": source_id}
    if connection.execute(SQL["leave_page"], key).rowcount == 0:
        return False
    removed = connection.execute(SQL["delete_unheld_page"], {"source_id": source_id})
    return removed.rowcount > 0


def _members(
    connection: sqlite3.Connection, *, name: str, values: Mapping[str, object]
) -> list[Member]:
    return [member(row) for row in connection.execute(SQL[name], values)]


def _pages_of(
    connection: sqlite3.Connection, source_ids: Sequence[int], *, project: str
) -> list[int]:
    values = {"source_ids": json.dumps([*source_ids]), "project": project}
    return [row["source_id"] for row in connection.execute(SQL["pages_of"], values)]


def _delete_website(
    connection: sqlite3.Connection, source_id: int, *, project: str
) -> RemovedWebsite | None:
    website = _get_website(connection, source_id, project=project)
    if website is None:
        return None
    key = {"project": project, "key": str(source_id)}
    connection.execute(SQL["cancel_jobs_of"], key)
    members = connection.execute(SQL["member_ids"], {"website_id": source_id}).fetchall()
    pages = [row["source_id"] for row in members] if website.is_entry else [source_id]
    connection.execute(SQL["delete_website"], {"source_id": source_id})
    removed = chunks = 0
    for page_id in pages:
        size = connection.execute(
            SQL["page_size"], {"source_id": page_id, "project": project}
        ).fetchone()
        if connection.execute(SQL["delete_unheld_page"], {"source_id": page_id}).rowcount > 0:
            removed += 1
            chunks += size["chunks"]
    return RemovedWebsite(source_id=source_id, url=website.url, pages=removed, chunks=chunks)


def _later(now: datetime, seconds: float | None) -> str | None:
    return None if seconds is None else timestamp(now + timedelta(seconds=seconds))


def _json_list(texts: Sequence[str]) -> str:
    return json.dumps([*texts], ensure_ascii=False)
