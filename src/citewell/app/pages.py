"""Index and remove single pages, for tools and the shell."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.errors import NotFound
from citewell.core.frozen import frozen
from citewell.core.library import WebsiteQuery
from citewell.core.progress import OnProgress, no_progress
from citewell.core.records import SearchFilter
from citewell.core.text import counted
from citewell.ingest.local_files import file_url
from citewell.store.page_scan import scan_pages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.app.parts import PartName, Parts
    from citewell.core.records import PageInfo
    from citewell.ingest.outcome import IngestOutcome
    from citewell.store.protocol import Store

INGEST_NEEDS: tuple[PartName, ...] = ("ingester", "library")
_MOST_NAMED = 20
REMOVE_NEEDS: tuple[PartName, ...] = ("store", "library", "events")


@frozen
class Removal:
    """Something that can be removed: a website with its pages, or stored pages."""

    name: str
    """Its URL or path."""
    website_ids: tuple[int, ...] = ()
    page_ids: tuple[int, ...] = ()
    pages: int = 0


async def ingest_pages(
    parts: Parts,
    urls: Sequence[str],
    *,
    project: str,
    tags: tuple[str, ...] = (),
    force: bool = False,
    on_progress: OnProgress = no_progress,
) -> list[IngestOutcome]:
    """Fetch and index each URL and add it to the library; a failure does not stop the others."""
    # The pipeline is slow to import, and removing pages does not need it.
    from citewell.ingest.several_pages import ingest_all

    outcomes = await ingest_all(
        parts.ingester, urls, project=project, force=force, tags=tags, on_progress=on_progress
    )
    pages = [outcome.page for outcome in outcomes if outcome.page is not None]
    await parts.library.keep_pages(pages, tags=tags)
    return outcomes


async def find_removal(parts: Parts, name: str, *, project: str) -> Removal:
    """Return what an id, a URL or a path of this machine names.

    Raises:
        NotFound: nothing of that name is indexed.
    """
    if "://" not in name and not name.isdecimal():
        return await _find_files(parts.store, Path(name), project=project)
    # The URL parser takes longer to import than most commands run.
    from citewell.app.stored_pages import find_stored_page
    from citewell.web.urls import page_address

    library = parts.store.library
    if name.isdecimal():
        website = await library.get_website(int(name), project=project)
    else:
        address = page_address(name)
        website = await library.find_website(address, project=project)
        if website is None and not address.endswith("/"):
            website = await library.find_website(f"{address}/", project=project)
    if website is not None:
        return Removal(name=website.url, website_ids=(website.source_id,), pages=website.pages)
    page = None if name.isdecimal() else await find_stored_page(parts.store, name, project=project)
    if page is not None:
        return Removal(name=page.url, page_ids=(page.source_id,), pages=1)
    if name.isdecimal():
        raise _nothing(name)
    return await _find_below(parts.store, page_address(name), project=project)


async def remove(parts: Parts, removal: Removal, *, project: str, caller: str) -> set[str]:
    """Remove a website or pages with their chunks, vectors and links.

    Returns the URLs of the sites that leave out what was a page of theirs from now on.
    """
    from citewell.app.websites import delete_website
    from citewell.jobs.left_out import leave_out

    sites: set[str] = set()
    library = parts.store.library
    for source_id in (*removal.website_ids, *removal.page_ids):
        page = await library.get_website(source_id, project=project)
        if page is not None and page.is_entry:
            await delete_website(parts, source_id, project=project, caller=caller)
            is_page = page.kind == "page"
            # A page that was added by itself stays where a site has it as well.
            page = await library.get_website(source_id, project=project) if is_page else None
        if page is not None and await library.holders_of([source_id]):
            sites.update(await leave_out(parts.store, page, now=datetime.now(UTC)))
        elif page is not None:
            await parts.store.delete_page(source_id)
    return sites


async def stored_below(store: Store, path: Path, *, project: str) -> list[PageInfo]:
    """Return the stored pages of a file, or of a folder, whether or not the files still exist."""
    url = file_url(path)
    page = await store.find_page(url, project=project)
    pages = [] if page is None else [page]
    where = SearchFilter(project=project, url_prefix=f"{url}/")
    return pages + [page async for page in scan_pages(store, where)]


async def _find_files(store: Store, path: Path, *, project: str) -> Removal:
    pages = await stored_below(store, path, project=project)
    if not pages:
        raise _nothing(str(path))
    ids = tuple(page.source_id for page in pages)
    return Removal(name=str(path), page_ids=ids, pages=len(pages))


async def _find_below(store: Store, address: str, *, project: str) -> Removal:
    """Return the pages below an address that is none itself, as those of a folder.

    Raises:
        NotFound: there are none, or they came with websites, which are removed as such.
    """
    prefix = f"{address.rstrip('/')}/"
    where = SearchFilter(project=project, url_prefix=prefix)
    pages = [page async for page in scan_pages(store, where)]
    query = WebsiteQuery(project=project, matching=prefix, limit=_MOST_NAMED)
    listed = (await store.library.list_websites(query)).websites
    sites = [site.url for site in listed if site.kind == "site" and site.url.startswith(prefix)]
    if sites:
        raise NotFound(
            f"{address} is no page or website itself; {counted(len(pages), 'page')} below it came "
            "with websites",
            suggestion=f"Remove these: citewell remove {' '.join(sites)}",
        )
    if not pages:
        raise _nothing(address)
    entries: list[int] = []
    others: list[int] = []
    for page in pages:
        entry = await store.library.get_website(page.source_id, project=project)
        is_entry = entry is not None and entry.is_entry
        (entries if is_entry else others).append(page.source_id)
    return Removal(
        name=prefix, website_ids=tuple(entries), page_ids=tuple(others), pages=len(pages)
    )


def _nothing(name: str) -> NotFound:
    return NotFound(
        f"nothing is indexed under {name}",
        suggestion="`citewell status` lists the pages, `citewell sites` the websites.",
    )
