"""Links that left with the lists they stood in: nothing to quote, yet ways to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.records import Link
from citewell.core.text import one_line
from citewell.ingest.extract.links import is_anchor
from citewell.web.urls import without_anchor

if TYPE_CHECKING:
    from citewell.ingest.extract.canonical import CanonicalText
    from citewell.ingest.extract.html.element import Element
    from citewell.ingest.extract.html.tree import Document
    from citewell.ingest.extract.links import LinkResolver

_MOST_LINKS = 200
_CONTEXT_CHARACTERS = 200
# The frame of a site repeats on every page: its links say nothing about this one.
_FRAME_TAGS = frozenset({"nav", "header", "footer", "aside", "form"})
_FRAME_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary"})


def left_out_links(
    document: Document, canonical: CanonicalText, links: LinkResolver
) -> tuple[Link, ...]:
    """Return the links of the body, outside the site's frame, that the canonical text lacks.

    They stand at the very end of the text, so no chunk and no quote ever holds them.
    """
    known = {link.url for link in canonical.links}
    found: dict[str, Link] = {}
    for element in document.elements:
        if element.tag != "a" or len(found) == _MOST_LINKS or _is_framed(element):
            continue
        href = element.attribute("href")
        url = "" if is_anchor(href) else without_anchor(links.resolve(href) or "")
        text = one_line(element.text())
        if not url or not text or url in known or not links.leads_elsewhere(url):
            continue
        around = element.parent.text() if element.parent is not None else text
        found.setdefault(
            url,
            Link(
                url=url,
                text=text,
                context=one_line(around, limit=_CONTEXT_CHARACTERS),
                section=canonical.sections[-1].ordinal,
                start=len(canonical.text) - 1,
            ),
        )
    return tuple(found.values())


def _is_framed(element: Element) -> bool:
    return any(
        above.tag in _FRAME_TAGS or above.attributes.get("role") in _FRAME_ROLES
        for above in element.ancestors()
    )
