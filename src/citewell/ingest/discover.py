"""Where the URLs of a site come from: llms.txt, Sphinx inventory, sitemaps, or its own links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.core.errors import (
    AddressRefused,
    FetchError,
    FetchTimeout,
    HostUnreachable,
    InvalidArgument,
)
from citewell.core.library import CrawlUrl
from citewell.ingest.site_scope import SiteScope
from citewell.web.llms_txt import parse_llms_txt
from citewell.web.sitemap import read_sitemaps
from citewell.web.sphinx_inventory import INVENTORY_NAME, parse_inventory, read_inventory
from citewell.web.urls import canonical_url, resolve_url

if TYPE_CHECKING:
    from citewell.core.library import CrawlOptions, Discovery
    from citewell.web.fetcher import Fetcher

_SITEMAP_NAMES = ("sitemap.xml", "/sitemap.xml", "/sitemap_index.xml")
_LLMS_TXT_NAMES = ("llms.txt", "/llms.txt")
# Of those that a sitemap names some are out of scope, duplicates or unreadable.
_NAMED_PER_PAGE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovered:
    """The URLs to begin with, and where they came from."""

    discovery: Discovery
    urls: tuple[CrawlUrl, ...]


async def discover_urls(fetcher: Fetcher, url: str, options: CrawlOptions) -> Discovered:
    """Return the URLs that a site names, or its own URL where links are to be followed.

    Raises:
        InvalidArgument: the way that was asked for names no page of the site.
        FetchError: the site cannot be reached, or is in trouble.
    """
    scope = SiteScope(url, options)
    way = options.discovery
    if way in ("auto", "llms_txt"):
        listed = await _read_llms_txt(fetcher, scope.folder_url)
        if listed is not None:
            urls = tuple(CrawlUrl(url=each) for each in listed if scope.holds(each))
            if urls:
                return Discovered(discovery="llms_txt", urls=urls)
    if way in ("auto", "inventory"):
        # Before the sitemap: that of a host with many versions names only where each begins.
        pages = await _read_inventory(fetcher, scope.folder_url)
        urls = tuple(CrawlUrl(url=each) for each in pages if scope.holds(each))
        if urls:
            return Discovered(discovery="inventory", urls=urls)
    if way in ("auto", "sitemap"):
        urls = await _read_sitemaps(fetcher, url, scope, max_pages=options.max_pages)
        if urls:
            return Discovered(discovery="sitemap", urls=urls)
    if way in ("auto", "links"):
        return Discovered(discovery="links", urls=(CrawlUrl(url=url),))
    name = {"llms_txt": "llms.txt", "inventory": "objects.inv"}.get(way, way)
    raise InvalidArgument(
        f"{url} has no {name} that names pages of the site",
        suggestion="Let the crawl follow links, or widen its scope and patterns.",
    )


def _listed_urls(body: bytes, address: str) -> list[str] | None:
    listed = parse_llms_txt(body, address=address)
    return None if listed is None else list(listed.urls)


async def _read_llms_txt(fetcher: Fetcher, url: str) -> list[str] | None:
    """Return the URLs that the llms.txt of a folder or its host lists; None without one."""
    for name in _LLMS_TXT_NAMES:
        address = resolve_url(url, name)
        try:
            body = await fetcher.fetch_file(address or url)
        except (AddressRefused, FetchTimeout, HostUnreachable):
            raise
        except FetchError:
            continue  # whatever else a site answers, it has no such file
        listed = await fetcher.sandbox.run(_listed_urls, body, address or url)
        if listed is not None:
            return listed
    return None


async def _read_inventory(fetcher: Fetcher, folder_url: str) -> list[str]:
    """Return the pages that the Sphinx inventory of a folder names; none without one."""
    address = resolve_url(folder_url, INVENTORY_NAME) or folder_url
    try:
        body = await fetcher.fetch_file(address)
    except (AddressRefused, FetchTimeout, HostUnreachable):
        raise
    except FetchError:
        return []  # whatever else a site answers, it has no such file
    plain = await fetcher.sandbox.run(parse_inventory, body)
    pages = () if plain is None else read_inventory(plain).pages
    urls = [canonical_url(url) for page in pages if (url := resolve_url(address, page))]
    return list(dict.fromkeys(urls))


async def _read_sitemaps(
    fetcher: Fetcher, url: str, scope: SiteScope, *, max_pages: int
) -> tuple[CrawlUrl, ...]:
    folder = scope.folder_url
    usual = [address for name in _SITEMAP_NAMES if (address := resolve_url(folder, name))]
    named = await fetcher.sitemaps_of(url)
    limit = _NAMED_PER_PAGE * max_pages
    # Where robots.txt names sitemaps, the usual places hold the same or nothing.
    found = await read_sitemaps(
        fetcher.fetch_file, named or usual, max_urls=max(limit, 1_000), sandbox=fetcher.sandbox
    )
    return tuple(
        CrawlUrl(url=page.url, modified_at=page.modified_at)
        for page in found
        if scope.holds(page.url)
    )
