"""Lists and definition lists as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.ingest.extract.canonical import (
    MARK_END,
    MARK_START,
    has_words,
    join_blocks,
    plain_text,
    visible_text,
)
from citewell.ingest.extract.emphasis import in_bold
from citewell.ingest.extract.html.element import BLOCK_TAGS

if TYPE_CHECKING:
    from citewell.ingest.extract.html.element import Element
    from citewell.ingest.extract.html.renderer import Renderer

# "- " or "1. ", marks before and between left out of account.
_MARKS = f"(?:{MARK_START}\\w+{MARK_END})*"
_LONG_TERMS = 100
_LIST_START = re.compile(rf"{_MARKS}(?:-|1{_MARKS}\.){_MARKS} ")


def render_list(element: Element, renderer: Renderer) -> list[str]:
    """Return the list as one block, nested lists indented below their item."""
    number = _start_number(element) if element.tag == "ol" else None
    items: list[str] = []
    for child in _items_and_runs(element):
        if isinstance(child, list):
            blocks = renderer.paragraphs(child)
        elif child.tag in ("ul", "ol") and items:
            # A list that is a child of a list belongs to the item before it.
            nested = join_blocks(renderer.block(child))
            items[-1] += "\n" + _indent(nested, "  ") if nested else ""
            continue
        else:
            blocks = renderer.blocks(child) if child.tag == "li" else renderer.block(child)
        if number is not None and not isinstance(child, list) and child.tag == "li":
            value = child.attribute("value")
            number = int(value) if value.isdecimal() and len(value) < 9 else number
        item = _item(blocks, "- " if number is None else f"{number}. ")
        if item:
            items.append(item)
            number = number if number is None else number + 1
    return [join_blocks(items, "\n")] if items else []


def _items_and_runs(element: Element) -> list[Element | list[Element | str]]:
    """Return the items and other blocks of a list, and text that stands between them in one run."""
    parts: list[Element | list[Element | str]] = []
    run: list[Element | str] = []
    for child in element.children:
        if isinstance(child, str) or not (child.tag in BLOCK_TAGS or child.has_block):
            run.append(child)
            continue
        parts.extend([run] if run else [])
        run = []
        parts.append(child)
    return [*parts, run] if run else parts


def render_definitions(element: Element, renderer: Renderer) -> list[str]:
    """Return each term in bold with its definition after it; an outline as a list."""
    if _is_outline(element):
        return _render_outline(element, renderer)
    blocks: list[str] = []
    terms: list[str] = []
    for child in definition_parts(element):
        if isinstance(child, str):
            blocks.extend(_defined(terms, renderer.paragraphs([child])))
            terms = []
        elif child.tag == "dt" and child.has_block:
            # A heading or code is no term of a line.
            blocks.extend([*_defined(terms, []), *renderer.blocks(child)])
            terms = []
        elif child.tag == "dt":
            term = renderer.plain_line(child.children).removeprefix(": ").rstrip(":")
            if visible_text(term):
                terms.append(in_bold(term))
        elif child.tag == "dd":
            blocks.extend(_defined(terms, renderer.blocks(child)))
            terms = []
        else:
            blocks.extend([*_defined(terms, []), *renderer.block(child)])
            terms = []
    return [*blocks, *_defined(terms, [])]


def _is_outline(element: Element) -> bool:
    """Return whether terms are defined only by terms below them, as in a table of contents."""
    parts = definition_parts(element)
    terms = [part for part in parts if not isinstance(part, str) and part.tag == "dt"]
    return len(terms) > 1 and all(
        not isinstance(part, str)
        and ((part.tag == "dt" and not part.has_block) or (part.tag == "dd" and _is_nested(part)))
        for part in parts
    )


def _is_nested(definition: Element) -> bool:
    return all(
        not child.strip() if isinstance(child, str) else child.tag in ("dl", "ul", "ol")
        for child in definition.children
    )


def _render_outline(element: Element, renderer: Renderer) -> list[str]:
    items: list[str] = []
    for part in definition_parts(element):
        if isinstance(part, str):
            continue
        if part.tag == "dt":
            item = _item([renderer.line(part.children)], "- ")
            items.extend([item] if item else [])
            continue
        nested = join_blocks(renderer.blocks(part))
        if nested and items:
            items[-1] += "\n" + _indent(nested, "  ")
        elif nested:
            items.append(nested)
    return [join_blocks(items, "\n")] if items else []


def definition_parts(element: Element) -> list[Element | str]:
    """Return the terms and definitions of a list, also those grouped in a <div>, and stray text."""
    parts: list[Element | str] = []
    for child in element.children:
        if isinstance(child, str):
            if child.strip():
                parts.append(child)
        elif child.tag == "div" and any(e.tag in ("dt", "dd") for e in child.elements()):
            parts.extend(child.elements())
        else:
            parts.append(child)
    return parts


def _defined(terms: list[str], definition: list[str]) -> list[str]:
    if not terms:
        return definition
    # Long terms are signatures, each on a line of its own.
    is_long = sum(len(plain_text(term)) for term in terms) > _LONG_TERMS
    heading = ("\n" if is_long else ", ").join(terms)
    if not definition:
        return [heading]
    if is_paragraph(definition[0]) and not is_long:
        return [f"{heading}: {definition[0]}", *definition[1:]]
    return [f"{heading}:" if not is_long else heading, *definition]


def is_paragraph(block: str) -> bool:
    """Return whether a block can follow a term on its line: it is no code, list or table."""
    first = visible_text(block).lstrip()
    return not first.startswith(("```", "~~~", "- ", "1. ", "|", "#", ">", "**", "ℹ️", "⚠️"))


def _item(blocks: list[str], bullet: str) -> str:
    tight: list[str] = []
    for block in blocks:
        # A nested list or code follows its text directly; further paragraphs keep a blank line.
        if tight and _LIST_START.match(block):
            tight[-1] += "\n" + block
        else:
            tight.append(block)
    body = join_blocks(tight)
    if not has_words(body):
        return body
    return bullet + _indent(body, " " * len(bullet)).lstrip(" ")


def _indent(text: str, prefix: str) -> str:
    if "\n\n" not in text and text.strip("\n") == text:
        return prefix + text.replace("\n", "\n" + prefix)
    # An empty line stays empty.
    return "\n".join(prefix + line if line else line for line in text.split("\n"))


def _start_number(element: Element) -> int:
    start = element.attribute("start")
    return int(start) if start.isdecimal() and len(start) < 9 else 1
