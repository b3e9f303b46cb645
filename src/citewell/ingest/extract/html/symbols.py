"""API entries of documentation generators: each symbol with an anchor becomes a section."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.ingest.extract.characters import collapse_spaces
from citewell.ingest.extract.html.inline import is_permalink
from citewell.ingest.extract.html.lists import definition_parts

if TYPE_CHECKING:
    from citewell.ingest.extract.html.element import Element
    from citewell.ingest.extract.html.renderer import Renderer

_MAX_NAMES = 3
_MAX_HEADING_CHARACTERS = 120
_ENTRY_CLASS = re.compile(
    r"(?<= )(?:py|c|cpp|js|rst|std|go|ruby|php|java|function|class|method|attribute|data|exception"
    r"|module|glossary|describe|opcode|cmdoption|envvar|macro|type|member|option)(?= )"
)
_SPACE_BEFORE = re.compile(r"(?<!\s)\s++(?=[,)\]])")


def is_symbol_list(element: Element) -> bool:
    """Return whether a <dl> documents symbols or terms that have anchors."""
    if not element.names or not _ENTRY_CLASS.search(element.names):
        return False
    return any(part.tag == "dt" and part.attribute("id") for part in definition_parts(element))


def render_symbols(element: Element, renderer: Renderer) -> list[str]:
    """Return the entries, each signature in bold and at the start of a section of its own."""
    blocks: list[str] = []
    terms: list[Element] = []
    is_glossary = element.has_class("glossary")
    for part in definition_parts(element):
        if part.tag == "dt":
            terms.append(part)
            continue
        blocks.extend(_entry(terms, part, renderer=renderer, is_glossary=is_glossary))
        terms = []
    if terms:
        blocks.extend(_entry(terms, None, renderer=renderer, is_glossary=is_glossary))
    return blocks


def _entry(
    terms: list[Element], body: Element | None, *, renderer: Renderer, is_glossary: bool
) -> list[str]:
    signatures = [words for words in map(signature_text, terms) if words]
    lines = [f"**{signature}**" for signature in signatures]
    anchor = next((term.attribute("id") for term in terms if term.attribute("id")), "")
    if not anchor or not lines:
        return [*lines, *(renderer.blocks(body) if body is not None else [])]
    names = list(dict.fromkeys(_name_of(term) for term in terms))
    heading = ", ".join(name for name in names[:_MAX_NAMES] if name)
    mark = renderer.open_section(heading[:_MAX_HEADING_CHARACTERS], anchor)
    lines[0] = mark + lines[0]
    content = renderer.blocks(body) if body is not None else []
    renderer.close_section()
    if is_glossary and content:
        return [", ".join(lines) + ": " + content[0], *content[1:]]
    return ["\n".join(lines), *content]


def signature_text(term: Element) -> str:
    """Return a signature as one line that reads like code."""
    pieces: list[str] = []
    _collect(term, pieces)
    return _SPACE_BEFORE.sub("", collapse_spaces("".join(pieces))).replace("( ", "(")


def _collect(element: Element, pieces: list[str]) -> None:
    for child in element.children:
        if isinstance(child, str):
            pieces.append(child)
        elif child.tag == "dd":
            _collect(child, pieces)
            pieces.append(" ")
        elif not is_permalink(child) and not child.has_class("viewcode-link"):
            _collect(child, pieces)


def _name_of(term: Element) -> str:
    """Return the qualified name an entry is looked up by."""
    prefix = name = ""
    for element in term.walk():
        if element.has_class("descclassname", "sig-prename"):
            prefix = prefix or collapse_spaces(element.text())
        elif element.has_class("descname", "sig-name"):
            name = name or collapse_spaces(element.text())
    if not name:
        return signature_text(term)
    anchor = term.attribute("id")
    if anchor.endswith(name) and re.fullmatch(r"[A-Za-z_][\w.]*", anchor):
        qualified = anchor.split(".", 1)[1] if anchor.startswith("c.") else anchor
        return qualified if len(qualified) >= len(prefix + name) else prefix + name
    return prefix + name
