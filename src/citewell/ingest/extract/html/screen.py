"""The words of an HTML page as a browser searches them for the words of a link."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.screen import BLOCK, FOLD, JOINT, NUMBER, UNSURE
from citewell.ingest.extract.html.element import BLOCK_TAGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from citewell.ingest.extract.html.element import Element

_SPACES = re.compile(r"[ \t\n\r\f]+")
_JOINTS = re.compile(f"{JOINT}{{2,}}")
# A browser drops a line break, and the spaces around it, beside a place where words may be broken.
_BREAK_AFTER = re.compile(r"[ \t\r\f]*+\n[ \t\n\r\f]*+")
_BLOCKS = BLOCK_TAGS | {"legend", "rt"}
# The style sheet of newer Doxygen sets these as boxes, which a browser searches one by one.
_DOXYGEN_BLOCKS = _BLOCKS | {"code", "kbd", "samp", "tt"}
_DOXYGEN = re.compile(r"Doxygen (?:1\.(?:9|\d\d)|[2-9])")
# Scripts typeset formulas; the sheets of themes hide these links, or let them float.
_UNSURE_TAGS = frozenset({"math", "script"})
_UNSURE_CLASSES = (
    "math", "headerlink", "permalink", "viewcode-link", "viewcode-back", "anchor", "self-link",
    "lineno", "linenos", "method-click-advice", "selflink",
)  # fmt: skip
# The programs of Doxygen and the signatures of Javadoc keep their spaces by a style sheet, which
# also makes a block of a signature's parameters.
_PROGRAM_CLASSES = (
    "fragment", "line", "member-signature", "type-signature", "package-signature",
    "module-signature",
)  # fmt: skip
_PROGRAM_BLOCK_CLASSES = ("parameters", "exceptions", "type-parameters-long")
# Tabs above the tables of Javadoc, and the letters before the names in Doxygen's lists.
_BLOCK_CLASSES = ("activetabletab", "tabletab", "icona")
_PROSE_CLASSES = ("type-parameters",)
_UNSURE_LETTERS = 8
# What style sheets hide, some until it is clicked or pointed at: pragmas of Nim, tooltips, menus,
# the maker of a gallery, ends of tabs, what is for browsers without scripts, parts of addresses.
_HIDDEN_CLASSES = (
    "pragmawrap", "pragmadots", "tooltip", "tooltiptext", "ttc", "dropdown-menu",
    "sphx-glr-signature", "tabend", "hide-when-js-enabled", "obfuscator",
)  # fmt: skip
# Haddock lets the link to a source float, and hides some of its captions.
_FLOATING_LINK = "Source"
_HIDDEN_CAPTIONS = ("Description", "Arguments", "Fields")
_UNSURE_CAPTION = max(map(len, _HIDDEN_CAPTIONS)) + 1


def read_screen(body: Element, *, generator: str = "", hidden: Sequence[str] = ()) -> str:
    """Return the words of a page, menus included, with `BLOCK` between its blocks.

    `generator` is the program that the page names as its maker, and `hidden` are classes that its
    scripts hide.

    Line breaks of programs and of <br> are line feeds. `NUMBER` stands before the number of a line,
    `JOINT` where an element begins or ends inside of a line of prose.
    `UNSURE` stands for what a browser may or may not show: its style sheets and scripts are not at
    hand.
    """
    writer = _ScreenWriter(_DOXYGEN_BLOCKS if _DOXYGEN.match(generator) else _BLOCKS, hidden)
    _write(body.children, writer, is_program=False)
    blocks = _JOINTS.sub(JOINT, "".join(writer.pieces)).split(BLOCK)
    stripped = (block.lstrip(f" {JOINT}").rstrip(f" \n{JOINT}") for block in blocks)
    return BLOCK.join(filter(None, stripped)).strip(" \n")


class _ScreenWriter:
    """Joins the texts of a page, collapsing white space as a browser does."""

    def __init__(self, block_tags: frozenset[str], hidden: Sequence[str]) -> None:
        self.block_tags = block_tags
        self.hidden = hidden
        self.pieces: list[str] = []
        self.is_folded = False
        self._after_space = True
        self._may_break = False

    def add(self, text: str) -> None:
        if self._may_break and (spaces := _BREAK_AFTER.match(text)):
            text = text[spaces.end() :]
        collapsed = _SPACES.sub(" ", text)
        if self._after_space and collapsed.startswith(" "):
            collapsed = collapsed[1:]
        if collapsed:
            self.pieces.append(collapsed)
            self._after_space = collapsed.endswith(" ")
            self._may_break = False

    def allow_break(self) -> None:
        """Note a <wbr>."""
        self._may_break = True

    def add_program(self, text: str) -> None:
        self.pieces.append(text)
        self._after_space = self._may_break = False

    def add_break(self) -> None:
        while self.pieces and self.pieces[-1] in ("", JOINT):
            self.pieces.pop()
        if self._after_space and self.pieces:
            self.pieces[-1] = self.pieces[-1].removesuffix(" ")
        self.add_mark("\n")

    def add_edge(self, mark: str) -> None:
        """Note that an element begins or ends."""
        if mark == BLOCK:
            self.add_mark(mark)
        else:
            self.pieces.append(mark)

    def add_mark(self, mark: str) -> None:
        self.pieces.append(mark)
        self._after_space = mark != UNSURE
        self._may_break = False


def _write(children: Iterable[Element | str], writer: _ScreenWriter, *, is_program: bool) -> None:
    add = writer.add_program if is_program else writer.add
    for child in children:
        if isinstance(child, str):
            add(child)
        elif child.tag == "br":
            writer.add_break()
        elif child.tag == "wbr":
            writer.allow_break()
        elif is_program and _is_line_number(child):
            writer.add_program(NUMBER + child.text_start(_UNSURE_LETTERS).lstrip())
        elif _is_unsure(child):
            writer.add_mark(UNSURE)
        elif _is_hidden(child) or child.has_class(*writer.hidden):
            continue
        else:
            _write_shown(child, writer, is_program=is_program)


def _write_shown(element: Element, writer: _ScreenWriter, *, is_program: bool) -> None:
    is_block = element.tag in writer.block_tags or _is_set_as_block(element, is_program)
    # Programs are coloured word by word: style sheets set their lines as boxes, not their words.
    edge = BLOCK if is_block else "" if is_program else JOINT
    writer.add_edge(edge)
    keeps_spaces = is_program and not element.has_class(*_PROSE_CLASSES)
    if _is_closed(element) and not writer.is_folded:
        _write_folded(element, writer)
    else:
        _write(element.children, writer, is_program=keeps_spaces or _is_program(element))
    writer.add_edge(edge)


def _write_folded(details: Element, writer: _ScreenWriter) -> None:
    """Write closed details: what stands in them, apart from their summary, between two folds."""
    summaries = [child for child in details.children if _is_summary(child)]
    _write(summaries, writer, is_program=False)
    writer.add_mark(FOLD)
    writer.is_folded = True
    inside = (child for child in details.children if not _is_summary(child))
    _write(inside, writer, is_program=False)
    writer.is_folded = False
    writer.add_mark(FOLD)


def _is_closed(element: Element) -> bool:
    return element.tag == "details" and "open" not in element.attributes


def _is_summary(child: Element | str) -> bool:
    return not isinstance(child, str) and child.tag == "summary"


def _is_program(element: Element) -> bool:
    return element.tag == "pre" or (element.tag == "div" and element.has_class(*_PROGRAM_CLASSES))


def _is_line_number(element: Element) -> bool:
    """Return whether this is the number that Doxygen sets before a line, often without a space."""
    return (
        element.tag == "span"
        and element.has_class("lineno")
        and element.text_start(_UNSURE_LETTERS).strip().isdecimal()
    )


def _is_hidden(element: Element) -> bool:
    """Return whether style sheets or scripts hide this until it is clicked.

    Doxygen folds the rows of inherited members so. A browser searches closed details, too.
    """
    if not element.names:
        return False
    is_folded = element.tag == "tr" and element.has_class("inherit")
    return is_folded or element.has_class(*_HIDDEN_CLASSES)


def _is_set_as_block(element: Element, is_program: bool) -> bool:
    if not element.names:
        return False
    if element.tag == "a" and element.has_class("link"):
        return element.text_start(len(_FLOATING_LINK) + 1).strip() == _FLOATING_LINK
    is_block = element.has_class(*_BLOCK_CLASSES)
    return is_block or (is_program and element.has_class(*_PROGRAM_BLOCK_CLASSES))


def _is_unsure(element: Element) -> bool:
    if element.tag in _UNSURE_TAGS:
        return True
    if not element.names:
        return False
    if element.has_class("caption"):
        return element.text_start(_UNSURE_CAPTION).strip() in _HIDDEN_CAPTIONS
    if not element.has_class(*_UNSURE_CLASSES):
        return False
    is_long = element.has_class("math", "method-click-advice")
    return is_long or len(element.text_start(_UNSURE_LETTERS + 1).strip()) <= (_UNSURE_LETTERS)
