"""Where the URLs of a site come from: llms.txt, Sphinx inventory, sitemaps, or its own links."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from citewell.core.errors import (
    AddressRefused,
    ExtractionError,
    FetchError,
    FetchTimeout,
    HostUnreachable,
    InvalidArgument,
)
from citewell.core.frozen import frozen
from citewell.core.library import CrawlUrl
from citewell.ingest.site_scope import SiteScope
from citewell.web.asked_for import asked_for
from citewell.web.llms_txt import parse_llms_txt
from citewell.web.sitemap import fetch_sitemaps
from citewell.web.sphinx_inventory import INVENTORY_NAME, name_inventory, parse_inventory
from citewell.web.urls import canonical_url, resolve_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from citewell.core.library import CrawlOptions, Discovery
    from citewell.web.fetcher import Fetcher

_SITEMAP_NAMES = ("sitemap.xml", "/sitemap.xml", "/sitemap_index.xml")
_FIRST_FILES = ("index.html", "index.htm", "index.md", "README.md")
_LLMS_TXT_NAMES = ("llms.txt", "/llms.txt")
_SEPARATORS = re.compile(r"[^a-z]+")
_RELEASE_NOTES = frozenset(
    {"changelog", "changelogs", "changes", "history", "release", "releases", "relnotes", "whatsnew"}
)
# Of those that a sitemap names some are out of scope, duplicates or unreadable.
_NAMED_PER_PAGE = 4
_LEAST_NAMED = 1_000


@frozen
class Discovered:
    """The URLs to begin with, and where they came from."""

    discovery: Discovery
    urls: tuple[CrawlUrl, ...]


async def discover_urls(fetcher: Fetcher, url: str, options: CrawlOptions) -> Discovered:
    """Return the URLs that a site names, or its own URL where links are to be followed.

    Its own page comes first: it names the site, and a limit must not leave it out.

    Raises:
        InvalidArgument: the way that was asked for names no page of the site.
        FetchError: the site cannot be reached, or is in trouble.
    """
    found = await _discover(fetcher, url, options)
    own = set(start_pages(url))
    return replace(found, urls=tuple(sorted(found.urls, key=lambda named: named.url not in own)))


def start_pages(url: str) -> list[str]:
    """Return the URL of a site, and of the files that its folder may show there.

    Lists of symbols and sitemaps often name the file.
    """
    return [canonical_url(each) for each in (url, *(urljoin(url, name) for name in _FIRST_FILES))]


async def _discover(fetcher: Fetcher, url: str, options: CrawlOptions) -> Discovered:
    scope = SiteScope(url, options)
    way = options.discovery
    limit = max(_NAMED_PER_PAGE * options.max_pages, _LEAST_NAMED)
    if way in ("auto", "llms_txt"):
        urls = await _fetch_llms_txt(fetcher, scope, limit)
        if urls:
            return Discovered(discovery="llms_txt", urls=urls)
    if way in ("auto", "inventory"):
        # Before the sitemap: that of a host with many versions names only where each begins.
        urls = await _fetch_inventory(fetcher, scope, limit)
        if urls:
            return Discovered(discovery="inventory", urls=urls)
    if way in ("auto", "sitemap"):
        urls = await _fetch_sitemaps(fetcher, url, scope, limit)
        if urls:
            return Discovered(discovery="sitemap", urls=urls)
    if way in ("auto", "links"):
        return Discovered(discovery="links", urls=(CrawlUrl(url=url),))
    name = {"llms_txt": "llms.txt", "inventory": "objects.inv"}.get(way, way)
    raise InvalidArgument(
        f"{url} has no {name} that names pages of the site",
        suggestion="Let the crawl follow links, or widen its scope and patterns.",
    )


async def _fetch_llms_txt(
    fetcher: Fetcher, scope: SiteScope, limit: int
) -> tuple[CrawlUrl, ...] | None:
    """Return the pages that the llms.txt of a folder or its host lists; None without one."""
    for name in _LLMS_TXT_NAMES:
        urls = await _fetch_list(fetcher, name, _llms_txt_urls, scope, limit)
        if urls is not None:
            return urls
    return None


async def _fetch_inventory(
    fetcher: Fetcher, scope: SiteScope, limit: int
) -> tuple[CrawlUrl, ...] | None:
    """Return the pages that the Sphinx inventory of a folder names; None without one."""
    return await _fetch_list(fetcher, INVENTORY_NAME, _inventory_urls, scope, limit)


async def _fetch_list(
    fetcher: Fetcher,
    name: str,
    parse: Callable[[bytes, str, SiteScope, int], list[str] | None],
    scope: SiteScope,
    limit: int,
) -> tuple[CrawlUrl, ...] | None:
    """Return what a file of the site names; None when there is no such file.

    What is out of scope is dropped in the process that parses the file: a list of hundreds of
    thousands would hold up this one.
    """
    address = resolve_url(scope.folder_url, name) or scope.folder_url
    try:
        body = await fetcher.fetch_file(address)
        urls = await fetcher.sandbox.run(parse, body, address, scope, limit)
    except (AddressRefused, FetchTimeout, HostUnreachable):
        raise
    except (FetchError, ExtractionError):
        return None  # whatever else a site answers, it has no such file
    return None if urls is None else tuple(CrawlUrl(url=url) for url in urls)


def _llms_txt_urls(body: bytes, address: str, scope: SiteScope, limit: int) -> list[str] | None:
    listed = parse_llms_txt(body, address=address)
    return None if listed is None else _in_scope(listed.urls, scope, limit)


def _inventory_urls(body: bytes, address: str, scope: SiteScope, limit: int) -> list[str] | None:
    plain = parse_inventory(body)
    if plain is None:
        return None
    found = (resolve_url(address, page) for page in name_inventory(plain).pages)
    # An inventory is in the order of the alphabet: of a large site a limit would leave out the end.
    listed = _in_scope((canonical_url(url) for url in found if url), scope, None)
    return _by_folder_in_turn(listed)[:limit]


def _in_scope(urls: Iterable[str], scope: SiteScope, limit: int | None) -> list[str]:
    return list(islice(dict.fromkeys(url for url in urls if scope.holds(url)), limit))


def _by_folder_in_turn(urls: Iterable[str]) -> list[str]:
    """Return the URLs with one of each folder after the other, and release notes last."""
    seen: Counter[str] = Counter()
    order: list[tuple[bool, int, str]] = []
    for url in urls:
        folder = url.rpartition("/")[0]
        is_release_note = not _RELEASE_NOTES.isdisjoint(_SEPARATORS.split(url.lower()))
        order.append((is_release_note, seen[folder], url))
        seen[folder] += 1
    return [url for *_, url in sorted(order, key=itemgetter(0, 1))]


async def _fetch_sitemaps(
    fetcher: Fetcher, url: str, scope: SiteScope, limit: int
) -> tuple[CrawlUrl, ...]:
    folder = scope.folder_url
    usual = [address for name in _SITEMAP_NAMES if (address := resolve_url(folder, name))]
    named = await fetcher.sitemaps_of(url)
    # Where robots.txt names sitemaps, the usual places hold the same or nothing.
    with asked_for([url]):
        found = await fetch_sitemaps(
            fetcher.fetch_file, named or usual, max_urls=limit, sandbox=fetcher.sandbox
        )
    return tuple(
        CrawlUrl(url=page.url, modified_at=page.modified_at)
        for page in found
        if scope.holds(page.url)
    )
