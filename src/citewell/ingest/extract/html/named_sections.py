"""Headings of pages that mark none: the lines that their contents lead to; what is no contents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.ingest.extract.characters import letters_of
from citewell.ingest.extract.html.element import HEADING_TAGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.ingest.extract.html.element import Element

_LIST_TAGS = frozenset({"ul", "ol", "dl"})
_LINE_TAGS = frozenset({"div", "p", "center"})
_MIN_LINES = 2
_LOWEST_LEVEL = 6
_HEADING_CHARACTERS = 40
_SYNOPSIS = re.compile(r"\W*(?:synopsis|usage|syntax)\W*", re.IGNORECASE)


def make_headings(entries: Sequence[tuple[Element, Element]]) -> bool:
    """Make headings of the places that links of a table of contents lead to; say if there are any.

    Each entry is a link and its place. Nothing is done where a place is a heading already: then
    the page marks its headings itself.
    """
    lines = [(link, line) for link, place in entries if (line := _line_of(link, place)) is not None]
    if len(lines) < _MIN_LINES or any(_is_heading(place) for _, place in entries):
        return False
    depths = [sum(above.tag in _LIST_TAGS for above in link.ancestors()) for link, _ in lines]
    for (_, line), depth in zip(lines, depths, strict=True):
        line.tag = f"h{min(2 + depth - min(depths), _LOWEST_LEVEL)}"
        for above in line.ancestors():
            above.has_heading = True
    return True


def calls_of(root: Element) -> set[Element]:
    """Return the paragraphs below a heading "Synopsis": their links to options are the call."""
    calls: set[Element] = set()
    is_below = False
    for element in root.walk():
        if element.tag in HEADING_TAGS:
            is_below = bool(_SYNOPSIS.fullmatch(element.text_start(_HEADING_CHARACTERS)))
        elif is_below and element.tag == "p":
            calls.add(element)
    return calls


def _line_of(link: Element, place: Element) -> Element | None:
    """Return the line that says what the link to it says, and no more."""
    words = letters_of(link.text())
    for element in (place, *place.ancestors()):
        if element.tag in _LINE_TAGS and not element.has_block:
            return element if letters_of(element.text()) == words else None
        if element.has_block:
            return None
    return None


def _is_heading(place: Element) -> bool:
    is_inside = any(e.tag in HEADING_TAGS for e in (place, *place.ancestors()))
    return is_inside or place.find(*HEADING_TAGS) is not None
