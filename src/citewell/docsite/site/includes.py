"""Files that a page includes, as MkDocs (`--8<--`, `{! !}`, `{* *}`) and VitePress write it.

Only files inside the docs folder are taken in; what cannot be is reported like a broken link.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.docsite.files import MAX_PAGE_BYTES, decode_doc, is_text, read_doc, resolve_doc_path

if TYPE_CHECKING:
    from pathlib import Path

# An included page can include another; a cycle ends here.
MAX_DEPTH = 5
_MAX_LINE = 500
# Opening a file takes as long as rendering so many characters.
_LEAST_COST = 1_000
_LINES = re.compile(r":(\d{1,6})?(?::(\d{1,6}))?$")
_MARKED = re.compile(r"hl\[([\d,: -]{1,100})\]")
_FORMS = (
    re.compile(r"-{1,5}8<-{1,5}[ \t]+\"([^\"]{1,300})\""),
    re.compile(r"\{!>?([^!{}]{1,300}+)!\}"),
    re.compile(r"<!--[ \t]*@include:[ \t]*([^\s>]{1,300})[ \t]*-->"),
)
_CODE_FORMS = (
    re.compile(r"\{\*[ \t]*+([^\s*{}]{1,300}+)([^*{}]{0,200}+)\*\}"),
    re.compile(r"<<<[ \t]++(?:@/)?([^\s{}#]{1,300}+)(.{0,200}+)"),
)


@frozen
class Include:
    """A file that a line includes."""

    name: str
    """As it is written, the lines left out."""
    first: int | None = None
    last: int | None = None
    is_code: bool = False
    """Whether it is shown as a program even outside of a fence."""
    marked: str = ""
    """Lines of it to mark."""


def parse_include(line: str) -> Include | None:
    """Return the include of a line; None for a line that includes nothing."""
    text = line.strip()
    if not text or len(text) > _MAX_LINE:
        return None
    for form in _FORMS:
        if match := form.fullmatch(text):
            return _include(match[1].strip())
    for form in _CODE_FORMS:
        if match := form.fullmatch(text):
            marked = _MARKED.search(match[2])
            lines = marked[1].replace(":", "-") if marked else ""
            return _include(match[1], is_code=True, marked=lines)
    return None


@dataclass(slots=True, kw_only=True)
class IncludeBudget:
    """How much a page can still include: nested includes multiply."""

    characters: int = MAX_PAGE_BYTES

    def spend(self, text: str) -> bool:
        """Return whether there is room for a text, and reserve it."""
        self.characters -= max(len(text), _LEAST_COST)
        return self.characters >= 0


@frozen
class IncludedFiles:
    """The files that pages of one folder can include."""

    root: Path

    def read(self, include: Include, *, page_path: str) -> str | None:
        """Return the lines that a page asks for; None when there is no such text in the folder.

        A name is relative to the page, as in VitePress, or to the folder, as in MkDocs.
        """
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(page_path), include.name))
        for path in dict.fromkeys((beside, posixpath.normpath(include.name))):
            file = resolve_doc_path(self.root, path)
            if file is None or file.stat().st_size > MAX_PAGE_BYTES:
                continue
            data = read_doc(self.root, path)
            if data is not None and is_text(data):
                return _lines_of(decode_doc(data), include)
        return None


def _include(written: str, *, is_code: bool = False, marked: str = "") -> Include:
    lines = _LINES.search(written)
    if lines is None:
        return Include(name=written, is_code=is_code, marked=marked)
    first, last = (int(number) if number else None for number in lines.groups())
    name = written[: lines.start()]
    return Include(name=name, first=first, last=last, is_code=is_code, marked=marked)


def _lines_of(text: str, include: Include) -> str:
    if include.first is None and include.last is None:
        return text
    lines = text.splitlines(keepends=True)
    return "".join(lines[max(0, (include.first or 1) - 1) : include.last])
