"""Rows of the library as records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.library import CrawlOptions, Member, Website
from citewell.store.library_json import fields_from_json, options_from_json, report_from_json
from citewell.store.rows import read_record
from citewell.store.session import read_datetime

if TYPE_CHECKING:
    from citewell.store.session import Row


def read_website(row: Row) -> Website:
    """Return the entry that a row of `get_websites` holds."""
    return read_record(
        Website,
        row,
        fields=fields_from_json(row["fields"] or "{}"),
        options=options_from_json(row["options"]),
        last_change=None if row["last_change"] is None else report_from_json(row["last_change"]),
        origin=row["origin"] or "fetched",
        supplied_by=row["supplied_by"] or "",
        is_entry=True,
    )


def read_page_as_website(row: Row) -> Website:
    """Return the page that a row of `page_as_website` holds, as if it were an entry."""
    fetched_at = read_datetime(row["fetched_at"])
    return read_record(
        Website,
        row,
        kind="page",
        status="completed",
        error_message=None,
        pages=1,
        fields={},
        options=CrawlOptions(),
        refresh_seconds=None,
        refresh_due_at=None,
        created_at=fetched_at,
        updated_at=fetched_at,
        last_change=None,
        is_entry=False,
    )


def read_member(row: Row) -> Member:
    """Return the page that a row of `list_members` or `find_member_by_text` holds."""
    return read_record(Member, row, fields=fields_from_json(row["fields"]))
