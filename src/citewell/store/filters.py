"""Which pages pass a SearchFilter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from citewell.core.records import SearchFilter
    from citewell.store.session import Session


@frozen
class AllowedPages:
    """The pages that pass a filter, and how many chunks they have together."""

    source_ids: Any
    """A list, in the form that the database's statements take it."""
    chunks: int


async def allowed_pages(session: Session, where: SearchFilter) -> AllowedPages | None:
    """Return the pages that pass `where`, or None when all of them do."""
    if await _restricts_nothing(session, where):
        return None
    statement = "pages_passing"
    if where.source_ids is not None:
        statement = "pages_passing_among"
    elif where.url_prefix is not None and where.project is not None:
        statement = "pages_passing_under"
    row = await session.fetch_one(statement, filter_values(where))
    assert row is not None, "an aggregate has a row"
    return AllowedPages(source_ids=row["source_ids"], chunks=row["chunks"])


def filter_values(where: SearchFilter) -> dict[str, object]:
    """Return the values of statements that apply a filter by themselves."""
    return {
        "project": where.project,
        "content_type": where.content_type,
        "updated_after": where.updated_after,
        "url_prefix": where.url_prefix,
        "tags": where.tags or None,
        "source_ids": where.source_ids,
        "releases": where.releases,
        "superseding": where.superseding or None,
    }


def names_project_at_most(where: SearchFilter) -> bool:
    """Return whether `where` asks for a project and nothing else, or for nothing at all."""
    if where.tags or where.source_ids is not None or where.updated_after is not None:
        return False
    if where.releases is not None or where.superseding:
        return False
    return where.content_type is None and where.url_prefix is None


async def _restricts_nothing(session: Session, where: SearchFilter) -> bool:
    if not names_project_at_most(where):
        return False
    if where.project is None:
        return True
    # Most databases hold one project, which every search names.
    row = await session.fetch_one("is_only_project", {"project": where.project})
    return row is not None and bool(row["is_only"])
