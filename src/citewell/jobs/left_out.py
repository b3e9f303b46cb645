"""Deleting a page of a site, which must not come back with the site's next refresh."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.web.urls import split_url

if TYPE_CHECKING:
    from datetime import datetime

    from citewell.core.library import Website
    from citewell.store.protocol import Store


async def leave_out(store: Store, page: Website, *, now: datetime) -> list[str]:
    """Delete a stored page, and return the sites, which leave its address out from now on."""
    library, source_id = store.library, page.source_id
    sites: list[str] = []
    while (holder_id := (await library.holders_of([source_id])).get(source_id)) is not None:
        holder = await library.get_website(holder_id, project=page.project)
        if holder is None or holder.kind == "page":
            # Another address that led to the page, and is nothing without it.
            await library.delete_website(holder_id, project=page.project)
        else:
            exclude = (*holder.options.exclude, split_url(page.url).target)
            options = replace(holder.options, exclude=exclude)
            await library.update_website(holder_id, now=now, options=options)
            await library.leave_page(holder_id, source_id)
            sites.append(holder.url)
    return sites
