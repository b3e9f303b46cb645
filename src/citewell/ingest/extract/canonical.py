"""Putting canonical Markdown together: text, sections, links and images with exact offsets.

Renderers compose Markdown as plain strings and cannot know where a piece ends up. So they write
marks (two noncharacters around a key) before each heading, link and image; `finish` takes the
marks out and turns their places into offsets.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.records import Image, Link, Section
from citewell.ingest.extract.characters import collapse_spaces, drop_controls, tidy_lines
from citewell.ingest.extract.emphasis import without_emphasis

if TYPE_CHECKING:
    from citewell.core.records import LinkKind

MARK_START = "\ufdd0"
MARK_END = "\ufdd1"
_MARK = re.compile(f"{MARK_START}([sli])(\\d+){MARK_END}")
_NO_WORDS = re.compile(f"(?:\\s|{MARK_START}[sli]\\d+{MARK_END})*+")
_LINE_OF_MARKS = re.compile(f"^[ \\t]*((?:{MARK_START}\\w+{MARK_END})+)[ \\t]*\\n+", re.MULTILINE)
_CONTEXT_CHARACTERS = 160
# The page with the most links that we know, of the Rust documentation, has 24,000. Beyond this many
# of both, links and images stand in the text alone: 200,000 of them would take hundreds of
# megabytes, and other writers wait while the store lists them.
MAX_RECORDS = 25_000
# Later headings open no section, for the same reason.
MAX_SECTIONS = 10_000
# As replacements these are called from C; `re` calls Python for a template such as r"\1".
_FIRST_GROUP = itemgetter(1)
_LINK_TARGET = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?: \"[^\"]*\")?\)")

# A linked picture beside a title shows the state of the project.
_BADGE = re.compile(r"\[!\[[^\[\]]*\]\([^()\s]*\)\]\([^()\s]*\)")


@frozen
class CanonicalText:
    """Canonical Markdown with its structure."""

    text: str
    sections: tuple[Section, ...]
    links: tuple[Link, ...]
    images: tuple[Image, ...]


class CanonicalWriter:
    """Hands out marks while a page is rendered, and resolves them at its end."""

    def __init__(self) -> None:
        self._sections: list[tuple[int, str, str | None]] = []
        self._links: list[tuple[str, str, LinkKind]] = []
        self._images: list[tuple[str, str, str]] = []

    def mark_section(self, level: int, heading: str, anchor: str | None) -> str:
        """Return the mark of a section, for before its heading's line; "" after too many."""
        if len(self._sections) >= MAX_SECTIONS:
            return ""
        self._sections.append((level, plain_text(heading), anchor or None))
        return f"{MARK_START}s{len(self._sections) - 1}{MARK_END}"

    def mark_link(self, url: str, text: str, kind: LinkKind = "content") -> str:
        """Return the mark of a link to `url`, which has no fragment; "" after too many."""
        if self._has_too_many_records():
            return ""
        self._links.append((url, plain_text(text), kind))
        return f"{MARK_START}l{len(self._links) - 1}{MARK_END}"

    def mark_image(self, url: str, *, alt: str, caption: str) -> str:
        """Return the mark of an image; "" after too many."""
        if self._has_too_many_records():
            return ""
        self._images.append((url, plain_text(alt), plain_text(caption)))
        return f"{MARK_START}i{len(self._images) - 1}{MARK_END}"

    def _has_too_many_records(self) -> bool:
        return len(self._links) + len(self._images) >= MAX_RECORDS

    def finish(self, marked: str) -> CanonicalText:
        """Return the text without marks, and what the marks stood for."""
        # A line of marks alone would leave a blank line behind: they go with what follows.
        marked = drop_controls(marked)
        if f"{MARK_END}\n" in marked or f"{MARK_END} \n" in marked:
            marked = _LINE_OF_MARKS.sub(_FIRST_GROUP, marked)
        text, marks = _take_marks_out(tidy_lines(marked).strip("\n"))
        sections = self._section_tree(text, [m for m in marks if m[0] == "s"])
        starts = [section.start for section in sections]
        last = max(len(text) - 1, 0)
        contexts = _Contexts(text)
        links: list[Link] = []
        images: list[Image] = []
        for kind, number, offset in marks:
            start = min(offset, last)
            section = bisect_right(starts, start) - 1
            if kind == "l":
                url, words, link_kind = self._links[number]
                links.append(
                    Link(
                        url=url,
                        text=words,
                        context=contexts.around(start, words),
                        section=section,
                        start=start,
                        kind=link_kind,
                    )
                )
            elif kind == "i":
                url, alt, caption = self._images[number]
                images.append(
                    Image(url=url, alt=alt, caption=caption, section=section, start=start)
                )
        return CanonicalText(
            text=text, sections=tuple(sections), links=tuple(links), images=tuple(images)
        )

    def _section_tree(self, text: str, marks: list[tuple[str, int, int]]) -> list[Section]:
        opened = [(offset, *self._sections[number]) for _, number, offset in marks]
        if not opened or opened[0][0] > 0:
            opened.insert(0, (0, 0, "", None))
        sections: list[Section] = []
        open_sections: list[Section] = []
        for place, (start, level, heading, anchor) in enumerate(opened):
            end = opened[place + 1][0] if place + 1 < len(opened) else len(text)
            if start == end:
                continue
            while open_sections and open_sections[-1].level >= level:
                open_sections.pop()
            # What stands before the first heading has no heading to hang others under.
            parent = open_sections[-1].ordinal if open_sections else None
            section = Section(
                ordinal=len(sections),
                parent=parent,
                level=level,
                heading=heading,
                anchor=anchor,
                start=start,
                end=end,
            )
            sections.append(section)
            if level > 0:
                open_sections.append(section)
        return sections


def visible_text(marked: str) -> str:
    """Return marked text as it will read, marks left out."""
    return _MARK.sub("", marked) if MARK_START in marked else marked


def has_words(marked: str) -> bool:
    """Return whether anything but marks and white space stands in marked text."""
    # Unlike taking the marks out, this ends at the first word: a list may be a megabyte long.
    return _NO_WORDS.fullmatch(marked) is None


def join_blocks(blocks: list[str], separator: str = "\n\n") -> str:
    """Join blocks; a block of marks alone leaves no empty line behind."""
    joined: list[str] = []
    waiting = ""
    for block in blocks:
        if not has_words(block):
            waiting += block.strip()
            continue
        joined.append(waiting + block)
        waiting = ""
    if waiting and joined:
        joined[-1] += waiting
    return separator.join(joined) if joined else waiting


def plain_text(markdown: str) -> str:
    """Return one line of Markdown as a reader sees it: no marks, link targets or emphasis."""
    text = visible_text(markdown)
    if "](" in text:
        text = _BADGE.sub("", text) if _BADGE.sub("", text).strip() else text
        # A link can hold a picture.
        text = _LINK_TARGET.sub(_FIRST_GROUP, _LINK_TARGET.sub(_FIRST_GROUP, text))
    if "`" in text and text.count("`") == 2 and text[0] == text[-1] == "`":
        text = text[1:-1]
    elif "*" in text or "`" in text or "~~" in text:
        text = without_emphasis(text)
    return collapse_spaces(text)


def _take_marks_out(marked: str) -> tuple[str, list[tuple[str, int, int]]]:
    pieces: list[str] = []
    marks: list[tuple[str, int, int]] = []
    offset = 0
    last = 0
    for match in _MARK.finditer(marked):
        piece = marked[last : match.start()]
        pieces.append(piece)
        offset += len(piece)
        last = match.end()
        marks.append((match.group(1), int(match.group(2)), offset))
    pieces.append(marked[last:])
    return "".join(pieces).rstrip() + "\n", marks


class _Contexts:
    """Finds the words around links, asked for in the order they stand in."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line_end = 0
        self._line = ""
        self._found = 0

    def around(self, start: int, words: str) -> str:
        """Return the words of the line around the link at `start`."""
        if start >= self._line_end:
            line_start = self._text.rfind("\n", self._line_end, start) + 1 or self._line_end
            end = self._text.find("\n", start)
            self._line_end = len(self._text) if end < 0 else end + 1
            line = self._text[line_start : self._line_end]
            # Emphasis is left in: taking it out of every line costs more than it is worth.
            self._line = collapse_spaces(
                _LINK_TARGET.sub(_FIRST_GROUP, line).replace("`", "").replace("**", "")
            )
            self._found = 0
        at = self._line.find(words, self._found)
        if at < 0:
            return words
        self._found = end = at + len(words)
        low = max(at - _CONTEXT_CHARACTERS, 0)
        if low:
            low = self._line.find(" ", low, at) + 1 or low
        high = end + _CONTEXT_CHARACTERS
        if high < len(self._line):
            space = self._line.rfind(" ", end, high)
            high = space if space > 0 else high
        return self._line[low:high]
