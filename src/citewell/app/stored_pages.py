"""Find stored pages by URLs as people and models write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.web.urls import page_address

if TYPE_CHECKING:
    from citewell.core.records import PageInfo
    from citewell.store.protocol import Store


async def find_stored_page(store: Store, url: str, *, project: str) -> PageInfo | None:
    """Return the page stored for `url`, however the URL is spelt; None when there is none."""
    return await store.find_page(page_address(url), project=project)
