"""Notes, warnings and other call-outs, however a site's generator marks them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.ingest.extract.canonical import visible_text
from citewell.ingest.extract.characters import collapse_spaces

if TYPE_CHECKING:
    from citewell.ingest.extract.html.element import Element

_WARNINGS = frozenset("warning warn caution attention danger error bug failure critical".split())
_NOTES = frozenset(
    "note info information tip hint important seealso abstract summary example question success "
    "quote todo remark".split()
)
# Classes that mark a box as a call-out; its kind is then among the other names.
_BOX = re.compile(
    r"(?<= )(?:admonition|admonitionblock|theme-admonition|markdown-alert|custom-block|callout"
    r"|starlight-aside|nextra-callout|confluence-information-macro"
    r"|notecard|alert|message-box|doc-admonition|hint|admon|bd-callout|aside|gitbook-hint)(?: |-)"
)
_KIND = re.compile(
    r"(?<=[ -])(?:" + "|".join(sorted(_WARNINGS | _NOTES, key=len, reverse=True)) + r")(?=[ ])"
)
_TITLE_CLASS = re.compile(
    r"(?<= )(?:admonition-title|markdown-alert-title|custom-block-title|admonitionheading\S*"
    r"|admonition-heading|callout-title|starlight-aside__title|alert-heading|alert-title|title|icon"
    r"|hint-title|summary)(?= )"
)
_NOT_AFTER_LABEL = ("```", "|", "- ", "#")
_MARKED = (*_NOT_AFTER_LABEL, "~~~", "* ", ">", "$$", "![", "ℹ️", "⚠️", " ")
# Enough to see a letter.
_ICON_CHARACTERS = 12
_NUMBERED = re.compile(r"\d{1,9}[.)] ")
_PLAIN_BOX_TAGS = frozenset({"div", "aside", "p", "section", "blockquote", "table", "details"})
_PLAIN_KINDS = frozenset({"note", "warning", "tip", "caution", "important"})


@frozen
class Admonition:
    """What a call-out is labelled with, and the element that held its title."""

    label: str
    title: Element | None
    title_text: str


def label_of(kind: str) -> str:
    """Return the label a call-out's text starts with: "⚠️ WARNING:"."""
    icon = "⚠️" if kind.lower() in _WARNINGS | {"deprecated"} else "ℹ️"
    return f"{icon} {kind.upper()}:"


def label_blocks(label: str, title: str, blocks: list[str]) -> list[str]:
    """Return the blocks of a call-out: the label first, its icon before each later paragraph."""
    if title:
        blocks = [f"{label} {title}", *blocks]
    elif not blocks:
        return []
    elif visible_text(blocks[0]).startswith(_NOT_AFTER_LABEL):
        blocks = [label, *blocks]
    else:
        blocks = [f"{label} {blocks[0]}", *blocks[1:]]
    icon = label.split()[0]
    return [blocks[0], *(b if is_marked(visible_text(b)) else f"{icon} {b}" for b in blocks[1:])]


def is_marked(text: str) -> bool:
    """Return whether a block shows by itself what it is: code, a list, a table, another label."""
    return not text.strip() or text.startswith(_MARKED) or bool(_NUMBERED.match(text))


def is_kind(word: str) -> bool:
    """Return whether generators use the word as a kind of call-out."""
    return word.lower() in _WARNINGS or word.lower() in _NOTES


def parse_admonition(element: Element) -> Admonition | None:
    """Return what kind of call-out the element is; None for anything else."""
    kind = _kind_of(element)
    if kind is None:
        return None
    title = _title_element(element)
    words = collapse_spaces(title.text()) if title is not None else ""
    if not any(map(str.isalnum, words)):
        words = ""
    label = label_of(_written(kind))
    if words.rstrip(":!").lower().replace(" ", "") in (kind, "seealso"):
        if title is not None and title.tag in ("strong", "b"):
            # The first word of the text, as it is written.
            label = f"{label.split()[0]} {words.rstrip(':')}:"
        words = ""
    elif "github-alert" in element.names and is_kind(words):
        label, words = label_of(words), ""
    return Admonition(label=label, title=title, title_text=words.rstrip(":"))


def content_of(element: Element) -> Element:
    """Return where a call-out's words are: some generators lay icon and text out as a table."""
    marked = next((below for below in element.walk() if below.has_class("content")), None)
    if element.has_class("admonitionblock") and marked is not None:
        return marked
    table = next((below for below in element.elements() if below.tag == "table"), None)
    if table is None or len(element.elements()) > 1:
        return element
    cells = [cell for cell in table.walk() if cell.tag in ("td", "th")]
    has_icon = bool(cells) and cells[0].find("img") is not None and not cells[0].text().strip()
    return cells[-1] if has_icon and len(cells) <= 3 else element


def _kind_of(element: Element) -> str | None:
    if element.tag not in _PLAIN_BOX_TAGS:
        return None
    kind = _kind_in_names(element.names) if element.names else None
    if kind is None and element.attributes.get("role") in ("note", "doc-tip", "doc-notice"):
        return "note"
    return kind


@lru_cache(maxsize=8_192)
def _kind_in_names(names: str) -> str | None:
    if _BOX.search(names):
        kind = _KIND.search(names)
        if kind:
            return kind.group()
        return (
            "note"
            if re.search(r" (?:admonition|admonitionblock|callout|nextra-callout) ", names)
            else None
        )
    own = names.split()
    return own[0] if 0 < len(own) <= 2 and own[0] in _PLAIN_KINDS else None


def _title_element(element: Element) -> Element | None:
    for position, child in enumerate(element.walk()):
        if position > 12:
            break
        if child.tag == "summary" or (child.names and _TITLE_CLASS.search(child.names)):
            return child
    first = next(iter(element.elements()), None)
    if first is not None and not any(map(str.isalnum, first.text_start(_ICON_CHARACTERS))):
        # A picture or a sign; a listing would have words.
        return first if len(element.elements()) > 1 and first.find("img") is None else None
    if first is not None and first.tag == "table":
        # An icon, its title beside it, and the text below.
        return first.find("th")
    for _ in range(2):
        if first is None or first.tag not in ("strong", "b", "h3", "h4", "h5", "p"):
            return None
        words = collapse_spaces(first.text()).rstrip(":!").lower()
        if is_kind(words) or words == "see also":
            return first
        first = next(iter(first.elements()), None)
    return None


def _written(kind: str) -> str:
    return "see also" if kind == "seealso" else kind
