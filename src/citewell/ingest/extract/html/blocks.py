"""Block content as Markdown: headings, paragraphs, lists, quotations, tables, code, figures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.ingest.extract.canonical import has_words, join_blocks, plain_text, visible_text
from citewell.ingest.extract.characters import collapse_spaces
from citewell.ingest.extract.emphasis import in_bold
from citewell.ingest.extract.html.admonitions import (
    Admonition,
    content_of,
    label_blocks,
    parse_admonition,
)
from citewell.ingest.extract.html.code import fence, is_code_box, render_code_block
from citewell.ingest.extract.html.element import BLOCK_TAGS, Element
from citewell.ingest.extract.html.heading_anchors import HeadingAnchors
from citewell.ingest.extract.html.inline import InlineRenderer
from citewell.ingest.extract.html.lists import render_definitions, render_list
from citewell.ingest.extract.html.math import is_tex_container, render_tex_container
from citewell.ingest.extract.html.symbols import (
    anchor_of,
    is_symbol_list,
    name_of_signature,
    render_symbols,
    signature_text,
)
from citewell.ingest.extract.html.tables import (
    is_data_table,
    lines_of_code_table,
    render_table,
    rows_of,
)
from citewell.ingest.extract.html.tooltips import render_tooltips

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence

    from citewell.ingest.extract.canonical import CanonicalWriter
    from citewell.ingest.extract.links import LinkResolver

_HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
_MAX_HEADING_CHARACTERS = 300
_MAX_LABEL_CHARACTERS = 200
# Haddock, pydoctor, odoc, Doxygen, QDoc, RDoc.
_SIGNATURE_CLASSES = {
    "p": ("src",),
    "div": ("functionheader", "spec", "memproto", "qmlproto", "method-heading"),
}
_CODE_TAGS = frozenset({"tt", "code", "samp"})
_MIN_BREAKS = 2
_SPACES = re.compile(r"[ \t\r\n]+")
# Who said something stands before it.
_OPENING_NODES = 5
_FIGURE_CLASSES = ("wp-caption", "caption", "image-caption", "captioned-image")


class BlockRenderer:
    """Renders the main content of one page.

    `listed` are links that stand in lists of links. Captions are text of the page if it
    `has_captions`; those of an article are mostly credits, and stay with their image.
    """

    def __init__(
        self,
        writer: CanonicalWriter,
        links: LinkResolver,
        *,
        listed: Container[Element] = frozenset(),
        has_captions: bool = True,
    ) -> None:
        self._writer = writer
        self._has_captions = has_captions
        self._inline = InlineRenderer(writer, links, listed=listed)
        self._open: list[tuple[int, str | None]] = [(0, None)]
        """Level and anchor of the heading in force, one entry more for each open symbol."""
        self._needs_continuation = False
        self._anchors = HeadingAnchors()
        self._by_tag: dict[str, Callable[[Element], list[str]]] = {
            **dict.fromkeys(_HEADING_LEVELS, self._heading),
            **dict.fromkeys(("ul", "ol", "menu", "dir"), self._list),
            "pre": self._pre,
            "table": self._table,
            "dl": self._definitions,
            "blockquote": self._quotation,
            "figure": self._figure,
            "details": self._details,
            "hr": lambda _: [],
            # The line that an API lists a call by.
            "button": lambda button: [
                " ".join(filter(None, (self.line([c]) for c in button.children)))
            ],
        }

    def blocks(self, element: Element) -> list[str]:
        """Return the blocks inside the element, in order."""
        blocks: list[str] = []
        run: list[Element | str] = []
        for child in element.children:
            if isinstance(child, str):
                # White space alone begins no text.
                if run or not child.isspace():
                    run.append(child)
                continue
            if not _is_block(child):
                run.append(child)
                continue
            if run:
                blocks.extend(self._text_run(run))
                run = []
            blocks.extend(self.block(child))
        if run:
            blocks.extend(self._text_run(run))
        return blocks

    def block(self, element: Element) -> list[str]:
        """Return the element itself as blocks."""
        admonition = parse_admonition(element) if element.attributes else None
        if admonition is not None:
            return self._admonition(element, admonition)
        if " rubric " in element.names and element.tag == "p":
            words = self.plain_line(element.children)
            return [self._continued(in_bold(words))] if words else []
        if " math" in element.names and is_tex_container(element) and not element.elements():
            return [self._continued(render_tex_container(element))]
        if "fragment" in element.names and is_code_box(element):
            return [*self._pre(element), *render_tooltips(element, self)]
        if element.tag == "div" and element.has_class("verbatim") and not element.has_block:
            return self._pre(element)
        if element.names and element.has_class(*_SIGNATURE_CLASSES.get(element.tag, ())):
            return self._signature(element)
        if "caption" in element.names and _is_figure(element):
            return self._figure(element)
        if element.tag in _CODE_TAGS and _has_broken_lines(element):
            lines = "".join(_broken_lines(element)).replace("\xa0", " ").split("\n")
            return [self._continued(fence("\n".join(map(str.rstrip, lines)).strip("\n")))]
        render = self._by_tag.get(element.tag)
        return render(element) if render is not None else self.blocks(element)

    def paragraphs(self, children: Sequence[Element | str]) -> list[str]:
        """Return running text as paragraphs."""
        return self._inline.paragraphs(children)

    def line(self, children: Sequence[Element | str]) -> str:
        """Return running text on one line."""
        return self._inline.line(children)

    def plain_line(self, children: Sequence[Element | str]) -> str:
        """Return running text on one line, without emphasis."""
        return self._inline.plain_line(children)

    def open_section(self, heading: str, anchor: str) -> str:
        """Open a section one level below the heading in force and return its mark."""
        level = self._open[-1][0] + 1
        self._open.append((level, anchor))
        self._needs_continuation = False
        return self._writer.mark_section(level, heading, anchor)

    def close_section(self, *, is_continued: bool = False) -> None:
        """Close it; text that follows belongs to the heading around it again, or still to it."""
        self._open.pop()
        self._needs_continuation = not is_continued

    def _text_run(self, run: Sequence[Element | str]) -> list[str]:
        paragraphs = self.paragraphs(run)
        if self._needs_continuation and paragraphs:
            paragraphs[0] = self._continued(paragraphs[0])
        return paragraphs

    def _continued(self, block: str) -> str:
        """Mark text after a symbol's entry as part of the section around it again."""
        if not self._needs_continuation or not has_words(block):
            return block
        self._needs_continuation = False
        level, anchor = self._open[-1]
        return self._writer.mark_section(level + 1, "", anchor) + block

    def _heading(self, element: Element) -> list[str]:
        if element.has_class("code-header"):
            return self._declaration(element)
        text = self.line(element.children)
        words = visible_text(text)
        if not words or len(words) > _MAX_HEADING_CHARACTERS:
            return [text] if text else []
        level = _HEADING_LEVELS[element.tag]
        anchor = self._anchors.of(element)
        self._open[-1] = (level, anchor)
        self._needs_continuation = False
        return [self._writer.mark_section(level, text, anchor) + "#" * level + " " + text]

    def _declaration(self, element: Element) -> list[str]:
        """Return a heading of rustdoc, the declaration of an item; of a long one, its name."""
        words = signature_text(element)
        if not words:
            return []
        level = _HEADING_LEVELS[element.tag]
        anchor = self._anchors.of(element)
        if not anchor and element.parent is not None:
            # The methods of traits have theirs around the heading.
            anchor = element.parent.attribute("id")
        self._open[-1] = (level, anchor)
        self._needs_continuation = False
        if len(words) <= _MAX_HEADING_CHARACTERS:
            return [self._writer.mark_section(level, words, anchor) + "#" * level + " " + words]
        name = name_of_signature(words)
        mark = self._writer.mark_section(level, name, anchor)
        return [mark + "#" * level + " " + name, in_bold(words)]

    def _signature(self, element: Element) -> list[str]:
        """Return a signature that stands before its description, as the heading of a section."""
        anchor, words = anchor_of(element), signature_text(element)
        has_prototype = element.has_class("memproto")
        if not words or element.has_heading or not (anchor or has_prototype):
            return self.blocks(element)
        if has_prototype:
            # Its name is the heading right above.
            return [self._continued(fence(words))]
        self._needs_continuation = False
        level = self._open[-1][0] + 1
        return [self._writer.mark_section(level, name_of_signature(words), anchor) + in_bold(words)]

    def _list(self, element: Element) -> list[str]:
        if element.has_heading:
            # Its items are parts of the page, not points of a list.
            return [block for item in element.elements() for block in self.blocks(item)]
        return render_list(element, self)

    def _pre(self, element: Element) -> list[str]:
        code = render_code_block(element)
        return [self._continued(code)] if code else []

    def _table(self, element: Element) -> list[str]:
        code = _code_of_numbered_table(element)
        if code is not None:
            return self._pre(code)
        lines = lines_of_code_table(element)
        if lines:
            return [self._continued(fence(lines))]
        is_layout = not is_data_table(element) or _has_lines_of_code(element)
        if is_layout or _documents_symbols(element):
            return self._layout(element)
        blocks = render_table(element, lambda cell: self.line(cell.children))
        return [self._continued(block) for block in blocks]

    def _layout(self, table: Element) -> list[str]:
        """Return what the cells of a table hold; those of a row of short ones on one line."""
        blocks = [block for cell in _captions(table) for block in self.blocks(cell)]
        for row in rows_of(table):
            cells = row.elements()
            if len(cells) > 1 and all(_is_label(cell) for cell in cells):
                line = " ".join(filter(None, (self.line(cell.children) for cell in cells)))
                blocks.extend([self._continued(line)] if line else [])
            else:
                blocks.extend(block for cell in cells for block in self.blocks(cell))
        return blocks

    def _definitions(self, element: Element) -> list[str]:
        if is_symbol_list(element):
            return render_symbols(element, self)
        return render_definitions(element, self)

    def _quotation(self, element: Element) -> list[str]:
        _part_sources(element)
        body = join_blocks(self.blocks(element))
        if not has_words(body):
            return [body] if body else []
        return ["\n".join(f"> {line}" if line else ">" for line in body.split("\n"))]

    def _figure(self, element: Element) -> list[str]:
        legend = next((below for below in element.walk() if _is_caption(below)), None)
        words = self.line(legend.children) if legend is not None else ""
        is_first = legend is not None and legend in element.elements()[:1]
        if legend is not None:
            legend.remove()
        images = [child for child in element.walk() if child.tag == "img"]
        if not images or element.find("table", "pre", "p", "blockquote") is not None:
            blocks, name = self.blocks(element), [words] if words else []
            return [*name, *blocks] if is_first else [*blocks, *name]
        caption = plain_text(words)
        title = "" if self._has_captions else caption
        shown = [self._inline.image(image, caption=caption, title=title) for image in images]
        # Lazy loading writes the same image twice, the second time inside <noscript>.
        first = next((image for image in shown if image), "")
        is_shown = self._has_captions or not first
        return [*([first] if first else []), *([words] if words and is_shown else [])]

    def _details(self, element: Element) -> list[str]:
        summary = next((child for child in element.elements() if child.tag == "summary"), None)
        if summary is None:
            return self.blocks(element)
        summary.remove()
        if summary.find(*_HEADING_LEVELS) is not None:
            return [*self.blocks(summary), *self.blocks(element)]
        words = self.plain_line(summary.children)
        return [*([in_bold(words)] if words else []), *self.blocks(element)]

    def _admonition(self, element: Element, admonition: Admonition) -> list[str]:
        if admonition.title is not None:
            admonition.title.remove()
        body = self.blocks(content_of(element))
        return label_blocks(admonition.label, admonition.title_text, body)


def _part_sources(quotation: Element) -> None:
    """Part who said something from what was said, where both stand in one run of text."""
    for source in [below for below in quotation.walk() if below.tag == "cite"]:
        around = source.parent
        if around is None or around.tag == "p" or around.children[-1] is source:
            continue
        opening = around.children[:_OPENING_NODES]
        place = next((at for at, child in enumerate(opening) if child is source), None)
        if place is None or any(isinstance(c, str) and c.strip() for c in opening[:place]):
            continue
        around.children.insert(place + 1, Element("br", {}, around))


def _is_figure(element: Element) -> bool:
    return (
        element.tag == "div"
        and element.has_class(*_FIGURE_CLASSES)
        and element.find("img") is not None
    )


def _is_caption(element: Element) -> bool:
    return element.tag == "figcaption" or element.has_class("wp-caption-text", "gallery-caption")


def _is_block(element: Element) -> bool:
    if element.tag in _CODE_TAGS and not element.has_block:
        return _has_broken_lines(element)
    return element.tag in BLOCK_TAGS or (element.has_block and element.tag not in ("math", "svg"))


def _broken_lines(code: Element) -> Iterator[str]:
    for child in code.children:
        if isinstance(child, str):
            # As a browser shows it: only breaks end a line, only fixed spaces indent one.
            yield _SPACES.sub(" ", child).removeprefix(" ") if "\n" in child else child
        elif child.tag == "br":
            yield "\n"
        else:
            yield from _broken_lines(child)


def _has_broken_lines(code: Element) -> bool:
    """Return whether line breaks make a listing of what is marked as code within a line."""
    breaks = sum(below.tag == "br" for below in code.walk())
    return breaks >= _MIN_BREAKS and not code.has_block


def _documents_symbols(table: Element) -> bool:
    """Return whether the cells of a table hold entries of an API, each of which is a section."""
    return any(below.tag == "dl" and is_symbol_list(below) for below in table.walk())


def _has_lines_of_code(table: Element) -> bool:
    return any("\n" in e.text().strip() for e in table.walk() if e.tag == "pre")


def _captions(table: Element) -> list[Element]:
    return [child for child in table.elements() if child.tag == "caption"]


def _cells(table: Element) -> list[Element]:
    return _captions(table) + [cell for row in rows_of(table) for cell in row.elements()]


def _is_label(cell: Element) -> bool:
    return not cell.has_block and len(cell.text()) <= _MAX_LABEL_CHARACTERS


def _code_of_numbered_table(table: Element) -> Element | None:
    """Return the program text of a table whose first column only numbers the lines."""
    if not table.names and table.find("pre") is None:
        return None
    cells = _cells(table)
    if len(cells) != 2:
        return None
    numbers = collapse_spaces(cells[0].text()).replace(" ", "")
    code = cells[1].find("pre")
    return code if code is not None and numbers.isdecimal() else None
