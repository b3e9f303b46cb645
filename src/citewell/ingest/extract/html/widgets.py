"""Tabs, tables and boxes that scripts and style sheets make of plain elements, as shown."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.ingest.extract.characters import collapse_spaces
from citewell.ingest.extract.html.element import Element

if TYPE_CHECKING:
    from citewell.ingest.extract.html.tree import Document

_TABLE_TAGS = {
    "row": "tr", "rowgroup": "tbody", "cell": "td", "gridcell": "td", "columnheader": "th",
    "rowheader": "th",
}  # fmt: skip
# What stands over its panels without a role: Material for MkDocs, VitePress, Asciidoctor Tabs.
_TAB_LISTS = ("tabbed-labels", "tabs", "tablist")
_TABS = frozenset({"label", "li"})
_PANEL_HOLDERS = ("tabbed-content", "blocks")
# From a list of tabs up to what also holds the panels.
_STEPS_TO_PANELS = 3
# A page can have 10,000 lists of tabs without a panel.
_MOST_LISTS, _MOST_STEPS = 300, 500
_MAX_LABEL_CHARACTERS = 80
# As utility classes write it, with or without a prefix; and an element's own style.
_FLEX = re.compile(r"(?<= )_?(?:(?:d|sl|is|sm|md|lg|xl)-){0,2}(?:inline-)?(?:flex|grid)(?= )")
_SET_APART = re.compile(r"(?:^|;)\s*display\s*:\s*(?:block|flex|grid|table|list-item)\b")
_CODE_TAGS = frozenset({"pre", "code"})
_BESIDE_CODE = ("line-numbers-wrapper", "line-numbers-rows")
# As Javadoc lays out its summaries.
_COLUMNS = {"two-column-summary": 2, "three-column-summary": 3, "four-column-summary": 4}
_COPY = re.compile(r"cop(?:y|ied)(?: code| to clipboard)?!?", re.IGNORECASE)


def lay_out_widgets(document: Document) -> Document:
    """Return a page with each tab's name over its panel, and tables of roles as tables.

    What a style sheet sets side by side is parted by a space, and what it sets beside a listing
    (numbers of lines, the language, a word to copy by) is taken out.
    """
    lists: list[Element] = []
    is_changed = False
    for element in document.elements:
        if not element.attributes:
            continue
        if _is_tab_list(element):
            lists.append(element)
        else:
            is_changed |= _reshape(element)
        if _is_beside_code(element):
            element.remove()
            is_changed = True
        else:
            _set_apart(element)
    if lists:
        panels = _NamedPanels(document)
        for tab_list in lists[:_MOST_LISTS]:
            is_changed |= _name_panels(tab_list, panels)
    if not is_changed:
        return document
    return replace(document, elements=[document.body, *document.body.walk()])


def _is_tab_list(element: Element) -> bool:
    if element.attributes.get("role") == "tablist":
        return True
    is_named = bool(element.names) and element.has_class(*_TAB_LISTS)
    return is_named and not any("role" in below.attributes for below in element.walk())


def _reshape(element: Element) -> bool:
    """Make the table or the listing of an element that is shown as one; say if that adds any."""
    if element.names and element.has_class("summary-table"):
        return _make_grid(element)
    if element.names and element.has_class("sd-tab-label"):
        element.tag = "strong"
    elif element.names and element.has_class("redoc-json"):
        _make_listing(element)
    elif element.attributes.get("role") == "table" and element.tag != "table":
        _make_table(element)
    return False


class _NamedPanels:
    """The panels of a page by the tab that names them, or that they name."""

    def __init__(self, document: Document) -> None:
        named = [e for e in document.elements if e.attributes]
        self._by_id = {e.attribute("id"): e for e in named if "id" in e.attributes}
        self._by_tab = {
            e.attribute("aria-labelledby"): e for e in named if "aria-labelledby" in e.attributes
        }

    def of(self, tabs: list[Element]) -> list[Element]:
        """Return the panel of each tab; none unless all have one of their own."""
        found = [
            self._by_id.get(tab.attribute("aria-controls")) or self._by_tab.get(tab.attribute("id"))
            for tab in tabs
        ]
        panels = [panel for panel in found if panel is not None]
        return panels if len(panels) == len(set(panels)) == len(tabs) else []


def _name_panels(tab_list: Element, named: _NamedPanels) -> bool:
    """Move the name of each tab to the start of its panel, if all of them have one."""
    tabs = [e for e in tab_list.walk() if e.attributes.get("role") == "tab"]
    tabs = tabs or [e for e in tab_list.walk() if e.tag in _TABS]
    labels = [collapse_spaces(tab.text()) for tab in tabs]
    if not tabs or not all(0 < len(label) <= _MAX_LABEL_CHARACTERS for label in labels):
        return False
    panels = named.of(tabs) or _panels_by_place(tab_list, len(tabs))
    if not panels or any(tab_list in panel.ancestors() for panel in panels):
        return False
    for label, panel in zip(labels, panels, strict=True):
        name = Element("p", {}, panel)
        name.children.append(Element("strong", {}, name))
        name.elements()[0].children.append(label)
        panel.children.insert(0, name)
        panel.has_block = True
    tab_list.remove()
    return True


def _panels_by_place(tab_list: Element, count: int) -> list[Element]:
    """Return as many panels around a list of tabs, in their order."""
    for _, around in zip(range(_STEPS_TO_PANELS), tab_list.ancestors(), strict=False):
        panels: list[Element] = []
        stack = around.elements()[::-1]
        for _ in range(_MOST_STEPS):
            if not stack:
                break
            element = stack.pop()
            if element is tab_list:
                continue
            if element.attributes.get("role") == "tabpanel":
                panels.append(element)
            elif element.names and element.has_class(*_PANEL_HOLDERS):
                panels.extend(element.elements())
            else:
                stack.extend(element.elements()[::-1])
        if panels:
            return panels if len(panels) == count else []
    return []


def _make_table(element: Element) -> None:
    parts = [
        (part, _TABLE_TAGS[role])
        for part in element.walk()
        if (role := part.attributes.get("role") or "") in _TABLE_TAGS
    ]
    if not any(tag in ("td", "th") for _, tag in parts):
        return
    element.tag = "table"
    for part, tag in parts:
        part.tag = tag
        for around in part.ancestors():
            around.has_block = True
            if around is element:
                break


def _make_grid(element: Element) -> bool:
    """Make a table of cells that only a style sheet sets in rows."""
    width = next((count for name, count in _COLUMNS.items() if element.has_class(name)), 0)
    cells = element.elements()
    if not width or len(cells) % width or not all(e.tag == "div" for e in cells):
        return False
    element.tag, element.children = "table", []
    for start in range(0, len(cells), width):
        row = Element("tr", {}, element)
        row.has_block = element.has_block = True
        row.children.extend(cells[start : start + width])
        element.children.append(row)
        for cell in row.elements():
            cell.tag, cell.parent = ("th" if cell.has_class("table-header") else "td"), row
    return True


def _make_listing(box: Element) -> None:
    """Make a listing of the lists that a viewer of JSON folds."""
    lines: list[str] = [""]

    def write(node: Element | str, depth: int) -> None:
        if isinstance(node, str):
            lines[-1] += node
            return
        if node.tag == "li":
            lines.append("  " * depth)
        for child in node.children:
            write(child, depth + (not isinstance(child, str) and child.tag == "ul"))
        if node.tag == "ul":
            lines.append("  " * (depth - 1))

    write(box, 0)
    box.tag, box.has_block, box.children = "pre", False, ["\n".join(lines)]
    box.attributes = {**box.attributes, "data-lang": "json"}


def _set_apart(element: Element) -> None:
    """Part by a space what is not shown as one run of text, but in code."""
    is_flex = bool(element.names and _FLEX.search(element.names))
    if not is_flex and not _SET_APART.search(element.attributes.get("style") or ""):
        return
    if any(around.tag in _CODE_TAGS for around in (element, *element.ancestors())):
        return
    if not is_flex:
        element.children = [" ", *element.children, " "]
        return
    parted: list[Element | str] = [" "]
    for child in element.children:
        parted += (child, " ")
    element.children = parted


def _is_beside_code(element: Element) -> bool:
    around = element.parent
    if around is None:
        return False
    if element.names and element.has_class(*_BESIDE_CODE):
        return not element.text().strip("0123456789 \n\t")
    if element.names and element.has_class("lang") and " language-" in around.names:
        return f" language-{element.text().strip().lower()} " in around.names
    is_unspoken = element.attributes.get("aria-hidden") == "true"
    return is_unspoken and bool(_COPY.fullmatch(element.text_start(20).strip()))
