"""The entries of the library: websites, then the shelves of pages that no website holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit

from citewell.app import websites
from citewell.core.frozen import frozen
from citewell.core.library import WebsiteQuery
from citewell.core.releases import release_of_page
from citewell.ingest.site_scope import SiteScope
from citewell.tools.webapp.reader import visible_pages
from citewell.tools.websites import list_websites

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from citewell.app.websites import WebsiteView
    from citewell.core.library import LooseFolder, Website
    from citewell.tools.tool import Call

_MOST_PLACES = 200
ShelfKind = Literal["folder", "package", "host"]


@frozen
class Shelf:
    """Pages that came without a website: a folder of files, a package, pages of one host."""

    kind: ShelfKind
    name: str
    address: str
    """What the URLs of its pages begin with."""
    pages: int
    text_bytes: int
    fetched_at: datetime
    page_id: int | None
    """Of its page, where it has one only."""


@frozen
class Place:
    """A part of the library that can be asked by itself."""

    address: str
    """As the tools take it: a site, or what URLs begin with and a `*`."""
    name: str
    pages: int


@frozen
class EntryListing:
    """One screen of entries, and how many there are in all."""

    websites: Sequence[WebsiteView]
    shelves: Sequence[Shelf]
    total: int
    beside: Mapping[int, int]
    """How many pages below the address of a site, by its id, were read for answers alone.

    None for a site that is being read.
    """


async def list_entries(query: WebsiteQuery, call: Call) -> EntryListing:
    """Return one screen of the caller's project: its websites first, then its shelves by name."""
    list_websites.TOOL.refuse_others(call.caller)
    # Who looks for a page by its name finds its own entry, too.
    query = replace(query, project=call.caller.project, is_grouped=query.matching is None)
    listed = await websites.list_websites(call.parts, query)
    sites = await _list_sites(call)
    loose, beside = await _loose_folders(sites, call)
    # A crawl stores a page a moment before it joins the page to its site.
    being_read = {site.source_id for site in sites if site.status in ("pending", "processing")}
    # What is on a shelf was read.
    is_shown = query.status in (None, "completed")
    every = shelves_of(loose) if is_shown else []
    shelves = [shelf for shelf in every if _matches(shelf, query.matching)]
    start = max(0, query.offset - listed.total)
    end = max(0, query.offset + query.limit - listed.total)
    return EntryListing(
        websites=listed.websites,
        shelves=shelves[start:end],
        total=listed.total + len(shelves),
        beside={site: pages for site, pages in beside.items() if site not in being_read},
    )


async def list_places(call: Call) -> list[Place]:
    """Return the sites of the caller's project, then its shelves of several pages."""
    list_websites.TOOL.refuse_others(call.caller)
    sites = await _list_sites(call)
    loose, _ = await _loose_folders(sites, call)
    places = [
        *(
            Place(address=site.url, name=site.title or site.url, pages=site.pages)
            for site in sites
            if site.pages
        ),
        *(
            Place(address=f"{shelf.address}*", name=shelf.name, pages=shelf.pages)
            for shelf in shelves_of(loose)
            if shelf.pages > 1
        ),
    ]
    return places[:_MOST_PLACES]


async def _list_sites(call: Call) -> list[Website]:
    query = WebsiteQuery(
        project=call.caller.project,
        kind="site",
        order_by="url",
        descending=False,
        limit=_MOST_PLACES,
    )
    listed = await websites.list_websites(call.parts, query)
    return [view.website for view in listed.websites]


async def _loose_folders(
    sites: Sequence[Website], call: Call
) -> tuple[list[LooseFolder], dict[int, int]]:
    """Return folders of pages that no website holds, and how many such pages lie below each site.

    The pages below a site belong to it by their address, though its crawl has left them out or not
    come to them yet: they are no entry beside it.
    """
    loose: list[LooseFolder] = []
    beside: dict[int, int] = {}
    scopes = {site.source_id: _addresses_of(site) for site in sites}
    for folder in await call.parts.store.loose_folders(visible_pages(call)):
        is_web = folder.folder.startswith(("http://", "https://"))
        held = (site for site, scope in scopes.items() if is_web and scope.holds(folder.folder))
        site = next(held, None)
        if site is None:
            loose.append(folder)
        else:
            beside[site] = beside.get(site, 0) + folder.pages
    return loose, beside


def _addresses_of(site: Website) -> SiteScope:
    """Return the addresses below a site, those that its patterns leave out among them."""
    return SiteScope(site.url, replace(site.options, include=(), exclude=()))


def address_below(site: Website) -> str:
    """Return what the URLs of a site's pages begin with."""
    folder = _addresses_of(site).folder_url
    if site.options.scope == "path":
        return folder
    parts = urlsplit(folder)
    return f"{parts.scheme}://{parts.netloc}/"


def shelves_of(folders: Iterable[LooseFolder]) -> list[Shelf]:
    """Return the shelves that folders are of, by kind and name; folders are sorted by URL."""
    shelves: dict[str, Shelf] = {}
    for folder in folders:
        kind, address = _place_of(folder.folder, shelves)
        known = shelves.get(address)
        pages = folder.pages + (known.pages if known else 0)
        shelves[address] = Shelf(
            kind=kind,
            name=folder.first_title if pages == 1 else _name_of(kind, address),
            address=address,
            pages=pages,
            text_bytes=folder.text_bytes + (known.text_bytes if known else 0),
            fetched_at=max(folder.fetched_at, known.fetched_at) if known else folder.fetched_at,
            page_id=folder.first_id if pages == 1 else None,
        )
    return sorted(shelves.values(), key=lambda shelf: (shelf.kind, shelf.name.lower()))


def _place_of(folder: str, shelves: Iterable[str]) -> tuple[ShelfKind, str]:
    """Return what a folder is part of; one below another folder of files belongs to that."""
    parts = urlsplit(folder)
    if parts.scheme in ("http", "https"):
        return "host", f"{parts.scheme}://{parts.netloc}/"
    if parts.scheme == "file":
        return "folder", next((above for above in shelves if folder.startswith(above)), folder)
    release = release_of_page(folder).release
    return "package", f"{release.key}/" if release.product else folder


def _name_of(kind: ShelfKind, address: str) -> str:
    if kind == "host":
        return urlsplit(address).netloc
    if kind == "folder":
        return unquote(address.rstrip("/").rpartition("/")[2]) or "/"
    return release_of_page(address).release.label or address


def _matches(shelf: Shelf, words: str | None) -> bool:
    return words is None or words.lower() in f"{shelf.address} {shelf.name}".lower()
