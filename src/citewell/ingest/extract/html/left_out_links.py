"""Links that left with their text: nothing to quote, yet ways to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.records import Link
from citewell.core.text import one_line
from citewell.ingest.extract.html.images import picture_name
from citewell.ingest.extract.links import is_anchor
from citewell.web.urls import without_anchor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citewell.core.records import LinkKind
    from citewell.ingest.extract.canonical import CanonicalText
    from citewell.ingest.extract.html.element import Element
    from citewell.ingest.extract.html.main_content import MainContent
    from citewell.ingest.extract.html.tree import Document
    from citewell.ingest.extract.links import LinkResolver

_MOST_LINKS = 1_000
_CONTEXT_CHARACTERS = 200
# The frame of a site repeats on every page: its links say nothing about this one.
_FRAME_TAGS = frozenset({"nav", "header", "footer", "aside", "form"})
_FRAME_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary"})


def left_out_links(
    document: Document, content: MainContent, canonical: CanonicalText, links: LinkResolver
) -> tuple[Link, ...]:
    """Return the links of the page that its canonical text lacks, each URL once.

    They stand at the very end of the text, so no chunk and no quote ever holds them.
    """
    known = {link.url for link in canonical.links}
    in_furniture = _links_below(content.furniture)
    left_out: dict[str, Link] = {}
    for element in document.elements:
        if element.tag != "a" or len(left_out) == _MOST_LINKS:
            continue
        href = element.attribute("href")
        url = "" if is_anchor(href) else without_anchor(links.resolve(href) or "")
        if not url or url in known or url in left_out or not links.leads_elsewhere(url):
            continue
        text = one_line(element.text() or element.attribute("title") or picture_name(element))
        if not text:
            continue
        is_navigation = element in in_furniture or (content.is_article and _is_framed(element))
        kind: LinkKind = "navigation" if is_navigation else "contents"
        left_out[url] = Link(
            url=url,
            text=text,
            context=text if is_navigation else _words_around(element, text),
            section=canonical.sections[-1].ordinal,
            start=len(canonical.text) - 1,
            kind=kind,
        )
    return tuple(left_out.values())


def _links_below(elements: Iterable[Element]) -> set[Element]:
    return {below for element in elements for below in element.walk() if below.tag == "a"}


def _words_around(element: Element, text: str) -> str:
    around = element.parent.text() if element.parent is not None else text
    return one_line(around, limit=_CONTEXT_CHARACTERS)


def _is_framed(element: Element) -> bool:
    return any(
        above.tag in _FRAME_TAGS or above.attributes.get("role") in _FRAME_ROLES
        for above in element.ancestors()
    )
