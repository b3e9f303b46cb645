"""Running text of a Markdown file: links made absolute and recorded, HTML tags taken out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from citewell.ingest.extract.characters import collapse_spaces
from citewell.ingest.extract.emphasis import code_spans
from citewell.ingest.extract.html.fragment import render_fragment
from citewell.ingest.extract.html.math import convert_tex_delimiters
from citewell.ingest.extract.links import markdown_target
from citewell.ingest.extract.markdown.inline_html import without_html
from citewell.ingest.extract.markdown.link_marks import find_link_marks
from citewell.web.urls import without_anchor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.ingest.extract.canonical import CanonicalWriter
    from citewell.ingest.extract.links import LinkResolver
    from citewell.ingest.extract.markdown.link_marks import LinkMark

_SET_ASIDE = re.compile("\ufdd3(\\d+)\ufdd4")


class MarkdownInline:
    """Rewrites the running text of one file; code spans stay as they are."""

    def __init__(
        self, writer: CanonicalWriter, links: LinkResolver, definitions: Mapping[str, str]
    ) -> None:
        self._writer = writer
        self._links = links
        self._definitions = definitions

    def rewrite(self, line: str) -> str:
        """Return a line with marks for its links and images."""
        if not any(sign in line for sign in "[<&\\"):
            return line
        # A link's text may hold code, so code is set aside and put back afterwards.
        plain, codes = _set_code_aside(line) if "`" in line else (line, [])
        plain = without_html(plain, render_math=self._render_math)
        if "[" in plain:
            plain = self._rewrite_links(plain)
        if "\\(" in plain or "\\[" in plain:
            plain = convert_tex_delimiters(plain)
        return _SET_ASIDE.sub(lambda mark: codes[int(mark.group(1))], plain) if codes else plain

    def _render_math(self, source: str) -> str:
        return " ".join(render_fragment(source, self._writer, self._links))

    def _rewrite_links(self, line: str) -> str:
        pieces: list[str] = []
        position = 0
        for mark in find_link_marks(line):
            pieces += [line[position : mark.start], self._link(mark, line[mark.start : mark.end])]
            position = mark.end
        return "".join((*pieces, line[position:]))

    def _link(self, mark: LinkMark, written: str) -> str:
        target = mark.target
        if target is None:
            target = self._definitions.get(reference_key(mark.reference))
            if target is None:
                return written
        url = self._links.resolve(target)
        if mark.is_image:
            return self._image(mark.text, url, mark.title)
        text = self._rewrite_links(mark.text) if "![" in mark.text else mark.text
        if url is None or not self._links.leads_elsewhere(url) or not text.strip():
            return text
        link = self._writer.mark_link(without_anchor(url), text)
        return f"{link}[{text}]({markdown_target(url)})"

    def _image(self, alt: str, url: str | None, title: str) -> str:
        if url is None:
            return alt
        mark = self._writer.mark_image(url, alt=alt, caption=title)
        caption = f' "{title}"' if title else ""
        return f"{mark}![{alt}]({markdown_target(url)}{caption})"


def reference_key(label: str) -> str:
    """Return the form in which two labels of a reference link are compared."""
    return collapse_spaces(label).casefold()


def _set_code_aside(line: str) -> tuple[str, list[str]]:
    """Return the line with marks in place of its code spans, and the spans."""
    pieces: list[str] = []
    codes: list[str] = []
    position = 0
    for start, end in code_spans(line):
        pieces += [line[position:start], f"\ufdd3{len(codes)}\ufdd4"]
        codes.append(line[start:end])
        position = end
    return "".join((*pieces, line[position:])), codes
