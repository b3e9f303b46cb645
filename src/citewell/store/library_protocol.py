"""LibraryStore: what a database must promise of the websites that somebody keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from citewell.core.library import (
        ChangeReport,
        CrawlOptions,
        Fields,
        Member,
        RemovedWebsite,
        Website,
        WebsiteDraft,
        WebsiteKind,
        WebsiteList,
        WebsiteQuery,
        WebsiteStatus,
    )


class LibraryStore(Protocol):
    """The entries of the library and the pages that belong to them.

    Every method may raise StoreError. An entry is known by its URL within its project, and its
    source_id is of the number space of pages. What an entry tells of its pages (title, language,
    counts, time) is true after every write of a page, whoever wrote it.
    """

    async def add_website(self, draft: WebsiteDraft, *, now: datetime) -> tuple[Website, bool]:
        """Return the entry of the draft's URL, and whether it was made just now.

        The source_id of a new entry is that of the page stored under the same URL, which becomes
        its member, or else a new one: when that URL is put later, its page gets this id. An entry
        that is there is left as it is, but for one thing: a page becomes a site, with the draft's
        options and the status `pending`, where the draft is of a site.
        """

    async def get_website(self, source_id: int, *, project: str) -> Website | None:
        """Return the entry, or a stored page without one as if it were (`is_entry` is False)."""

    async def find_website(self, url: str, *, project: str) -> Website | None:
        """Return the entry of a canonical URL, or the page stored under it as if it were one."""

    async def list_websites(self, query: WebsiteQuery) -> WebsiteList:
        """Return one screen of entries in the order asked (ties by source_id), and the total."""

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

    async def schedule_refresh(
        self, source_id: int, *, every_seconds: float | None, now: datetime
    ) -> bool:
        """Refresh the entry every so often, or never (None); return whether there is such one.

        The first refresh is due that long after `now`.
        """

    async def due_refreshes(self, *, now: datetime, limit: int) -> list[Website]:
        """Return the entries whose refresh is due, longest first, and count anew for each.

        An entry is returned once for each time that it is due, whichever process asks.
        """

    async def set_status(
        self,
        source_id: int,
        status: WebsiteStatus,
        *,
        now: datetime,
        error_message: str | None = None,
    ) -> bool:
        """Set status and message; return whether there is such an entry."""

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
        """Note the end of processing or refreshing; return whether there is such an entry.

        None leaves title and report as they were; the message is set either way. The language
        becomes that of all its pages, or `mixed`, and a completed site counts as fetched now.
        """

    async def join_page(
        self, website_id: int, source_id: int, *, fields: Fields | None = None
    ) -> bool:
        """Make a page a member; return whether entry and page are there.

        `fields` that are None leave those of a member as they were.
        """

    async def leave_page(self, website_id: int, source_id: int) -> bool:
        """Take a page out of the entry, and delete it unless another entry holds it.

        Returns whether the page was deleted; one that is no member stays as it is.
        """

    async def list_members(
        self, website_id: int, *, limit: int, after_source_id: int = 0
    ) -> list[Member]:
        """Return the pages of an entry by rising source_id."""

    async def find_member_by_text(self, website_id: int, text_hash: str) -> Member | None:
        """Return the first page of the entry whose text has this hash."""

    async def pages_of(self, source_ids: Sequence[int], *, project: str) -> list[int]:
        """Return the pages of these entries, and those of the ids that are pages, each once.

        What searches within entries must be given: a site has many pages, and the page of an
        entry may have another id when its URL led to a page that was there before.
        """

    async def fields_of(self, source_ids: Sequence[int]) -> dict[int, Fields]:
        """Return what content types found in these pages; pages without any are left out."""

    async def pages_with_fields(self, wanted: Mapping[str, str], *, project: str) -> list[int]:
        """Return the pages that have, for each name, a value holding the text, in any case.

        The fields of a page are lists by name, of objects that have a `value`.
        """

    async def delete_website(self, source_id: int, *, project: str) -> RemovedWebsite | None:
        """Remove an entry with its crawl and unfinished jobs, and the pages no other entry holds.

        A stored page without an entry is removed the same way. None when there is neither.
        """
