"""What Doxygen shows over the names of a listing: their declarations, and where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.ingest.extract.canonical import visible_text
from citewell.ingest.extract.html.element import Element

if TYPE_CHECKING:
    from citewell.ingest.extract.html.renderer import Renderer

_CODE_PARTS = ("ttname", "ttdeci")
_PARTS = (*_CODE_PARTS, "ttdoc", "ttdef", "ttdecl")


def is_tooltip(element: Element) -> bool:
    """Return whether an element is a tooltip of the listing around it, with a name first.

    Anywhere else its class says nothing about what a reader could see.
    """
    if element.tag != "div" or not element.has_class("ttc") or element.parent is None:
        return False
    parts = element.elements()
    is_plain = all(part.tag == "div" and part.has_class(*_PARTS) for part in parts)
    return is_plain and element.parent.has_class("fragment") and parts[:1] != []


def render_tooltips(listing: Element, renderer: Renderer) -> list[str]:
    """Return the tooltips of a listing as one list, the parts of each on lines of their own."""
    tooltips = [element for element in listing.elements() if is_tooltip(element)]
    items = [item for item in (_item(tooltip, renderer) for tooltip in tooltips) if item]
    return ["\n".join(items)] if items else []


def _item(tooltip: Element, renderer: Renderer) -> str:
    lines = [_line(part, renderer) for part in tooltip.elements()]
    # A type without a declaration of its own is declared by its name.
    shown = dict.fromkeys(line for line in lines if visible_text(line))
    return "- " + "\n  ".join(shown) if shown else ""


def _line(part: Element, renderer: Renderer) -> str:
    if not part.has_class(*_CODE_PARTS):
        return renderer.plain_line(part.children)
    # Its link stands in the listing, too.
    code = Element("code", {}, part)
    code.children.append(part.text())
    return renderer.line([code])
