"""API entries of documentation generators: each symbol with an anchor becomes a section."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeGuard

from citewell.ingest.extract.characters import collapse_spaces
from citewell.ingest.extract.emphasis import in_bold
from citewell.ingest.extract.html.inline import is_permalink
from citewell.ingest.extract.html.lists import definition_parts, is_paragraph

if TYPE_CHECKING:
    from citewell.ingest.extract.html.element import Element
    from citewell.ingest.extract.html.renderer import Renderer

_MAX_NAMES = 3
_MAX_HEADING_CHARACTERS = 120
_ENTRY_CLASS = re.compile(
    r"(?<= )(?:py|c|cpp|js|rst|std|go|ruby|php|java|function|class|method|attribute|data|exception"
    r"|module|glossary|describe|opcode|cmdoption|envvar|macro|type|member|option)(?= )"
)
_SIGNATURE_CLASS = re.compile(
    r" (?:sig|def|deffn|deftypefn|deftypevr|defvr|deftp|deftypeop|defop) "
)
_ARGUMENTS = re.compile(r"[(\[{=:;]")
# Links to sources, and what rustdoc explains of a returned type.
_NO_SIGNATURE = ("viewcode-link", "notable-traits", "tooltip")
_MAX_ANCHOR_ELEMENTS = 12
_SPACE_BEFORE = re.compile(r"(?<!\s)\s++(?=[,)\]])")


def is_symbol_list(element: Element) -> bool:
    """Return whether a <dl> documents symbols or terms that have anchors."""
    terms = [part for part in definition_parts(element) if _is_term(part)]
    if element.names and _ENTRY_CLASS.search(element.names):
        return any(term.attribute("id") for term in terms)
    return any(anchor_of(term) and _is_signature(term) for term in terms)


def anchor_of(signature: Element) -> str:
    """Return the fragment that leads to a signature; "" when it has none."""
    own = signature.attribute("id")
    if own:
        return own
    group = signature.parent
    if group is not None and group.tag == "div" and _stands_alone(signature):
        own = group.attribute("id")
    for _, below in zip(range(_MAX_ANCHOR_ELEMENTS), signature.walk(), strict=False):
        own = own or below.attribute("id") or below.attribute("name")
    return own


def _stands_alone(signature: Element) -> bool:
    """Return whether an entry is one element with an anchor, above its signature."""
    return signature.tag == "dt" or signature.has_class("method-heading")


def name_of_signature(signature: str) -> str:
    """Return what comes before the arguments of a signature."""
    name = _ARGUMENTS.split(signature, maxsplit=1)[0].strip()
    return (name or signature)[:_MAX_HEADING_CHARACTERS]


def _is_term(part: Element | str) -> TypeGuard[Element]:
    return not isinstance(part, str) and part.tag == "dt"


def _is_signature(term: Element) -> bool:
    if term.find("pre") is not None or _SIGNATURE_CLASS.search(term.names):
        return True
    return term.find("code", "tt") is not None and "(" in term.text()


def render_symbols(element: Element, renderer: Renderer) -> list[str]:
    """Return the entries, each signature in bold and at the start of a section of its own."""
    blocks: list[str] = []
    terms: list[Element] = []
    is_glossary = element.has_class("glossary")
    for part in definition_parts(element):
        if isinstance(part, str):
            blocks.extend(renderer.paragraphs([part]))
            continue
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
    lines = [line for term in terms for line in _signature_lines(term, renderer)]
    anchor = next((anchor for anchor in map(anchor_of, terms) if anchor), "")
    if not anchor or not lines:
        return [*lines, *(renderer.blocks(body) if body is not None else [])]
    names = list(dict.fromkeys(_name_of(term) for term in terms))
    heading = ", ".join(name for name in names[:_MAX_NAMES] if name)
    mark = renderer.open_section(heading[:_MAX_HEADING_CHARACTERS], anchor)
    lines[0] = mark + lines[0]
    content = renderer.blocks(body) if body is not None else []
    # Where the entry is empty, what follows it is its description.
    renderer.close_section(is_continued=not content)
    if is_glossary and content and is_paragraph(content[0]):
        return [", ".join(lines) + ": " + content[0], *content[1:]]
    return ["\n".join(lines), *content]


def _signature_lines(term: Element, renderer: Renderer) -> list[str]:
    """Return a signature in bold, or as the code that it is."""
    if term.has_block:
        return [block for block in renderer.blocks(term) if block]
    words = signature_text(term)
    return [in_bold(words)] if words else []


def signature_text(term: Element) -> str:
    """Return a signature as one line that reads like code."""
    pieces: list[str] = []
    _collect(term, pieces)
    return _SPACE_BEFORE.sub("", collapse_spaces("".join(pieces))).replace("( ", "(")


def _collect(element: Element, pieces: list[str]) -> None:
    for child in element.children:
        if isinstance(child, str):
            pieces.append(child)
        elif child.tag in ("dd", "div"):
            # A line of its own on the page.
            pieces.append(" ")
            _collect(child, pieces)
            pieces.append(" ")
        elif not is_permalink(child) and not child.has_class(*_NO_SIGNATURE):
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
        return name_of_signature(signature_text(term))
    anchor = term.attribute("id")
    if anchor.endswith(name) and re.fullmatch(r"[A-Za-z_][\w.]*", anchor):
        qualified = anchor.split(".", 1)[1] if anchor.startswith("c.") else anchor
        return qualified if len(qualified) >= len(prefix + name) else prefix + name
    return prefix + name
