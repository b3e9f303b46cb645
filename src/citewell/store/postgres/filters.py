"""Which pages a SearchFilter lets through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from citewell.store.postgres.statements import SQL

if TYPE_CHECKING:
    from psycopg import AsyncConnection

    from citewell.core.records import SearchFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedPages:
    """The pages that pass a filter, and how many chunks they have together."""

    source_ids: list[int]
    chunks: int


async def allowed_pages(
    connection: AsyncConnection[dict[str, Any]], where: SearchFilter
) -> AllowedPages | None:
    """Return the pages that pass `where`, or None when all of them do."""
    if await _restricts_nothing(connection, where):
        return None
    found = await connection.execute(SQL["pages_passing"], filter_values(where))
    row = await found.fetchone()
    assert row is not None, "an aggregate has a row"
    return AllowedPages(source_ids=row["source_ids"], chunks=row["chunks"])


async def count_pages(connection: AsyncConnection[dict[str, Any]], where: SearchFilter) -> int:
    """Return how many pages pass `where`."""
    row = await (await connection.execute(SQL["count_pages"], filter_values(where))).fetchone()
    assert row is not None, "an aggregate has a row"
    return int(row["pages"])


def filter_values(where: SearchFilter) -> dict[str, object]:
    """Return what statements that apply a filter by themselves are given."""
    return {
        "project": where.project,
        "content_type": where.content_type,
        "updated_after": where.updated_after,
        "url_prefix": where.url_prefix,
        "tags": list(where.tags) or None,
        "source_ids": list(where.source_ids) if where.source_ids is not None else None,
    }


def names_project_at_most(where: SearchFilter) -> bool:
    """Return whether `where` asks for a project and nothing else, or for nothing at all."""
    if where.tags or where.source_ids is not None or where.updated_after is not None:
        return False
    return where.content_type is None and where.url_prefix is None


async def _restricts_nothing(
    connection: AsyncConnection[dict[str, Any]], where: SearchFilter
) -> bool:
    if not names_project_at_most(where):
        return False
    if where.project is None:
        return True
    # Most databases hold one project, and every search names it.
    found = await connection.execute(SQL["is_only_project"], {"project": where.project})
    row = await found.fetchone()
    return row is not None and bool(row["only"])
