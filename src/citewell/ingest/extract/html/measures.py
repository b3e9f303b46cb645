"""What each element of a page holds: text, links, running text, headings, code and data tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.ingest.extract.html.element import BLOCK_TAGS, HEADING_TAGS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citewell.ingest.extract.html.element import Element

# A shorter line outside links is a label; Chinese and Japanese say as much in a third of it.
_PROSE_CHARACTERS = 60
_DENSE_PROSE_CHARACTERS = 22
_MOST_LINKED_CELLS = 0.7
_MAIN_TAGS = frozenset({"main", "article", "h1"})
_LAYOUT_TAGS = HEADING_TAGS | {"table", "form", "pre"}


class Measure:
    """What lies inside one element, everything below it included."""

    __slots__ = ("cells", "characters", "has_code", "has_layout", "has_main", "has_table",
                 "headings", "is_table", "linked", "links", "local", "prose", "rows", "size",
                 "titled")  # fmt: skip

    def __init__(self) -> None:
        self.characters = 0
        self.linked = 0
        self.local = 0
        """Characters of links that lead to a place on the same page."""
        self.links = 0
        self.prose = 0
        """Characters of running text, links left out."""
        self.headings = 0
        self.has_code = False
        self.has_table = False
        """Whether it is or holds a table of data, not of links and not for layout."""
        self.has_main = False
        """Whether it is or holds a page's title or what the page calls its main part."""
        self.is_table = False
        """Whether it is a table whose cells hold neither headings, forms, code nor tables."""
        self.has_layout = False
        """Whether it holds what no cell of a data table holds."""
        self.cells = 0
        self.rows = 0
        self.size = 1
        """Elements, itself included."""
        self.titled = 0
        """Characters of headings."""

    @property
    def link_share(self) -> float:
        """The share of the characters that are links."""
        return self.linked / self.characters if self.characters else 0.0

    @property
    def holds_content(self) -> bool:
        """Whether it holds a heading, running text, code or data."""
        return bool(self.headings or self.prose or self.has_code or self.has_table)

    def add(self, other: Measure, sign: int = 1) -> None:
        """Add what another element holds, or take it away."""
        self.characters += sign * other.characters
        self.linked += sign * other.linked
        self.local += sign * other.local
        self.links += sign * other.links
        self.prose += sign * other.prose
        self.headings += sign * other.headings
        self.size += sign * other.size
        self.titled += sign * other.titled


def measure(elements: Iterable[Element]) -> dict[Element, Measure]:
    """Measure elements given in document order."""
    ordered = list(elements)
    measures = {element: Measure() for element in ordered}
    for element in reversed(ordered):
        own = measures[element]
        _complete(element, own)
        parent = measures.get(element.parent) if element.parent is not None else None
        if parent is not None:
            parent.add(own)
            parent.has_code |= own.has_code
            parent.has_table |= own.has_table
            parent.has_main |= own.has_main
            parent.has_layout |= own.has_layout or element.tag in _LAYOUT_TAGS
            parent.cells += own.cells
            parent.rows += own.rows
    return measures


def _complete(element: Element, own: Measure) -> None:
    """Add what an element is to what lies below it."""
    tag = element.tag
    text = 0
    is_ascii = True
    for child in element.children:
        if isinstance(child, str):
            text += len(child.strip())
            is_ascii = is_ascii and child.isascii()
    own.characters += text
    _count_tag(element, own)
    if tag in BLOCK_TAGS and tag not in HEADING_TAGS:
        unlinked = text if element.has_block else own.characters - own.linked
        least = _PROSE_CHARACTERS if is_ascii or not _is_dense(element) else _DENSE_PROSE_CHARACTERS
        if unlinked >= least and (element.has_block or unlinked > own.linked):
            own.prose += unlinked


def _count_tag(element: Element, own: Measure) -> None:
    tag = element.tag
    if tag in _MAIN_TAGS or element.attributes.get("role") == "main":
        # A title that is nothing but a link names the site.
        own.has_main |= own.characters > (own.linked if tag == "h1" else 0)
    if tag == "a":
        href = element.attributes.get("href")
        if href is not None:
            own.linked = own.characters
            own.links = 1
            own.local = own.characters if href.startswith("#") else 0
    elif tag in HEADING_TAGS:
        own.headings += bool(own.characters)
        own.titled = own.characters
    elif tag == "pre":
        own.has_code |= bool(own.characters)
    elif tag in ("td", "th"):
        own.cells = 1
    elif tag == "tr":
        own.rows = 1
    elif tag == "table":
        own.is_table = own.rows > 1 and own.cells > own.rows and not own.has_layout
        own.has_table |= own.is_table and own.link_share < _MOST_LINKED_CELLS
        own.cells = own.rows = 0


def _is_dense(element: Element) -> bool:
    """Return whether text is written without spaces, as Chinese and Japanese are."""
    return any(
        "\u3040" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7af"
        for child in element.children
        if isinstance(child, str)
        for letter in child[:40]
    )
