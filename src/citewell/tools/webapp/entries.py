"""The entries of the library: websites, then the shelves of pages that no website holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit

from citewell.app import websites
from citewell.core.frozen import frozen
from citewell.core.library import WebsiteQuery
from citewell.core.releases import release_of_page
from citewell.tools.webapp.reader import visible_pages
from citewell.tools.websites import list_websites

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from citewell.app.websites import WebsiteView
    from citewell.core.library import LooseFolder
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


async def list_entries(query: WebsiteQuery, call: Call) -> EntryListing:
    """Return one screen of the caller's project: its websites first, then its shelves by name."""
    list_websites.TOOL.refuse_others(call.caller)
    query = replace(query, project=call.caller.project)
    listed = await websites.list_websites(call.parts, query)
    shelves: list[Shelf] = []
    # What is on a shelf was read.
    if query.status in (None, "completed"):
        folders = await call.parts.store.loose_folders(visible_pages(call))
        shelves = [shelf for shelf in shelves_of(folders) if _matches(shelf, query.matching)]
    start = max(0, query.offset - listed.total)
    end = max(0, query.offset + query.limit - listed.total)
    return EntryListing(
        websites=listed.websites,
        shelves=shelves[start:end],
        total=listed.total + len(shelves),
    )


async def list_places(call: Call) -> list[Place]:
    """Return the sites of the caller's project, then its shelves of several pages."""
    list_websites.TOOL.refuse_others(call.caller)
    query = WebsiteQuery(
        project=call.caller.project,
        kind="site",
        order_by="url",
        descending=False,
        limit=_MOST_PLACES,
    )
    listed = await websites.list_websites(call.parts, query)
    sites = [view.website for view in listed.websites if view.website.pages]
    folders = await call.parts.store.loose_folders(visible_pages(call))
    places = [
        *(Place(address=site.url, name=site.title or site.url, pages=site.pages) for site in sites),
        *(
            Place(address=f"{shelf.address}*", name=shelf.name, pages=shelf.pages)
            for shelf in shelves_of(folders)
            if shelf.pages > 1
        ),
    ]
    return places[:_MOST_PLACES]


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
