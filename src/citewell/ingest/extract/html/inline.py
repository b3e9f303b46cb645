"""Running text as Markdown: links, emphasis, code, mathematics and images within a paragraph."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.ingest.extract.canonical import visible_text
from citewell.ingest.extract.characters import collapse_spaces
from citewell.ingest.extract.html.code import code_text
from citewell.ingest.extract.html.element import BLOCK_TAGS
from citewell.ingest.extract.html.emphasis_marks import (
    BREAK,
    emphasised,
    place_emphasis,
    without_places,
)
from citewell.ingest.extract.html.images import image_reference
from citewell.ingest.extract.html.math import (
    between_dollars,
    convert_tex_delimiters,
    is_math,
    is_tex_container,
    render_math,
    render_tex_container,
)
from citewell.ingest.extract.links import is_anchor, markdown_target
from citewell.web.urls import without_anchor

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from citewell.core.records import LinkKind
    from citewell.ingest.extract.canonical import CanonicalWriter
    from citewell.ingest.extract.html.element import Element
    from citewell.ingest.extract.links import LinkResolver

_BREAKS = re.compile(f" ?{BREAK}[ {BREAK}]*")
_EMPHASIS = {"strong": "**", "b": "**", "em": "*", "i": "*", "dfn": "*", "var": "*", "cite": "*",
             "del": "~~", "s": "~~", "strike": "~~"}  # fmt: skip
_CODE_TAGS = frozenset({"code", "tt", "samp", "kbd"})
_PERMALINK_CLASS = re.compile(
    r"(?<= )(?:headerlink|header-?link|permalink|header-?anchor|heading-?anchor|hash-link"
    r"|anchorjs-link|anchor|anchor-link|headinglink|self-link|sectionlink|direct-link|doc-anchor|link-anchor"
    r"|viewcode-link|mw-editsection|mw-cite-backlink|edit-link|srclink|src-?link|source-?link|link-seesrc|selflink"
    r"|permalink-icon|icon_permalink|method-click-advice)(?= )"
)
_LONG_PERMALINKS = ("viewcode-link", "mw-editsection", "method-click-advice")
_PERMALINK_TEXT = frozenset({"", "¶", "#", "§", "🔗", "⚓", "link", "[link]", "\uf0c1", "[source]",
                             "↩", "↩\ufe0e", "↩\ufe0f"})  # fmt: skip
# Links that only fold what stands below.
_FOLDING_TEXT = frozenset({"[-]", "[+]", "[−]", "[–]", "-", "+", "−", "–"})
# Square ones would end the Markdown of an image.
_ROUND_BRACKETS = str.maketrans("[]", "()")
_POWER = re.compile(r"[-+−]?[\dn.]+")
_WHOLE_CODE = re.compile(r"`[^`]++`")
_FENCE_AT_LINE_START = re.compile(r"^(```|~~~)", re.MULTILINE)


class InlineRenderer:
    """Renders runs of inline content of one page."""

    def __init__(
        self,
        writer: CanonicalWriter,
        links: LinkResolver,
        *,
        listed: Container[Element] = frozenset(),
    ) -> None:
        self._writer = writer
        self._links = links
        self._listed = listed
        self._by_tag: dict[str, Callable[[Element, list[str]], None]] = {
            **dict.fromkeys(_EMPHASIS, self._emit_emphasis),
            **dict.fromkeys(_CODE_TAGS, _emit_code),
            **dict.fromkeys(("rt", "svg", "wbr"), lambda _, __: None),
            "a": self._emit_link,
            "br": lambda _, pieces: pieces.append(BREAK),
            "img": lambda image, pieces: pieces.append(self.image(image)),
            "q": self._emit_quotation,
            "sup": self._emit_superscript,
        }

    def paragraphs(self, children: Sequence[Element | str]) -> list[str]:
        """Return the content as paragraphs; two line breaks in a row part them."""
        marked = self._collapsed(children)
        if BREAK not in marked:
            return [marked] if marked else []
        pieces: list[str] = [""]
        last = 0
        for gap in _BREAKS.finditer(marked):
            pieces[-1] += marked[last : gap.start()]
            last = gap.end()
            if gap.group().count(BREAK) > 1:
                pieces.append("")
            else:
                pieces[-1] += "\n"
        pieces[-1] += marked[last:]
        return [piece.strip() for piece in pieces if piece.strip()]

    def line(self, children: Sequence[Element | str]) -> str:
        """Return the content on one line."""
        text = self._collapsed(children)
        return _BREAKS.sub(" ", text).strip() if BREAK in text else text

    def plain_line(self, children: Sequence[Element | str]) -> str:
        """Return the content on one line, without emphasis."""
        pieces: list[str] = []
        self._emit(children, pieces)
        return collapse_spaces(without_places("".join(pieces)).replace(BREAK, " "))

    def image(self, image: Element, *, caption: str = "", title: str = "") -> str:
        """Return an image as Markdown with its mark; one without words is the mark alone.

        The caption goes into the record of the image, the title into its Markdown.
        """
        alt = collapse_spaces(image.attribute("alt"))
        if "mwe-math" in image.names:
            return between_dollars(alt, display="display" in image.names)
        reference = image_reference(image)
        url = self._links.resolve(reference)
        if url is None:
            return ""
        if alt and reference.endswith(alt.rpartition("/")[2]):
            alt = ""  # a file name describes nothing
        alt = alt.translate(_ROUND_BRACKETS)
        mark = self._writer.mark_image(url, alt=alt, caption=caption)
        if not alt and not title:
            return mark
        target = markdown_target(url)
        if title:
            target += ' "' + visible_text(title).replace('"', "”") + '"'
        return f"{mark}![{alt}]({target})"

    def _collapsed(self, children: Sequence[Element | str]) -> str:
        pieces: list[str] = []
        self._emit(children, pieces)
        text = place_emphasis(collapse_spaces("".join(pieces)))
        return _FENCE_AT_LINE_START.sub(r"\\\1", text) if text[:3] in ("```", "~~~") else text

    def _emit(self, children: Sequence[Element | str], pieces: list[str]) -> None:
        for child in children:
            if isinstance(child, str):
                has_tex = "\\(" in child or "\\[" in child
                pieces.append(convert_tex_delimiters(child) if has_tex else child)
            else:
                self._emit_element(child, pieces)

    def _emit_element(self, element: Element, pieces: list[str]) -> None:
        emit = self._by_tag.get(element.tag)
        if emit is not None:
            emit(element, pieces)
        elif is_math(element):
            pieces.append(render_math(element))
        elif " math" in element.names and is_tex_container(element) and not element.elements():
            pieces.append(render_tex_container(element))
        elif element.names and is_permalink(element):
            return
        elif element.tag == "span" and element.has_class("classifier"):
            # A style sheet sets the colon between a name and its type.
            pieces.append(" : ")
            self._emit(element.children, pieces)
        elif element.names and element.has_class("mlabel", "sep", "doc-labels"):
            # A style sheet sets "abstract" apart from a title, and an arrow between its parts.
            pieces.append(" ")
            self._emit(element.children, pieces)
        elif element.names and element.has_class("icona", "http-verb"):
            # Drawn as a picture before a name: Doxygen's letter for a class, Redoc's "post".
            self._emit(element.children, pieces)
            pieces.append(" ")
        elif element.tag in BLOCK_TAGS:
            pieces.append(_between(element))
            self._emit(element.children, pieces)
            pieces.append(" ")
        else:
            self._emit(element.children, pieces)

    def _emit_quotation(self, element: Element, pieces: list[str]) -> None:
        pieces.append("“")
        self._emit(element.children, pieces)
        pieces.append("”")

    def _inner(self, element: Element) -> str:
        pieces: list[str] = []
        self._emit(element.children, pieces)
        return "".join(pieces)

    def _emit_link(self, element: Element, pieces: list[str]) -> None:
        if is_permalink(element):
            return
        inner = self._inner(element)
        text = collapse_spaces(inner.replace(BREAK, " "))
        href = element.attribute("href")
        url = None if is_anchor(href) else self._links.resolve(href)
        shown = visible_text(without_places(text))
        if url is None or not shown or not self._links.leads_elsewhere(url):
            pieces.append(inner)
            return
        kind: LinkKind = "contents" if element in self._listed else "content"
        mark = self._writer.mark_link(without_anchor(url), place_emphasis(text), kind)
        before = " " if inner[0] in " \n\t" else ""
        after = " " if inner[-1] in " \n\t" else ""
        if not before and pieces and pieces[-1].endswith("!"):
            # With the sign before it, Markdown would take the link for an image.
            pieces.append(mark + inner)
            return
        pieces.append(f"{before}{mark}[{text}]({markdown_target(url)}){after}")

    def _emit_emphasis(self, element: Element, pieces: list[str]) -> None:
        inner = self._inner(element)
        text = inner.strip()
        # No mark can stand before a line break and close after it.
        if BREAK in text or not visible_text(without_places(text)):
            pieces.append(inner)
            return
        before = " " if inner[0].isspace() else ""
        after = " " if inner[-1].isspace() else ""
        pieces.append(f"{before}{emphasised(text, _EMPHASIS[element.tag])}{after}")

    def _emit_superscript(self, element: Element, pieces: list[str]) -> None:
        inner = self._inner(element)
        before = pieces[-1][-1:] if pieces else ""
        follows_word = before.isalnum() or before == "$"
        if follows_word and element.find("a") is None and _POWER.fullmatch(inner.strip()):
            pieces.append("^" + inner.strip())
        else:
            pieces.append(inner)


def _between(element: Element) -> str:
    """Return what parts a block from the one before it where all stand on the line of a cell."""
    siblings = element.parent.elements() if element.parent is not None else []
    is_item = element.tag == "li" and len(siblings) > 1
    is_later_row = element.tag == "tr" and siblings[0] is not element
    return " • " if is_item or is_later_row else " "


def is_permalink(element: Element) -> bool:
    """Return whether the element is only a heading's link to itself, an edit or a source link."""
    if element.names and _has_permalink_name(element.names):
        words = element.text().strip()
        if element.tag == "a" and "href" not in element.attributes:
            # It leads nowhere: old Doxygen wraps a heading's words in it.
            return words.lower() in _PERMALINK_TEXT
        return len(words) <= 8 or element.has_class(*_LONG_PERMALINKS)
    if element.tag == "a" and element.has_class("link") and element.text() == "Source":
        return True  # as Haddock puts it beside every signature
    if element.tag != "a":
        return False
    href = element.attributes.get("href") or ""
    if href.startswith("javascript:"):
        return element.text().strip() in _FOLDING_TEXT
    if not href.startswith("#"):
        return False
    return element.text().strip().lower() in _PERMALINK_TEXT and element.find("img") is None


@lru_cache(maxsize=8_192)
def _has_permalink_name(names: str) -> bool:
    return bool(_PERMALINK_CLASS.search(names))


def _emit_code(element: Element, pieces: list[str]) -> None:
    children = element.children
    is_plain = len(children) == 1 and isinstance(children[0], str)
    text = collapse_spaces(str(children[0]) if is_plain else code_text(element))
    before = pieces[-1] if pieces else ""
    if not before.endswith("`") or not text:
        pieces.append(_inline_code(text))
        if is_plain and str(children[0]).endswith(" "):
            # "[static] " before a type: the space is none of the code's.
            pieces.append(" ")
    elif "`" not in text and _WHOLE_CODE.fullmatch(before):
        # Two spans of code side by side would be read as neither.
        pieces[-1] = f"{before[:-1]}{text}`"
    else:
        # A backtick of the page's own, as in `this'.
        pieces.append(text)


def _inline_code(text: str) -> str:
    if not text:
        return ""
    if "`" not in text:
        return f"`{text}`"
    return f"`` {text} ``" if "``" not in text else f"``` {text} ```"
