"""Sections by the ids that searches return, within the caller's project and scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from citewell.core.errors import NotFound
from citewell.core.records import SearchFilter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from citewell.core.records import StoredChunk
    from citewell.tools.scope import Scope
    from citewell.tools.tool import Call

MAX_SECTIONS = 20

SectionIds = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=20)]],
    Field(min_length=1, max_length=MAX_SECTIONS),
]


async def load_sections(ids: Iterable[str], *, scope: Scope, call: Call) -> list[StoredChunk]:
    """Return the sections with these ids, in the order asked.

    Raises:
        NotFound: one of them does not exist, or not for this caller.
    """
    wanted = list(dict.fromkeys(ids))
    numbers = [
        int(section_id) for section_id in wanted if section_id.isascii() and section_id.isdigit()
    ]
    chunks = await _in_scope(await call.parts.store.load_chunks(numbers), scope, call)
    known = {str(chunk.chunk_id) for chunk in chunks}
    missing = [section_id for section_id in wanted if section_id not in known]
    if missing:
        raise NotFound(
            f"There is no section {missing[0]!r}.",
            suggestion="Search again: a section's id changes with its text.",
        )
    return chunks


async def _in_scope(chunks: Sequence[StoredChunk], scope: Scope, call: Call) -> list[StoredChunk]:
    source_ids = tuple({chunk.source_id for chunk in chunks})
    where = SearchFilter(project=scope.project, tags=scope.tags, source_ids=source_ids)
    pages = await call.parts.store.list_pages(where, limit=len(source_ids) or 1)
    allowed = {page.source_id for page in pages if scope.holds(page.url, page.tags)}
    return [chunk for chunk in chunks if chunk.source_id in allowed]
