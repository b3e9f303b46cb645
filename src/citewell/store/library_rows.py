"""Rows of the library as records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.library import CrawlOptions, Member, Website
from citewell.store.library_json import fields_from_json, options_from_json, report_from_json
from citewell.store.session import read_datetime, read_list

if TYPE_CHECKING:
    from citewell.store.session import Row


def read_website(row: Row) -> Website:
    """Return the entry that a row of `get_websites` holds."""
    return Website(
        source_id=row["source_id"],
        url=row["url"],
        project=row["project"],
        kind=row["kind"],
        content_type=row["content_type"],
        status=row["status"],
        error_message=row["error_message"],
        title=row["title"],
        language=row["language"],
        pages=row["pages"],
        chunks=row["chunks"],
        text_bytes=row["text_bytes"],
        fetched_at=read_datetime(row["fetched_at"]),
        fields=fields_from_json(row["fields"] or "{}"),
        tags=read_list(row["tags"]),
        options=options_from_json(row["options"]),
        refresh_seconds=row["refresh_seconds"],
        refresh_due_at=read_datetime(row["refresh_due_at"]),
        created_at=read_datetime(row["created_at"]),
        updated_at=read_datetime(row["updated_at"]),
        origin=row["origin"] or "fetched",
        supplied_by=row["supplied_by"] or "",
        last_change=None if row["last_change"] is None else report_from_json(row["last_change"]),
    )


def read_page_as_website(row: Row) -> Website:
    """Return the page that a row of `page_as_website` holds, as if it were an entry."""
    fetched_at = read_datetime(row["fetched_at"])
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
        text_bytes=row["text_bytes"],
        fetched_at=fetched_at,
        fields={},
        tags=read_list(row["tags"]),
        options=CrawlOptions(),
        refresh_seconds=None,
        refresh_due_at=None,
        created_at=fetched_at,
        updated_at=fetched_at,
        last_change=None,
        is_entry=False,
        origin=row["origin"],
        supplied_by=row["supplied_by"],
    )


def read_member(row: Row) -> Member:
    """Return the page that a row of `list_members` or `find_member_by_text` holds."""
    return Member(
        source_id=row["source_id"],
        url=row["url"],
        title=row["title"],
        language=row["language"],
        chunks=row["chunks"],
        origin=row["origin"],
        fetched_at=read_datetime(row["fetched_at"]),
        fields=fields_from_json(row["fields"]),
    )
