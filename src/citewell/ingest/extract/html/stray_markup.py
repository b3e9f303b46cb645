"""Elements that generators write out of their place, put where a reader sees them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.ingest.extract.html.element import Element

if TYPE_CHECKING:
    from collections.abc import Callable

    from citewell.ingest.extract.html.tree import Document
    from citewell.ingest.extract.links import LinkResolver

_HOLDERS = {"li": ("ul", "ol", "menu", "dir"), "dt": ("dl",), "dd": ("dl",)}
_SEPARATORS = " \t\r\n\xa0[]|·•"
_MIN_BAR_LINKS = 2
_BOXES = frozenset({"div", "main", "section", "center"})
# So many links that stand in no element of their own make a bar: an alphabet, a list of years.
_MIN_LOOSE_LINKS = 8


def put_in_place(document: Document, links: LinkResolver) -> Document:
    """Return a page whose items stand in lists, terms in definition lists, bars in elements.

    What rustdoc shows to the right of a declaration comes after it, and links that name the page
    itself name the place on it alone.
    """
    around: dict[Element, None] = {}
    is_changed = False
    for element in document.elements:
        if element.tag in _HOLDERS:
            if element.parent is not None and not _holds(element.parent, element.tag):
                around[element.parent] = None
            continue
        if element.tag == "a":
            _shorten(element, links)
        if " rightside " in element.names:
            is_changed |= _put_last(element)
    for parent in around:
        _gather(parent)
    is_changed |= _wrap_runs(document.body, "div", _is_link, least=_MIN_BAR_LINKS)
    for parent in _holders_of_loose_links(document):
        is_changed |= _wrap_runs(parent, "div", _is_link, least=_MIN_LOOSE_LINKS)
    if not (is_changed or around):
        return document
    return replace(document, elements=[document.body, *document.body.walk()])


def _holders_of_loose_links(document: Document) -> list[Element]:
    """Return the boxes, but the body, that hold many links beside each other."""
    parents = (e.parent for e in document.elements if e.tag == "a" and e.parent is not None)
    counts = Counter(parent for parent in parents if parent.tag in _BOXES)
    return [parent for parent, count in counts.items() if count >= _MIN_LOOSE_LINKS]


def _holds(parent: Element, tag: str) -> bool:
    """Return whether an item or a term may stand in an element; HTML groups terms in <div>."""
    if parent.tag == "div" and tag != "li" and parent.parent is not None:
        parent = parent.parent
    return parent.tag in _HOLDERS[tag]


def _shorten(link: Element, links: LinkResolver) -> None:
    page, mark, place = (link.attributes.get("href") or "").partition("#")
    if page and mark and place:
        url = links.resolve(page)
        if url is not None and not links.leads_elsewhere(url):
            link.attributes["href"] = "#" + place


def _put_last(element: Element) -> bool:
    """Move what stands before a heading, and is shown at its right, behind it."""
    parent = element.parent
    if parent is None or not parent.has_heading or parent.children[0] is not element:
        return False
    parent.children = [*parent.children[1:], element]
    return True


def _gather(parent: Element) -> None:
    """Make items without a list, and terms without one, the list that a browser shows."""
    tags = {child.tag for child in parent.elements()}
    if parent.tag == "dl" and tags.isdisjoint(("dt", "dd")):
        parent.tag = "ul"
        return
    if parent.tag != "dl":
        _wrap_runs(parent, "ul", lambda child: child.tag == "li")
        _wrap_runs(parent, "dl", lambda child: child.tag in ("dt", "dd"))


def _is_link(child: Element) -> bool:
    return child.tag == "a" and "href" in child.attributes and not child.has_block


def _wrap_runs(
    parent: Element, tag: str, is_part: Callable[[Element], bool], *, least: int = 1
) -> bool:
    """Put children that follow each other, with nothing but space between, into an element."""
    children: list[Element | str] = []
    run: list[Element | str] = []
    is_changed = False
    for child in [*parent.children, None]:
        if child is not None and (
            _is_between(child, run, tag)
            if isinstance(child, str) or _parts(child, tag)
            else is_part(child)
        ):
            run.append(child)
            continue
        # Words before or after a run of links make it part of a sentence.
        is_free = tag != "div" or not (_is_words(children[-1:]) or isinstance(child, str))
        if is_free and sum(not _parts(node, tag) for node in run) >= least:
            children.append(_wrapped(run, tag, parent))
            is_changed = True
        else:
            children.extend(run)
        run = []
        if child is not None:
            children.append(child)
    if is_changed:
        parent.children = children
    return is_changed


def _parts(node: Element | str, tag: str) -> bool:
    """Return whether a node is text, or a line break between links."""
    return isinstance(node, str) or (tag == "div" and node.tag == "br")


def _is_between(node: Element | str, run: list[Element | str], tag: str) -> bool:
    """Return whether a node only parts the elements of a run, as brackets do links."""
    if not isinstance(node, str) or node.isspace():
        return bool(run)
    return tag == "div" and not node.strip(_SEPARATORS)


def _is_words(nodes: list[Element | str]) -> bool:
    return any(isinstance(node, str) and bool(node.strip(_SEPARATORS)) for node in nodes)


def _wrapped(run: list[Element | str], tag: str, parent: Element) -> Element:
    box = Element(tag, {}, parent)
    box.children = run
    for node in run:
        if not isinstance(node, str):
            node.parent = box
            box.has_block |= node.has_block or tag != "div"
            box.has_heading |= node.has_heading
    parent.has_block = True
    return box
