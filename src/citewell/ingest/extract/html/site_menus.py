"""Telling a site's menu from a page's own lists by the place that the page has in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.ingest.extract.html.element import HEADING_TAGS
from citewell.ingest.extract.html.navigation_bar import is_in_sentence

if TYPE_CHECKING:
    from citewell.ingest.extract.html.element import Element
    from citewell.ingest.extract.html.measures import Measure
    from citewell.ingest.extract.html.tree import Document
    from citewell.ingest.extract.links import LinkResolver

CONTENTS_TAGS = frozenset("ul ol div table dl p section details".split())
_TREE_SHARE = 0.7
_TABLE_SHARE = 0.95
# A list "see also" may name the page itself; one as long as this is no such list.
_MIN_TREE_LINKS = 25
_MIN_MARKED_LINKS = 5
_CURRENT = re.compile(
    r" (?:current|active|selected|toc_current|is-active|tocviewselflink|current-page) "
)
# In one line at the very start of a page, so few are a menu.
_MIN_BAR_LINKS = 4
_BAR_TAGS = frozenset("p div center td".split())
_MAX_NODES = 80
# In a row of cells, the name of the site can stand beside them.
_ROW_SHARE = 0.6
_BETWEEN_LINKS = re.compile(r"[\s|·•/\[\]:,-]*")


def trees_of_the_site(
    document: Document, measures: dict[Element, Measure], links: LinkResolver
) -> set[Element]:
    """Return lists of links to other pages in which the page itself has its place.

    What a page says of others leaves itself out; a site's menu marks where its reader is.
    """
    trees: set[Element] = set()
    is_opening = True
    for element in document.elements:
        is_opening = is_opening and not _is_said(element, measures[element])
        if is_opening and _is_own_link(element, links):
            trees.update(_bars_around(element, measures))
        least = _least_tree_links(element, links)
        if least is None:
            continue
        tree: Element | None = None
        for above in (element, *element.ancestors()):
            own = measures[above]
            if own.holds_content or own.link_share < _TREE_SHARE:
                break
            if own.is_table and own.link_share < _TABLE_SHARE:
                # Marks beside each link: a table of what the links are.
                break
            leads_away = own.links >= least and 2 * own.local < own.linked
            if above.tag in CONTENTS_TAGS and leads_away:
                tree = above
        if tree is not None:
            trees.add(tree)
    return trees


def _least_tree_links(element: Element, links: LinkResolver) -> int | None:
    """Return from how many links on an element shows a list to be a menu; None when it does not."""
    is_marked = element.attributes.get("aria-current") == "page"
    if is_marked or (element.names and _CURRENT.search(element.names)):
        return _MIN_MARKED_LINKS
    is_own = _is_own_link(element, links) and not is_in_sentence(element)
    return _MIN_TREE_LINKS if is_own else None


def _is_own_link(element: Element, links: LinkResolver) -> bool:
    """Return whether an element is a link to the page that it stands on."""
    href = element.attribute("href") if element.tag == "a" else ""
    # A fragment of the page by its full name is an entry of its own contents.
    url = links.resolve(href) if href and "#" not in href else None
    return url is not None and not links.leads_elsewhere(url)


def _is_said(element: Element, own: Measure) -> bool:
    """Return whether an element is a heading or running text, after which no menu opens a page."""
    if element.tag in HEADING_TAGS:
        return own.characters > 0
    return own.prose > 0 and not element.has_block


def _bars_around(link: Element, measures: dict[Element, Measure]) -> list[Element]:
    """Return the line of links, or the row of cells with links, in which a link stands."""
    around = link.parent
    if around is not None and _is_bar(around):
        return [around]
    table = next((above for above in link.ancestors() if above.tag == "table"), None)
    own = measures.get(table) if table is not None else None
    if table is None or own is None or own.holds_content or own.links < _MIN_BAR_LINKS:
        return []
    if own.link_share < _ROW_SHARE or own.size > _MAX_NODES:
        return []
    return [table] if sum(below.tag == "tr" for below in table.walk()) == 1 else []


def _is_bar(element: Element) -> bool:
    """Return whether an element is a line of links, with nothing but signs between them."""
    if element.tag not in _BAR_TAGS or not _MIN_BAR_LINKS <= len(element.children) <= _MAX_NODES:
        return False
    inside = element.elements()
    between = (child for child in element.children if isinstance(child, str))
    return (
        sum(child.tag == "a" for child in inside) >= _MIN_BAR_LINKS
        and all(child.tag in ("a", "br") for child in inside)
        and all(_BETWEEN_LINKS.fullmatch(text) for text in between)
    )
