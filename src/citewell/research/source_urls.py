"""The stored pages that a caller names by URL, one by one or by what their URLs begin with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.store.page_scan import scan_pages
from citewell.web.urls import page_address

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citewell.core.records import SearchFilter
    from citewell.store.protocol import Store

_WILDCARD = "*"
_MEMBERS_AT_ONCE = 1_000


@frozen
class NamedPages:
    """The pages that URLs name, and a note for each URL that names none."""

    source_ids: tuple[int, ...]
    notes: tuple[str, ...]


async def find_named_pages(
    urls: Iterable[str], *, store: Store, within: SearchFilter
) -> NamedPages:
    """Return the pages of the project at `urls`.

    A URL that ends in * names all that begin so, and the address of a whole site its pages.
    """
    source_ids: dict[int, None] = {}
    notes: list[str] = []
    for url in urls:
        if url.endswith(_WILDCARD):
            named = await _pages_below(url.rstrip(_WILDCARD), store=store, within=within)
            missing = f"No indexed URL begins with {url.rstrip(_WILDCARD)}; call ingest first."
        else:
            named = await _pages_at(page_address(url), store=store, within=within)
            missing = f"{url} is not indexed; call answer or ingest with it."
        source_ids.update(dict.fromkeys(named))
        notes += [] if named else [missing]
    return NamedPages(source_ids=tuple(source_ids), notes=tuple(notes))


async def _pages_at(address: str, *, store: Store, within: SearchFilter) -> list[int]:
    """Return the page at an address, or all pages of the site that was added under it.

    Pages below it that were read before the site, or for an answer, are among them.
    """
    project = within.project
    assert project is not None, "pages are looked up in one project"
    website = await store.library.find_website(address, project=project)
    if website is None or website.kind != "site":
        page = await store.find_page(address, project=project)
        return [] if page is None else [page.source_id]
    named: list[int] = []
    folder, _, last = address.rpartition("/")
    prefix = f"{folder}/" if "." in last else f"{address.rstrip('/')}/"
    below = await _pages_below(prefix, store=store, within=within)
    while members := await store.library.list_members(
        website.source_id, limit=_MEMBERS_AT_ONCE, after_source_id=named[-1] if named else 0
    ):
        named += [member.source_id for member in members]
    return [*dict.fromkeys([*named, *below])]


async def _pages_below(prefix: str, *, store: Store, within: SearchFilter) -> list[int]:
    where = replace(within, url_prefix=prefix)
    return [page.source_id async for page in scan_pages(store, where)]
