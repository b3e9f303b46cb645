"""Index and remove single pages, for tools and the shell."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from citewell.core.errors import InvalidArgument, NotFound
from citewell.core.frozen import frozen
from citewell.core.library import WebsiteQuery
from citewell.core.progress import OnProgress, no_progress
from citewell.core.records import SearchFilter
from citewell.core.text import counted
from citewell.ingest.local_files import file_of_url, file_url
from citewell.store.page_scan import scan_pages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.app.parts import PartName, Parts
    from citewell.core.library import Website
    from citewell.core.records import PageInfo
    from citewell.ingest.outcome import IngestOutcome
    from citewell.store.protocol import Store

INGEST_NEEDS: tuple[PartName, ...] = ("ingester", "library")
_MOST_NAMED = 20
_PACKAGE_SCHEMES = ("pypi:", "npm:")
RemovalReach = Literal["page", "site", "below"]
"""What a URL stands for: that page alone, the site that was added under it, or it and all below."""
REMOVE_NEEDS: tuple[PartName, ...] = ("store", "library", "events")


@frozen
class Removal:
    """Something that can be removed: a website with its pages, or stored pages."""

    name: str
    """Its URL or path."""
    reach: RemovalReach = "page"
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


async def find_removal(
    parts: Parts, name: str, *, project: str, reach: RemovalReach = "page"
) -> Removal:
    """Return what an id, a URL or a path of this machine names.

    A URL names one page, or nothing, unless `reach` says otherwise: were it to name what is left
    below it, a command that is repeated would remove that. A folder stands for its files, and the
    id of a site for the site.

    Raises:
        NotFound: nothing of that name is indexed.
        InvalidArgument: the URL is that of a site, and `reach` says that it is one page.
    """
    path = None if name.isdecimal() else _path_of(name)
    if path is not None:
        return await _find_files(parts.store, path, project=project)
    if name.isdecimal():
        return await _find_by_id(parts.store, int(name), project=project)
    # The URL parser takes longer to import than most commands run.
    from citewell.web.urls import page_address

    address = page_address(name)
    if reach == "below":
        return await _find_below(parts.store, address, project=project)
    library = parts.store.library
    website = await library.find_website(address, project=project)
    if reach == "site":
        if website is None and not address.endswith("/"):
            website = await library.find_website(f"{address}/", project=project)
        if website is None or website.kind != "site":
            raise NotFound(
                f"no site was added under {name}",
                suggestion="`citewell sites` lists the sites and the pages that were added.",
            )
        return _whole_entry(website)
    if website is not None and website.kind == "site":
        raise InvalidArgument(
            f"{website.url} is a site of {counted(website.pages, 'page')}: to remove all of it, "
            f"run `citewell remove --site {website.url}`"
        )
    if website is not None:
        return _whole_entry(website)
    page = await parts.store.find_page(address, project=project)
    if page is None:
        raise await _nothing_at(parts.store, address, project=project)
    return Removal(name=page.url, page_ids=(page.source_id,), pages=1)


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


def _path_of(name: str) -> Path | None:
    """Return the path that a name is, or that it names as a URL; None for other addresses."""
    if "://" in name:
        return file_of_url(name)
    return None if name.startswith(_PACKAGE_SCHEMES) else Path(name)


async def _find_files(store: Store, path: Path, *, project: str) -> Removal:
    pages = await stored_below(store, path, project=project)
    if not pages:
        raise _nothing(str(path))
    ids = tuple(page.source_id for page in pages)
    is_file = len(pages) == 1 and pages[0].url == file_url(path)
    reach: RemovalReach = "page" if is_file else "below"
    return Removal(name=str(path), reach=reach, page_ids=ids, pages=len(pages))


async def _find_by_id(store: Store, source_id: int, *, project: str) -> Removal:
    website = await store.library.get_website(source_id, project=project)
    if website is None:
        raise _nothing(str(source_id))
    return _whole_entry(website)


def _whole_entry(website: Website) -> Removal:
    return Removal(
        name=website.url,
        reach="site" if website.kind == "site" else "page",
        website_ids=(website.source_id,),
        pages=website.pages,
    )


async def _find_below(store: Store, address: str, *, project: str) -> Removal:
    """Return the page at an address and those below it, as those of a folder.

    Raises:
        NotFound: there are none.
        InvalidArgument: they came with sites, which are removed as such.
    """
    pages = await _pages_below(store, address, project=project)
    prefix = _folder(address)
    query = WebsiteQuery(project=project, matching=prefix, limit=_MOST_NAMED)
    listed = (await store.library.list_websites(query)).websites
    sites = [site.url for site in listed if site.kind == "site" and site.url.startswith(prefix)]
    if sites:
        raise InvalidArgument(
            f"{counted(len(pages), 'page')} at or below {address} came with sites: to remove "
            f"these first, run `citewell remove --site {' '.join(sites)}`"
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
        name=prefix,
        reach="below",
        website_ids=tuple(entries),
        page_ids=tuple(others),
        pages=len(pages),
    )


async def _pages_below(store: Store, address: str, *, project: str) -> list[PageInfo]:
    page = await store.find_page(address, project=project)
    where = SearchFilter(project=project, url_prefix=_folder(address))
    below = [each async for each in scan_pages(store, where) if each.url != address]
    return below if page is None else [page, *below]


def _folder(address: str) -> str:
    return f"{address.rstrip('/')}/"


async def _nothing_at(store: Store, address: str, *, project: str) -> NotFound:
    """Return the error of a page that is not there, which counts what is below it."""
    below = await _pages_below(store, address, project=project)
    if not below:
        return _nothing(address)
    return NotFound(
        f"no page {address} is indexed; {counted(len(below), 'page')} below it "
        f"{'is' if len(below) == 1 else 'are'}",
        suggestion=f"To remove all that is below it: citewell remove --below {address}",
    )


def _nothing(name: str) -> NotFound:
    return NotFound(
        f"nothing is indexed under {name}",
        suggestion="`citewell status` lists the pages, `citewell sites` the websites.",
    )
