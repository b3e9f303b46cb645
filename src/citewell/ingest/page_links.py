"""What a crawler takes from a page beside its text: its links, and what it asks of crawlers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from citewell.core.errors import NotAUrl
from citewell.core.frozen import frozen
from citewell.web.urls import canonical_url, resolve_url

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citewell.core.records import FetchedPage, Link

_MAX_LINKS = 5_000
_SEPARATORS = re.compile(r"[\s,:]+")
_UNFOLLOWED = frozenset({"nofollow", "sponsored", "ugc"})


@frozen
class CrawlerView:
    """What a page offers a crawler."""

    may_index: bool
    links: tuple[str, ...]
    """Canonical URLs, each once; none where the page asks that none be followed."""


def crawler_view(fetched: FetchedPage, links: Iterable[Link]) -> CrawlerView:
    """Return the links of the whole page, menus included, and whether it may be indexed.

    `links` are those that were extracted; they count for pages that are not HTML.
    """
    asked = _words(fetched.robots_tag)
    if fetched.kind != "html":
        found = [link.url for link in links]
    else:
        document = LexborHTMLParser(fetched.text)
        for node in document.css("meta[name='robots' i], meta[name='citewell' i]"):
            asked |= _words(node.attributes.get("content") or "")
        found = list(_hrefs(document, fetched.final_url))
    may_follow = not asked & {"nofollow", "none"}
    return CrawlerView(
        may_index=not asked & {"noindex", "none"},
        links=tuple(_canonical(found)) if may_follow else (),
    )


def _words(directives: str) -> set[str]:
    return set(_SEPARATORS.split(directives.lower()))


def _hrefs(document: LexborHTMLParser, page_url: str) -> Iterable[str]:
    base_node = document.css_first("base[href]")
    base_href = (base_node.attributes.get("href") or "") if base_node is not None else ""
    base = resolve_url(page_url, base_href) or page_url
    for node in document.css("a[href], area[href]"):
        relations = set((node.attributes.get("rel") or "").lower().split())
        target = resolve_url(base, (node.attributes.get("href") or "").strip())
        if target is not None and not relations & _UNFOLLOWED:
            yield target


def _canonical(urls: Iterable[str]) -> Iterable[str]:
    seen: set[str] = set()
    for url in urls:
        try:
            address = canonical_url(url)
        except NotAUrl:
            continue  # one bad link says nothing of the others
        if address not in seen:
            seen.add(address)
            yield address
        if len(seen) == _MAX_LINKS:
            return
