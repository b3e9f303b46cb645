"""Taking out the lines at the end of a page that say who made it, when and with what."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.ingest.extract.characters import letters_of
from citewell.ingest.extract.html.element import HEADING_TAGS
from citewell.ingest.extract.html.furniture import is_colophon, is_colophon_text, names_generator

if TYPE_CHECKING:
    from citewell.ingest.extract.html.element import Element
    from citewell.ingest.extract.html.measures import Measure

# Where less is left, the page itself is a notice of copyright.
_LEAST_BEFORE_COLOPHON = 60
_LABEL_CHARACTERS = 40
_RUNNING_HEAD_CHARACTERS = 120
_OPENING_ELEMENTS = 4
_LEGAL_HEADING = re.compile(r"copyright|licen[cs]|legal|authors?\b|credits", re.IGNORECASE)
_HOLDERS = frozenset("div section article main center form body".split())
# Of a table that only lays a page out, and of a list that is never closed.
_LAYOUT = frozenset("table tbody tr td font dl dd".split())


def take_out_colophon(root: Element, measures: dict[Element, Measure]) -> list[Element]:
    """Take out the last blocks of a page that say who made it, when and with what."""
    taken: list[Element] = []
    spare = measures[root].characters - _LEAST_BEFORE_COLOPHON
    holder: Element | None = root
    while holder is not None:
        start = len(holder.children)
        inner: Element | None = None
        for place in range(len(holder.children) - 1, -1, -1):
            node = holder.children[place]
            size = len(node.strip()) if isinstance(node, str) else measures[node].characters
            # What is left of a page beside the name of a generator can be ever so little.
            is_spare = size <= spare or names_generator(node)
            if is_spare and _is_colophon(node, measures):
                start = place
                spare -= size
            elif not _is_short(node, measures):
                if not isinstance(node, str) and start == len(holder.children):
                    inner = node
                break
        if _is_under_heading(holder, start):
            break
        taken.extend(node for node in holder.children[start:] if not isinstance(node, str))
        holder.children = holder.children[:start]
        is_holder = inner is not None and inner.has_block and _is_holder(inner, measures[inner])
        holder = inner if is_holder else None
    return [*taken, *_take_out_running_head(root, taken)]


def _take_out_running_head(root: Element, colophon: list[Element]) -> list[Element]:
    """Take out the line before the first heading whose words the colophon repeats."""
    said = letters_of(" ".join(element.text() for element in colophon))
    if not said:
        return []
    for element in root.elements()[:_OPENING_ELEMENTS]:
        if element.tag in HEADING_TAGS or element.has_heading:
            break
        words = letters_of(element.text_start(_RUNNING_HEAD_CHARACTERS + 1))
        if _LABEL_CHARACTERS // 4 <= len(words) <= _RUNNING_HEAD_CHARACTERS and words in said:
            element.remove()
            return [element]
    return []


def _is_holder(element: Element, own: Measure) -> bool:
    return element.tag in _HOLDERS or (element.tag in _LAYOUT and not own.has_table)


def _is_under_heading(holder: Element, place: int) -> bool:
    """Return whether what stands from `place` on belongs to a heading before it.

    It does where it is all that is headed, or where the heading announces it.
    """
    before = [node for node in holder.children[:place] if not isinstance(node, str) or node.strip()]
    if place == len(holder.children) or not before:
        # A description that is nothing else is that of the term before it.
        return holder.tag == "dd" and not before
    headings = [
        (at, node)
        for at, node in enumerate(before)
        if not isinstance(node, str) and node.tag in HEADING_TAGS - {"h1"}
    ]
    if not headings:
        return False
    at, heading = headings[-1]
    return at == len(before) - 1 or bool(_LEGAL_HEADING.search(heading.text()))


def _is_colophon(node: Element | str, measures: dict[Element, Measure]) -> bool:
    if isinstance(node, str):
        return is_colophon_text(node)
    return node.tag not in ("dt", "dd") and is_colophon(node, measures[node])


def _is_short(node: Element | str, measures: dict[Element, Measure]) -> bool:
    """Return whether a node can follow a colophon: a version, a date, a rule."""
    if isinstance(node, str):
        return len(node.strip()) <= _LABEL_CHARACTERS
    own = measures[node]
    return own.characters <= _LABEL_CHARACTERS and not own.headings and not own.has_code
