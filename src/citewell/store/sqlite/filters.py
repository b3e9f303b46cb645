"""Which pages a SearchFilter lets through."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.store.sqlite.connection import SQL, timestamp

if TYPE_CHECKING:
    import sqlite3

    from citewell.core.records import SearchFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedPages:
    """The pages that pass a filter, and how many chunks they have together."""

    source_ids: str
    """A JSON list, as statements take it."""
    chunks: int


def allowed_pages(connection: sqlite3.Connection, where: SearchFilter) -> AllowedPages | None:
    """Return the pages that pass `where`, or None when all of them do."""
    if _restricts_nothing(connection, where):
        return None
    values = {
        "project": where.project,
        "content_type": where.content_type,
        "updated_after": timestamp(where.updated_after) if where.updated_after else None,
        "url_prefix": where.url_prefix,
        "tags": json.dumps(where.tags) if where.tags else None,
    }
    passing = "pages_passing"
    if where.source_ids is not None:
        passing = "pages_passing_among"
        values["source_ids"] = json.dumps(where.source_ids)
    row = connection.execute(SQL[passing], values).fetchone()
    return AllowedPages(source_ids=row["source_ids"], chunks=row["chunks"])


def _restricts_nothing(connection: sqlite3.Connection, where: SearchFilter) -> bool:
    if where.tags or where.source_ids is not None or where.updated_after is not None:
        return False
    if where.content_type is not None or where.url_prefix is not None:
        return False
    if where.project is None:
        return True
    # Most stores hold one project, and every search names it.
    return bool(
        connection.execute(SQL["is_only_project"], {"project": where.project}).fetchone()[0]
    )
