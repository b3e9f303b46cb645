"""HTML as a light tree of what a reader could see, in document order and of bounded depth."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from citewell.core.frozen import frozen
from citewell.ingest.extract.characters import drop_invisible
from citewell.ingest.extract.hiding.remove import remove_hidden
from citewell.ingest.extract.html.element import BLOCK_TAGS, HEADING_TAGS, Element
from citewell.ingest.extract.html.visibility import is_hidden

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

# Deeper elements become children of the one at this depth. Walkers take at most four frames a
# level, and Python allows a thousand; real pages stay below forty levels.
MAX_DEPTH = 110

_NEVER_READ = frozenset(
    "script style template iframe object embed applet audio video canvas head link meta "
    "title select option datalist progress meter input textarea button dialog area "
    "noframes noembed rp noscript svg".split()
)


# XHTML served as HTML: a browser would let such an anchor run on over all that follows.
_SELF_CLOSED_ANCHOR = re.compile(r"<a(\s+(?:id|name)=[^<>]*)/>")
# Of these a browser would take all that follows for their content, which it never shows.
_SELF_CLOSED_HOLDER = re.compile(
    r"<(iframe|textarea|title|noscript|noframes|noembed|xmp|object|audio|video|canvas|select|button)"
    r"(\s[^<>]*)?/>",
    re.IGNORECASE,
)
_SELF_CLOSED = re.compile(r"<([a-zA-Z][\w:-]{0,40})((?:\s[^<>]*)?)/>")
_ACTION = re.compile(
    r"(?:search|copy|copied|menu|close|open|show|hide|expand|collapse|toggle|ask|try|share|follow)\b",
    re.IGNORECASE,
)
# Where a page says that it is XHTML.
_PANEL, _END_OF_PANEL = "<!--Navigation Panel-->", "<!--End of Navigation Panel-->"
# What a script on a server says to the server, in pages that were saved from it: man2html.
_SENT_HEADER = re.compile(r"\A\s*+content-type: ?text/html[^\n]*", re.IGNORECASE)
_OPENING_CHARACTERS = 2_000
_VOID_TAGS = frozenset({"br", "hr", "img", "wbr", "source"})
_CODE_TAGS = frozenset({"pre", "code", "tt", "samp", "kbd"})
# Anything but plain highlighting spans: line numbers, buttons, links, hidden text.
_MARKED_UP_CODE = re.compile(
    r"<(?!/?span\b)|style=|hidden|lineno|line-number|gutter|sr-only|class=\"ln|copy|btn|boring|pragma|LineNumber"
)


@frozen
class Document:
    """A parsed page: the parser's own tree for the head, the light tree for the body."""

    parsed: LexborHTMLParser
    body: Element
    elements: list[Element]
    """Every element of the body in document order, the body first."""


def is_sent_as_xml(url: str) -> bool:
    """Return whether servers send a file of this name as XML, as which browsers then read it."""
    return url.partition("?")[0].partition("#")[0].lower().endswith((".xhtml", ".xht"))


def parse_document(html: str, *, is_rendered: bool = False, is_xml: bool = False) -> Document:
    """Parse as a browser would and keep what its reader could see.

    A rendered page holds nothing hidden any more. In XML every element can be closed in itself.
    """
    # With scripting on, <noscript> holds text that no reader sees, but for image fallbacks.
    closed = _mark_panels(_close_tags(html, is_xml=is_xml and not is_rendered))
    parsed = LexborHTMLParser(closed.encode("utf-8", "replace"), scripting=True)
    if not is_rendered:
        remove_hidden(parsed, closed)
    body = Element("body", {}, None)
    elements = [body]
    root = parsed.body
    if root is not None:
        body.attributes = root.attributes
        _read_children(root, body, elements=elements)
    if body.children and isinstance(body.children[0], str):
        body.children[0] = _SENT_HEADER.sub("", body.children[0])
    if not any(child.strip() if isinstance(child, str) else True for child in body.children):
        _list_frames(parsed, body, elements)
    return Document(parsed=parsed, body=body, elements=elements)


def _list_frames(parsed: LexborHTMLParser, body: Element, elements: list[Element]) -> None:
    """Fill the body of a page that only lays out frames with a list of links to them."""
    items: list[Element] = []
    for frame in parsed.css("frameset frame[src]"):
        source = frame.attributes.get("src") or ""
        words = frame.attributes.get("title") or frame.attributes.get("name") or source
        item = Element("li", {}, None)
        link = Element("a", {"href": source}, item)
        link.children.append(words)
        item.children.append(link)
        items.append(item)
    if not items:
        return
    frames = Element("ul", {}, body)
    frames.children.extend(items)
    body.children.append(frames)
    body.has_block = frames.has_block = True
    for item in items:
        item.parent = frames
    elements.extend([frames, *frames.walk()])


def _closed(tag: re.Match[str]) -> str:
    name = tag.group(1)
    return tag.group() if name.lower() in _VOID_TAGS else f"<{name}{tag.group(2)}></{name}>"


def _mark_panels(html: str) -> str:
    """Put what latex2html says to be its navigation, in comments, into an element that says so."""
    if html.count(_PANEL) != html.count(_END_OF_PANEL):
        return html
    return html.replace(_PANEL, "<nav>").replace(_END_OF_PANEL, "</nav>")


def _close_tags(html: str, *, is_xml: bool) -> str:
    """Close the tags that are closed in themselves, as XHTML allows and HTML does not."""
    if is_xml:
        return _SELF_CLOSED.sub(_closed, html)
    closed = _SELF_CLOSED_ANCHOR.sub(r"<a\1></a>", html)
    if "xhtml" not in closed[:_OPENING_CHARACTERS].lower():
        return closed
    return _SELF_CLOSED_HOLDER.sub(r"<\1\2></\1>", closed)


def _read_children(root: LexborNode, into: Element, *, elements: list[Element]) -> None:
    stack: list[tuple[LexborNode, Element]] = []
    parent = into
    node = root.first_child
    while True:
        if node is None:
            if not stack:
                return
            node, parent = stack.pop()
            node = node.next
            continue
        tag = node.tag
        if tag == "-text":
            text = node.text_content or ""
            parent.children.append(text if text.isascii() else drop_invisible(text))
            node = node.next
            continue
        element = _read_element(tag, node, parent) if tag else None
        if element is None:
            if tag == "noscript":
                _read_noscript_images(node, parent, elements)
            node = node.next
            continue
        parent.children.append(element)
        elements.append(element)
        if tag in BLOCK_TAGS:
            _tell_ancestors(element)
        if element.children or element.tag in _VOID_TAGS:
            node = node.next
            continue
        stack.append((node, parent))
        parent = element if len(stack) < MAX_DEPTH else parent
        node = node.first_child


def _tell_ancestors(block: Element) -> None:
    """Note with the elements around a block that they hold one; some may know already."""
    around = block.parent
    while around is not None and not around.has_block:
        around.has_block = True
        around = around.parent
    if block.tag in HEADING_TAGS:
        around = block.parent
        while around is not None and not around.has_heading:
            around.has_heading = True
            around = around.parent


def _read_element(tag: str, node: LexborNode, parent: Element) -> Element | None:
    """Return the element, or None when no reader sees it; program text has its text already."""
    attributes = node.attributes if tag[0] != "-" else {}
    if tag[0] == "-" or (tag in _NEVER_READ and not _is_read(tag, node)):
        return None
    element = Element(tag, attributes, parent)
    if attributes and is_hidden(element):
        return None
    if tag in _CODE_TAGS and not _MARKED_UP_CODE.search(node.inner_html or ""):
        # Highlighting takes one element per token: a third of all elements of a reference manual.
        text = node.text()
        element.children.append(text if text.isascii() else drop_invisible(text))
    return element


def _is_read(tag: str, node: LexborNode) -> bool:
    """Return whether a script holds TeX, as MathJax 2 writes it, or a button what a page says."""
    if tag == "button":
        return _says_something(node)
    return tag == "script" and (node.attributes.get("type") or "").startswith("math/tex")


def _says_something(button: LexborNode) -> bool:
    """Return whether a button names a tab, is a heading or the line that an API lists a call by."""
    if button.attributes.get("role") == "tab":
        return True
    around = button.parent
    if around is not None and around.tag in HEADING_TAGS:
        # Beside a heading's own words it would copy a link.
        return around.text().strip() == button.text().strip()
    parts = [part for part in button.css("p, div, .http-verb, h2, h3, h4") if part.text().strip()]
    spoken = " ".join(button.text(separator=" ").split())
    return len(parts) > 0 and len(spoken.split()) > 1 and not _ACTION.match(spoken)


def _read_noscript_images(node: LexborNode, parent: Element, elements: list[Element]) -> None:
    source = node.text()
    if "<img" not in source:
        return
    fragment = LexborHTMLParser(source.encode("utf-8", "replace"))
    for image in fragment.css("img"):
        element = Element("img", image.attributes, parent)
        element.attributes["data-fallback"] = "noscript"
        parent.children.append(element)
        elements.append(element)
