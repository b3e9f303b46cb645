"""Going through many stored pages without loading them all."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.core.records import PageInfo, SearchFilter
    from citewell.store.protocol import Store

_PAGES_AT_ONCE = 1_000


async def scan_pages(store: Store, where: SearchFilter) -> AsyncIterator[PageInfo]:
    """Yield the pages that `where` lets pass, by rising source_id."""
    last = 0
    while pages := await store.list_pages(where, limit=_PAGES_AT_ONCE, after_source_id=last):
        for page in pages:
            yield page
        if len(pages) < _PAGES_AT_ONCE:
            return
        last = pages[-1].source_id
