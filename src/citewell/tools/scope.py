"""The pages that a call can see: the scope it names, within that of the server."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

from pydantic import Field, WithJsonSchema

from citewell.core.errors import InvalidArgument, ScopeViolation
from citewell.core.frozen import frozen
from citewell.core.records import SearchFilter
from citewell.core.settings import Environment
from citewell.research.source_urls import find_named_pages
from citewell.store.page_scan import scan_pages
from citewell.tools.tool import Call, ToolInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import PageInfo

MAX_TAGS = 20

Tag = Annotated[str, Field(min_length=1, max_length=100)]
Tags = Annotated[list[Tag], Field(max_length=MAX_TAGS)]
Prefix = Annotated[str, Field(min_length=1, max_length=2_000)]
Version = Annotated[
    str | None,
    # Without a description, to save tokens: the error for a wrong one says what is accepted.
    Field(min_length=1, max_length=200),
]
"""Versions to search; by default those that the question names or the project uses."""


class ScopeInput(ToolInput):
    """The pages a call is limited to; by default those of the server's scope."""

    project_id: Annotated[str | None, Field(max_length=200)] = None
    environment: Environment | None = None
    doc_tags: Annotated[Tags | None, Field(description="A page needs all.")] = None
    repositories: Annotated[
        list[Prefix] | None, Field(max_length=20, description="URL prefixes; one must fit.")
    ] = None


class FiltersInput(ToolInput):
    """Further limits of a search within its scope."""

    doc_tag: Annotated[Tags | None, Field(description="A page needs all.")] = None
    path_prefix: Annotated[
        Prefix | None, Field(description="URL prefix, or of its path from /.")
    ] = None
    updated_after: Annotated[datetime | None, Field(description="Fetched after, ISO-8601.")] = None
    version: Version = None


ShortFilters = Annotated[
    FiltersInput,
    WithJsonSchema(
        {
            "type": "object",
            "description": "doc_tag (list), path_prefix, updated_after (ISO-8601), version",
        }
    ),
]
"""The same, listed in one line to save tokens: few calls need filters."""


@frozen
class Scope:
    """A checked scope."""

    project: str
    tags: tuple[str, ...]
    url_prefixes: tuple[str, ...]

    def holds(self, url: str, tags: Sequence[str]) -> bool:
        """Return whether the scope contains a page of its project."""
        fits = not self.url_prefixes or url.startswith(self.url_prefixes)
        return fits and set(self.tags) <= set(tags)

    def holds_page(self, page: PageInfo) -> bool:
        """Return whether the scope contains a stored page."""
        return page.project == self.project and self.holds(page.url, page.tags)


def check_scope(scope: ScopeInput | None, call: Call) -> Scope:
    """Return the scope of a call: the server's, narrowed by the scope that the call names.

    Raises:
        ScopeViolation: it names another project or environment.
    """
    settings = call.settings
    asked = scope or ScopeInput()
    if asked.project_id not in (None, call.caller.project):
        raise ScopeViolation(f"This server does not serve the project {asked.project_id[:80]!r}.")
    if asked.environment not in (None, settings.scope_environment):
        raise ScopeViolation(f"This server is not the {asked.environment} environment.")
    return Scope(
        project=call.caller.project,
        tags=tuple(dict.fromkeys((*settings.scope_tags, *(asked.doc_tags or ())))),
        url_prefixes=tuple(asked.repositories or ()),
    )


async def search_filter(
    scope: Scope, filters: FiltersInput | None, call: Call, *, version: str | None = None
) -> SearchFilter:
    """Return the filter of a search: the scope, the filters and `version` combined.

    Raises:
        InvalidArgument: path_prefix is neither a URL nor a path.
    """
    asked = filters or FiltersInput()
    prefix = asked.path_prefix
    if prefix is not None and not prefix.startswith("/") and "://" not in prefix:
        raise InvalidArgument(
            "filters.path_prefix must be a URL or begin with /.", path_prefix=prefix
        )
    is_path = prefix is not None and prefix.startswith("/")
    prefixes = scope.url_prefixes
    where = SearchFilter(
        project=scope.project,
        tags=tuple(dict.fromkeys((*scope.tags, *(asked.doc_tag or ())))),
        updated_after=_in_utc(asked.updated_after),
        url_prefix=None if is_path else prefix,
        version=version or asked.version,
    )
    if where.url_prefix is None and len(prefixes) == 1:
        where, prefixes = replace(where, url_prefix=prefixes[0]), ()
    if not is_path and not prefixes:
        return where
    return await _among_pages(where, prefixes, path=prefix if is_path else None, call=call)


async def limit_to_urls(
    where: SearchFilter, source_urls: Sequence[str] | None, call: Call
) -> tuple[SearchFilter, tuple[str, ...]]:
    """Return the filter limited to `source_urls`, and notes on URLs that are not indexed."""
    if source_urls is None:
        return where, ()
    named = await find_named_pages(source_urls, store=call.parts.store, within=where)
    allowed = where.source_ids
    source_ids = [
        source_id for source_id in named.source_ids if allowed is None or source_id in allowed
    ]
    return replace(where, source_ids=tuple(source_ids)), named.notes


async def _among_pages(
    where: SearchFilter, url_prefixes: tuple[str, ...], *, path: str | None, call: Call
) -> SearchFilter:
    """Return the filter with the ids of its pages, for conditions that the store lacks."""
    source_ids = [
        page.source_id
        async for page in scan_pages(call.parts.store, where)
        if (not url_prefixes or page.url.startswith(url_prefixes))
        and (path is None or urlsplit(page.url).path.startswith(path))
    ]
    return replace(where, source_ids=tuple(source_ids))


def _in_utc(moment: datetime | None) -> datetime | None:
    if moment is None or moment.tzinfo is not None:
        return moment
    return moment.replace(tzinfo=UTC)
