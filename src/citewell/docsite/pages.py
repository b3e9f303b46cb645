"""A Markdown file as a page with its title and sections."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.text import one_line, without_closing_hashes
from citewell.ingest.extract.markdown.front_matter import split_front_matter
from citewell.ingest.extract.markdown.slug import SlugCounter

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_HEADING_CHARACTERS = 200
MAX_DESCRIPTION_CHARACTERS = 300

# The lines that make or hide a heading: `# one`, the underline of one, and the marks of code.
# Begins with the end of the line before, which is twice as fast as `^`.
_MARK = re.compile(
    r"\n {0,3}(?=[#=`~-])(?:(?P<hashes>#{1,6})(?:[ \t]++(?P<text>[^\n]*+))?"
    r"|(?P<underline>=++|-{2,}+)[ \t]*+|(?P<fence>`{3,}+|~{3,}+)(?P<info>[^\n]*+))$",
    re.MULTILINE,
)
_NO_PARAGRAPH = re.compile(r"^(?: {4}|\t| {0,3}(?:[#>|]|[-*+] |\d+[.)] |```|~~~|<|:::|!!!))")
_HEADING_ID = re.compile(r"(?<![ \t])[ \t]*+\{:?[ \t]*+#([^\s{}]++)[^{}]*+\}$")
_ATTRIBUTES = re.compile(r"(?<![ \t])[ \t]*+\{:?[ \t]*+[.#][^{}]*+\}$")
_LINKED = re.compile(
    r"!?\[((?:[^\[\]]|\[[^\[\]]*+\])*+)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])"
)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
# Each alternative begins with its mark: only then are other characters skipped over quickly.
_EMPHASIS = re.compile(r"\*|`|~~|__|_(?:(?<!\w_)|(?!\w))")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


@frozen
class DocSection:
    """A heading and the text below it, up to the next heading of any level."""

    heading: str
    level: int
    anchor: str
    start: int
    """Where its line begins in the text of the page."""
    line_start: int
    """Of the heading, the first line of the page being 1."""
    line_end: int
    """The last line of the section, itself included."""


@frozen
class DocPage:
    """A page of the docs folder."""

    path: str
    title: str
    description: str
    """Of the front matter; empty when it has none."""
    content: str
    """The whole file, front matter included."""
    sections: tuple[DocSection, ...]
    mtime: float
    size: int
    word_count: int

    @property
    def body(self) -> str:
        """What follows the front matter."""
        return self.content[body_start(self.content) :]


def parse_page(path: str, content: str, *, mtime: float, size: int) -> DocPage:
    """Parse the file at `path` as a page."""
    fields, body = split_front_matter(content)
    sections = tuple(_sections(content, start=len(content) - len(body)))
    return DocPage(
        path=path,
        title=plain_heading(fields.get("title", "")) or _title(path, sections),
        description=one_line(fields.get("description", ""), limit=MAX_DESCRIPTION_CHARACTERS),
        content=content,
        sections=sections,
        mtime=mtime,
        size=size,
        word_count=len(body.split()),
    )


def body_start(content: str) -> int:
    """Return where the text begins that follows the front matter."""
    return len(content) - len(split_front_matter(content)[1])


def plain_heading(text: str, *, limit: int = MAX_HEADING_CHARACTERS) -> str:
    """Return the words of a heading, or of other text, without the marks of Markdown and HTML."""
    if "{" in text:
        text = _ATTRIBUTES.sub("", text)
    if "[" in text:
        text = _LINKED.sub(r"\1", text)
        # A picture that is a link.
        text = _LINKED.sub(r"\1", text) if "](" in text else text
    text = _ESCAPED.sub(r"\1", _EMPHASIS.sub("", _TAG.sub("", text)))
    return one_line(text, limit=limit)


def _title(path: str, sections: tuple[DocSection, ...]) -> str:
    top = next((section for section in sections if section.level == 1), None)
    section_named = top or next(iter(sections), None)
    if section_named is not None and section_named.heading:
        return section_named.heading
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0]
    if stem.lower() in ("index", "readme") and folder:
        stem = folder.rpartition("/")[2]
    return stem.replace("-", " ").replace("_", " ").strip().capitalize() or path


def _sections(content: str, *, start: int) -> Iterator[DocSection]:
    slugs = SlugCounter()
    headings = list(_headings(content, start=start))
    last_line = content.count("\n") + (not content.endswith("\n"))
    for place, (level, raw, line, begin) in enumerate(headings, start=1):
        heading = plain_heading(raw)
        named = _HEADING_ID.search(raw)
        yield DocSection(
            heading=heading,
            level=level,
            anchor=named[1] if named else slugs.slug(heading),
            start=begin,
            line_start=line,
            line_end=headings[place][2] - 1 if place < len(headings) else last_line,
        )


def _headings(content: str, *, start: int) -> Iterator[tuple[int, str, int, int]]:
    """Yield level, text, line and place of each heading that is not in a block of code."""
    fence = ""
    line, counted_to = 1, 0
    # With the line end in front, a mark's place is that of its line in `content`.
    for mark in _MARK.finditer("\n" + content, start):
        if fence:
            if (mark["fence"] or "").startswith(fence) and not mark["info"].strip(" \t"):
                fence = ""
            continue
        if mark["fence"]:
            # Backticks after the first ones make it code within a line, such as ```x```.
            fence = "" if "`" in mark["info"] else mark["fence"]
            continue
        line += content.count("\n", counted_to, mark.start())
        counted_to = mark.start()
        if mark["hashes"]:
            yield (
                len(mark["hashes"]),
                without_closing_hashes(mark["text"] or ""),
                line,
                mark.start(),
            )
        elif text := _line_before(content, mark.start(), start=start):
            level = 1 if mark["underline"].startswith("=") else 2
            yield level, text.strip(), line - 1, mark.start() - len(text) - 1


def _line_before(content: str, position: int, *, start: int) -> str:
    """Return the line that the underline at `position` makes a heading, empty when it does not."""
    if position <= start:
        return ""
    begin = max(content.rfind("\n", start, position - 1) + 1, start)
    text = content[begin : position - 1]
    return "" if _NO_PARAGRAPH.match(text) or not text.strip() else text
