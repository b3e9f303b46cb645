"""Sitemaps: which pages a site says it has, and when each changed last."""

from __future__ import annotations

import logging
import re
import zlib
from itertools import islice
from typing import TYPE_CHECKING, cast
from xml.etree.ElementTree import ParseError, XMLPullParser

from citewell.core.errors import ExtractionError, FetchError, NotAUrl, UnsupportedContent
from citewell.core.frozen import frozen
from citewell.web.urls import canonical_url, resolve_url, shown_url

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from xml.etree.ElementTree import Element

    from citewell.web.sandbox import Sandbox

    FetchFile = Callable[[str], Awaitable[bytes]]

logger = logging.getLogger(__name__)

# What sitemaps.org allows of one file, uncompressed.
_MAX_SITEMAP_BYTES = 50 * 1024 * 1024
# An index of indexes is not allowed, but some sites have one.
_MAX_NESTING = 3
_MAX_FILES = 500
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP = zlib.MAX_WBITS | 16
_PIECE_BYTES = 64 * 1024
# No sitemap needs one, and its entities could grow without end.
_DOCTYPE = re.compile(rb"<!\s*(DOCTYPE|ENTITY)", re.IGNORECASE)


@frozen
class SitemapUrl:
    """A page that a sitemap names; `modified_at` as the site wrote it."""

    url: str
    modified_at: str | None = None


@frozen
class Sitemap:
    """What one file names: pages, and further sitemaps where it is an index."""

    urls: tuple[SitemapUrl, ...] = ()
    sitemaps: tuple[str, ...] = ()


async def fetch_sitemaps(
    fetch_file: FetchFile, addresses: Iterable[str], *, max_urls: int, sandbox: Sandbox
) -> list[SitemapUrl]:
    """Return the pages that these sitemaps and those they point to name, each once.

    A file that cannot be had or read is left out. At most `max_urls` are returned.
    """
    pages: dict[str, SitemapUrl] = {}
    seen: set[str] = set()
    waiting = [(address, 0) for address in addresses]
    while waiting and len(pages) < max_urls and len(seen) < _MAX_FILES:
        address, nesting = waiting.pop(0)
        if address in seen:
            continue
        seen.add(address)
        try:
            sitemap = await _parse_apart(await fetch_file(address), address, sandbox, max_urls)
        except (FetchError, ExtractionError, NotAUrl) as error:
            logger.info("no sitemap at %s: %s", shown_url(address), error.message)
            continue
        for page in sitemap.urls:
            pages.setdefault(page.url, page)
        if nesting < _MAX_NESTING:
            waiting.extend((url, nesting + 1) for url in sitemap.sitemaps)
    return list(pages.values())[:max_urls]


def parse_sitemap(body: bytes, *, address: str) -> Sitemap:
    """Return what a sitemap names: XML or a list of lines, compressed or not.

    What stands before a fault of the XML is returned.

    Raises:
        UnsupportedContent: it is no sitemap.
    """
    plain = _decompress(body, address) if body.startswith(_GZIP_MAGIC) else body
    if not plain.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return Sitemap(urls=tuple(_pages(address, _lines(plain))))
    # With zeros it is UTF-16, in which the pattern would find no declaration.
    if b"\0" in plain or _DOCTYPE.search(plain):
        raise UnsupportedContent(f"{shown_url(address)} is no sitemap")
    pages: list[tuple[str, str | None]] = []
    sitemaps: list[str] = []
    for element in _elements(plain):
        name = _local_name(element)
        location = _text_of(element, "loc")
        if name == "url" and location:
            pages.append((location, _text_of(element, "lastmod") or None))
        elif name == "sitemap" and location:
            sitemaps.append(location)
    resolved = (resolve_url(address, url) for url in sitemaps)
    return Sitemap(
        urls=tuple(_pages(address, pages)),
        sitemaps=tuple(url for url in resolved if url is not None),
    )


async def _parse_apart(body: bytes, address: str, sandbox: Sandbox, max_urls: int) -> Sitemap:
    pages, sitemaps = await sandbox.run(_parse_plainly, body, address, max_urls)
    urls = tuple(SitemapUrl(url=url, modified_at=modified_at) for url, modified_at in pages)
    return Sitemap(urls=urls, sitemaps=tuple(sitemaps))


def _parse_plainly(
    body: bytes, address: str, max_urls: int
) -> tuple[list[tuple[str, str | None]], list[str]]:
    """Return no more than will be used: taking over a million URLs would hold up others."""
    sitemap = parse_sitemap(body, address=address)
    pages: dict[str, str | None] = {}
    for page in sitemap.urls:
        pages.setdefault(page.url, page.modified_at)
    return list(islice(pages.items(), max_urls)), list(sitemap.sitemaps[:_MAX_FILES])


def _elements(body: bytes) -> Iterable[Element]:
    """Yield the elements as they end, up to the end or the first fault."""
    parser: XMLPullParser[Element] = XMLPullParser(["end"])
    try:
        for start in range(0, len(body), _PIECE_BYTES):
            parser.feed(body[start : start + _PIECE_BYTES])
            # Faults are raised here, too, after the elements that end before them.
            for event in parser.read_events():
                _, element = cast("tuple[str, Element]", event)
                yield element
                if _local_name(element) in ("url", "sitemap"):
                    element.clear()
    except (ParseError, ValueError, LookupError) as error:
        # The others are of encodings that the parser cannot read.
        logger.info("a sitemap is damaged: %s", error)


def _local_name(element: Element) -> str:
    return element.tag.rpartition("}")[2].lower()


def _text_of(element: Element, name: str) -> str:
    for child in element:
        if _local_name(child) == name:
            return (child.text or "").strip()
    return ""


def _lines(body: bytes) -> Iterable[tuple[str, str | None]]:
    for line in body.decode("utf-8-sig", "replace").splitlines():
        if line.strip().startswith(("http://", "https://")):
            yield line.strip(), None


def _pages(address: str, entries: Iterable[tuple[str, str | None]]) -> Iterable[SitemapUrl]:
    for location, modified_at in entries:
        url = resolve_url(address, location)
        try:
            if url is not None:
                yield SitemapUrl(url=canonical_url(url), modified_at=modified_at)
        except NotAUrl:
            continue  # one bad line says nothing of the others


def _decompress(body: bytes, address: str) -> bytes:
    inflater = zlib.decompressobj(_GZIP)
    try:
        plain = inflater.decompress(body, _MAX_SITEMAP_BYTES)
    except zlib.error as error:
        raise UnsupportedContent(f"{shown_url(address)} is damaged") from error
    if inflater.unconsumed_tail:
        raise UnsupportedContent(f"{shown_url(address)} is larger than a sitemap may be")
    return plain
