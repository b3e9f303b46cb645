"""Messages in the archives of mailing lists: their text is prose, though it stands in <pre>."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.ingest.extract.html.element import Element

if TYPE_CHECKING:
    from citewell.ingest.extract.html.tree import Document

# How Pipermail, MHonArc and Hypermail mark the body of a message.
_MARK = re.compile(
    r"<!--beginarticle-->|<!--X-Body-of-Message-->|<!-- body=\"start\" -->", re.IGNORECASE
)
_PATCH = re.compile(r"^(?:@@ |diff |Index: )", re.MULTILINE)
_INDENTED = re.compile(r"(?:\t| {2})\s*\S")

_Line = list["Element | str"]


def spread_messages(document: Document, html: str) -> Document:
    """Return a page of a mail archive with paragraphs in place of its preformatted text.

    Patches and indented passages stay as they are; any other page is returned unchanged.
    """
    if _MARK.search(html) is None:
        return document
    for element in document.elements:
        if element.tag == "pre" and not _PATCH.search(element.text()):
            _spread(element)
    return replace(document, elements=[document.body, *document.body.walk()])


def _spread(message: Element) -> None:
    """Make a <pre> a box of paragraphs, one after each empty line."""
    paragraphs: list[Element] = []
    lines: list[_Line] = []
    for line in [*_lines(message), []]:
        if _text_of(line).strip():
            lines.append(line)
        elif lines:
            paragraphs.append(_paragraph(lines, message))
            lines = []
    message.tag = "div"
    message.has_block = True
    message.children = [*paragraphs]


def _lines(message: Element) -> list[_Line]:
    """Return text and links by line; Pipermail marks quoted lines by <i>, their ends included."""
    lines: list[_Line] = [[]]
    stack: list[Element | str] = message.children[::-1]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            first, *further = node.replace("\r\n", "\n").split("\n")
            lines[-1].append(first)
            lines.extend([text] for text in further)
        elif node.tag == "a":
            lines[-1].append(node)
        else:
            stack.extend(node.children[::-1])
    return lines


def _paragraph(lines: list[_Line], message: Element) -> Element:
    """Return lines as a paragraph, or as they are where most are indented."""
    is_indented = 2 * sum(_INDENTED.match(_text_of(line)) is not None for line in lines) > len(
        lines
    )
    paragraph = Element("pre" if is_indented else "p", {}, message)
    for place, line in enumerate(lines):
        if place:
            paragraph.children.append("\n" if is_indented else Element("br", {}, paragraph))
        for node in line:
            if not isinstance(node, str):
                node.parent = paragraph
        paragraph.children.extend(line)
    return paragraph


def _text_of(line: _Line) -> str:
    return "".join(node if isinstance(node, str) else node.text() for node in line)
