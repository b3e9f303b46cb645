"""The websites that somebody keeps."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from citewell.core.errors import StoreBusy
from citewell.core.library import RemovedWebsite, WebsiteList
from citewell.store.field_filter import have_values
from citewell.store.library_json import (
    fields_from_json,
    fields_to_json,
    options_to_json,
    report_to_json,
)
from citewell.store.library_rows import read_member, read_page_as_website, read_website
from citewell.store.rows import record_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Protocol

    from citewell.core.library import (
        ChangeReport,
        CrawlOptions,
        Fields,
        Member,
        Website,
        WebsiteDraft,
        WebsiteQuery,
        WebsiteStatus,
    )
    from citewell.store.session import Database, Row, Session

    class DeletePage(Protocol):
        """`Store.delete_page`."""

        async def __call__(self, source_id: int, *, of_website: int | None = None) -> bool:
            """Remove the page unless another entry than `of_website` holds it."""


class LibraryStore:
    """The entries of the library and the pages that belong to them.

    Every method may raise StoreError. An entry is known by its URL within its project, and its
    source_id is of the number space of pages. What an entry says about its pages (title, language,
    counts, time) is true after every write of a page, whoever wrote it.
    """

    def __init__(self, database: Database, *, delete_page: DeletePage) -> None:
        self._database = database
        self._delete_page = delete_page

    async def add_website(self, draft: WebsiteDraft, *, now: datetime) -> tuple[Website, bool]:
        """Return the entry of the draft's URL, and whether it was just created.

        The source_id of a new entry is that of the page stored under the same URL, which becomes
        its member, or else a new one: when that URL is put later, its page gets this id. An entry
        that is there is left as it is, but for one thing: a page becomes a site, with the draft's
        options and the status `pending`, where the draft is of a site.
        """
        return await self._database.transaction(lambda session: _add_website(session, draft, now))

    async def get_website(self, source_id: int, *, project: str) -> Website | None:
        """Return the entry, or a stored page without one as if it were (`is_entry` is False)."""
        return await self._database.view(lambda session: _get_website(session, source_id, project))

    async def find_website(self, url: str, *, project: str) -> Website | None:
        """Return the entry of a canonical URL, or the page stored under it as if it were one."""
        key = {"project": project, "url": url}

        async def work(session: Session) -> Website | None:
            for statement in ("find_website", "find_page_of_website"):
                row = await session.fetch_one(statement, key)
                if row is not None:
                    return await _get_website(session, row["source_id"], project)
            return None

        return await self._database.view(work)

    async def list_websites(self, query: WebsiteQuery) -> WebsiteList:
        """Return one screen of entries in the order asked (ties by source_id), and the total."""
        matching = query.matching.lower() if query.matching else None
        values = record_values(query) | {"matching": matching}

        async def work(session: Session) -> WebsiteList:
            rows = await session.fetch_all("list_websites", values)
            ids = [row["source_id"] for row in rows]
            entries = await _entries(session, ids)
            counted = await session.fetch_one("count_websites", values)
            assert counted is not None, "an aggregate has a row"
            websites = tuple(entries[source_id] for source_id in ids)
            return WebsiteList(websites=websites, total=counted["total"])

        return await self._database.view(work)

    async def update_website(
        self,
        source_id: int,
        *,
        now: datetime,
        content_type: str | None = None,
        options: CrawlOptions | None = None,
        tags: Sequence[str] | None = None,
    ) -> bool:
        """Change what is not None; return whether there is such an entry."""
        values = {
            "source_id": source_id,
            "content_type": content_type,
            "options": None if options is None else options_to_json(options),
            "tags": None if tags is None else list(tags),
            "now": now,
        }
        return await self._database.execute("update_website", values) > 0

    async def schedule_refresh(
        self, source_id: int, *, every_seconds: float | None, now: datetime
    ) -> bool:
        """Set the entry's refresh interval (None: never); return whether the entry exists.

        The first refresh is due that long after `now`.
        """
        values = {
            "source_id": source_id,
            "every_seconds": every_seconds,
            "due_at": _later(now, every_seconds),
            "now": now,
        }
        return await self._database.execute("schedule_refresh", values) > 0

    async def due_refreshes(self, *, now: datetime, limit: int) -> list[Website]:
        """Return the entries whose refresh is due, longest first, and restart the interval of each.

        An entry is returned once for each time that it is due, whichever process asks.
        """
        choice = {"now": now, "tomorrow": now + timedelta(days=1), "limit": limit}

        async def work(session: Session) -> list[Website]:
            due = await session.fetch_all("due_refreshes", choice)
            if not due:
                return []
            again = [
                {
                    "source_id": row["source_id"],
                    "due_at": _later(now, row["refresh_seconds"]),
                    "now": now,
                }
                for row in due
            ]
            await session.execute_many("set_next_refresh", again)
            entries = await _entries(session, [row["source_id"] for row in due])
            return [entries[row["source_id"]] for row in due]

        return await self._database.transaction(work)

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
        return await self._database.execute("set_website_status", values) > 0

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
        """Record the end of processing or refreshing; return whether the entry exists.

        None leaves title and report as they were; the message is set either way. The language
        becomes that of all its pages, or `mixed`, and a completed site counts as fetched now.
        """
        values = {
            "source_id": source_id,
            "status": status,
            "title": title,
            "error_message": error_message,
            "change": None if change is None else report_to_json(change),
            "now": now,
        }
        return await self._database.execute("finish_website", values) > 0

    async def join_page(
        self, website_id: int, source_id: int, *, fields: Fields | None = None
    ) -> bool:
        """Add a page to the entry; return whether both exist.

        `fields` that are None leave those of a member as they were.
        """
        values = {
            "website_id": website_id,
            "source_id": source_id,
            "fields": None if fields is None else fields_to_json(fields),
        }
        return await self._database.execute("join_page", values) > 0

    async def leave_page(self, website_id: int, source_id: int) -> bool:
        """Remove a page from the entry, and delete it unless another entry has it.

        Returns whether the page was deleted; one that is no member stays as it is.
        """
        key = {"website_id": website_id, "source_id": source_id}
        if await self._database.fetch_one("is_member", key) is None:
            return False
        if await self._delete_page(source_id, of_website=website_id):
            return True
        await self._database.execute("leave_page", key)
        return False

    async def list_members(
        self, website_id: int, *, limit: int, after_source_id: int = 0
    ) -> list[Member]:
        """Return the pages of an entry by rising source_id."""
        values = {"website_id": website_id, "limit": limit, "after_source_id": after_source_id}
        return [read_member(row) for row in await self._database.fetch_all("list_members", values)]

    async def text_hashes(self, website_ids: Sequence[int]) -> dict[int, str]:
        """Return one hash over the texts of all pages of each entry; one without pages has none."""
        values = {"source_ids": [*website_ids]}
        rows = await self._database.fetch_all("member_text_hashes", values)
        return {row["source_id"]: row["text_hash"] for row in rows}

    async def typed_websites_of(self, source_id: int) -> dict[int, str]:
        """Return the content types of the entries that hold a page, other than `general`."""
        rows = await self._database.fetch_all("typed_websites_of", {"source_id": source_id})
        return {row["source_id"]: row["content_type"] for row in rows}

    async def find_member_by_text(self, website_id: int, text_hash: str) -> Member | None:
        """Return the first page of the entry whose text has this hash."""
        values = {"website_id": website_id, "text_hash": text_hash}
        row = await self._database.fetch_one("find_member_by_text", values)
        return None if row is None else read_member(row)

    async def pages_of(self, source_ids: Sequence[int], *, project: str) -> list[int]:
        """Return the pages of these entries, and those of the ids that are pages, each once.

        What searches within entries must be given: a site has many pages, and the page of an
        entry may have another id when its URL led to a page that was there before.
        """
        values = {"source_ids": [*source_ids], "project": project}
        return [row["source_id"] for row in await self._database.fetch_all("pages_of", values)]

    async def holders_of(self, source_ids: Sequence[int]) -> dict[int, int]:
        """Return the entry that each of these pages is of; pages of no entry are left out."""
        rows = await self._database.fetch_all("holders_of", {"source_ids": [*source_ids]})
        return {row["source_id"]: row["website_id"] for row in reversed(rows)}

    async def member_pages(self, *, project: str, content_type: str | None) -> list[int] | None:
        """Return the pages of all entries, or of those of a type; None when that is every page."""
        values = {"project": project, "content_type": content_type}
        if content_type is None:
            row = await self._database.fetch_one("has_pages_of_no_entry", values)
            if row is None or not row["is_any"]:
                return None
        return [row["source_id"] for row in await self._database.fetch_all("member_pages", values)]

    async def fields_of(self, source_ids: Sequence[int]) -> dict[int, Fields]:
        """Return what content types found in these pages; pages without any are left out."""
        rows = await self._database.fetch_all("fields_of", {"source_ids": [*source_ids]})
        return {row["source_id"]: fields_from_json(row["fields"]) for row in rows}

    async def pages_with_fields(self, wanted: Mapping[str, str], *, project: str) -> list[int]:
        """Return the pages that have, for each name, a value holding the text, in any case.

        The fields of a page are lists by name, of objects that have a `value`.
        """
        rows = await self._database.fetch_all("pages_with_fields", {"project": project})
        matching = (
            row["source_id"] for row in rows if have_values(fields_from_json(row["fields"]), wanted)
        )
        return list(dict.fromkeys(matching))

    async def delete_website(self, source_id: int, *, project: str) -> RemovedWebsite | None:
        """Remove an entry with its crawl and unfinished jobs, and the pages no other entry holds.

        A stored page without an entry is removed the same way. None when there is neither.

        Each page is removed in a separate transaction, and the entry after them, so that nobody
        waits for a large site, and an interrupted removal can be repeated.
        """

        async def begin(session: Session) -> tuple[Website, list[Row]] | None:
            website = await _get_website(session, source_id, project)
            if website is None:
                return None
            await session.execute("cancel_jobs_of", {"project": project, "key": str(source_id)})
            statement = "sizes_of_members" if website.is_entry else "page_size"
            return website, await session.fetch_all(statement, {"source_id": source_id})

        begun = await self._database.transaction(begin)
        if begun is None:
            return None
        website, pages = begun
        removed = [
            page["chunks"]
            for page in pages
            if await self._delete_page(page["source_id"], of_website=source_id)
        ]
        await self._database.execute("delete_website", {"source_id": source_id})
        return RemovedWebsite(
            source_id=source_id, url=website.url, pages=len(removed), chunks=sum(removed)
        )


async def _add_website(
    session: Session, draft: WebsiteDraft, now: datetime
) -> tuple[Website, bool]:
    key = {"project": draft.project, "url": draft.url}
    known = await session.fetch_one("hold_website", key)
    if known is None:
        page = await session.fetch_one("find_page_of_website", key)
        source_id = page["source_id"] if page else await _reserve_number(session, draft.source_id)
        values = {
            **record_values(draft),
            "source_id": source_id,
            "options": options_to_json(draft.options),
            "refresh_due_at": _later(now, draft.refresh_seconds),
            "now": now,
        }
        if await session.execute("add_website", values) > 0:
            # Links the stored page; does nothing where there is none.
            member = {"website_id": source_id, "source_id": source_id, "fields": None}
            await session.execute("join_page", member)
            return (await _entries(session, [source_id]))[source_id], True
        known = await session.fetch_one("hold_website", key)
    if known is None:
        raise StoreBusy("another process has just taken the number of this entry")
    website = (await _entries(session, [known["source_id"]]))[known["source_id"]]
    if draft.kind == "site" and website.kind == "page":
        site = {
            "source_id": website.source_id,
            "options": options_to_json(draft.options),
            "now": now,
        }
        await session.execute("make_site", site)
        website = (await _entries(session, [website.source_id]))[website.source_id]
    return website, False


async def _reserve_number(session: Session, wanted: int | None) -> int:
    """Return a number of the pages' own that no page or entry has: `wanted`, where it is free."""
    if wanted is not None:
        taken = await session.fetch_one("is_number_taken", {"source_id": wanted})
        if taken is None:
            await session.execute("pass_page_number", {"source_id": wanted})
            return wanted
    drawn = await session.fetch_one("reserve_page_number")
    assert drawn is not None, "there is always a next number"
    return int(drawn["source_id"])


async def _entries(session: Session, source_ids: Sequence[int]) -> dict[int, Website]:
    rows = await session.fetch_all("get_websites", {"source_ids": [*source_ids]})
    return {row["source_id"]: read_website(row) for row in rows}


async def _get_website(session: Session, source_id: int, project: str) -> Website | None:
    entry = (await _entries(session, [source_id])).get(source_id)
    if entry is not None and entry.project == project:
        return entry
    values = {"source_id": source_id, "project": project}
    page = await session.fetch_one("page_as_website", values)
    return None if page is None else read_page_as_website(page)


def _later(now: datetime, seconds: float | None) -> datetime | None:
    return None if seconds is None else now + timedelta(seconds=seconds)
