"""The fragments that lead to the headings of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.ingest.extract.html.element import HEADING_TAGS
from citewell.ingest.extract.html.inline import is_permalink

if TYPE_CHECKING:
    from citewell.ingest.extract.html.element import Element

_LIST_TAGS = ("li", "ul")


class HeadingAnchors:
    """Finds anchors; goes through the children of an element once, however many are headings."""

    def __init__(self) -> None:
        self._before: dict[Element, dict[Element, Element | None]] = {}
        self._first: dict[Element, Element | None] = {}

    def of(self, heading: Element) -> str | None:
        """Return the fragment that leads to a heading."""
        own = heading.attribute("id")
        if own:
            return own
        parent = heading.parent
        if parent is not None and parent.attribute("id") and self._opens(heading, parent):
            return parent.attribute("id")
        named = ""
        for child in heading.walk():
            if child.tag == "a" and is_permalink(child):
                fragment = child.attribute("href").partition("#")[2]
                if fragment:
                    return fragment
            named = child.attribute("id") or child.attribute("name") or named
        return named or self._anchor_before(heading)

    def _opens(self, heading: Element, parent: Element) -> bool:
        """Return whether the heading is that of the element around it."""
        before = self._siblings(parent)
        if before.get(heading) is None:
            return True
        if parent not in self._first:
            headings = (child for child in before if child.tag in HEADING_TAGS)
            self._first[parent] = next(headings, None)
        is_section = parent.tag == "section" or parent.has_class("section")
        return is_section and self._first[parent] is heading

    def _anchor_before(self, heading: Element) -> str | None:
        """Return the name of an empty element right before a heading, or of its section.

        Javadoc makes a list of each member, named before the list.
        """
        if heading.parent is None:
            return None
        before = self._siblings(heading.parent).get(heading)
        if before is not None and not before.text_start(1).strip():
            named = before.attribute("id") or before.attribute("name")
            inside = before.find("a")
            if not named and inside is not None:
                named = inside.attribute("id") or inside.attribute("name")
            if named:
                return named
        if heading.parent.tag in ("section", "hgroup", "header") and before is None:
            return heading.parent.attribute("id") or None
        if heading.parent.tag in _LIST_TAGS and before is None:
            return self._anchor_before(heading.parent)
        return None

    def _siblings(self, parent: Element) -> dict[Element, Element | None]:
        """Return the children of an element, each with the one before it."""
        known = self._before.get(parent)
        if known is None:
            children = parent.elements()
            known = dict(zip(children, (None, *children[:-1]), strict=True))
            self._before[parent] = known
        return known
