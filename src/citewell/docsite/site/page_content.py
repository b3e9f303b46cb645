"""The content of one page as HTML, made in a process that can be killed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from citewell.core.language import detect_language
from citewell.docsite.pages import parse_page
from citewell.docsite.site.includes import IncludedFiles
from citewell.docsite.site.links import PageAddresses
from citewell.docsite.site.render import LONG_OUTLINE, UPPER_LEVEL, render_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import Language
    from citewell.docsite.folder import DocsFolder
    from citewell.docsite.site.render import OutlineEntry

_OUTLINE_LEVELS = (2, 3)
# A longer list helps no reader to find a section.
MAX_OUTLINE_ENTRIES = 1_000


class PageContent(NamedTuple):
    """What the theme shows of a page, as plain data."""

    title: str
    description: str
    language: Language
    html: str
    has_heading: bool
    outline: list[tuple[int, str, str]]
    """Level, words and anchor of the headings below the first level."""
    has_diagrams: bool
    broken_links: list[str]
    """As written."""
    anchor_links: list[tuple[str, str, str]]
    """As written, then the page and the anchor."""


def render_in_sandbox(
    path: str,
    text: str,
    *,
    folder: DocsFolder,
    index_file: str,
    allow_html: bool,
) -> PageContent:
    """Return the content of a page of `folder`; `index_file` is as in PageAddresses.

    Raises:
        ExtractionError: rendering exceeds the limits of a page of this size.
    """
    arguments = (path, text, str(folder.root), folder.paths, index_file, allow_html)
    return PageContent(*folder.sandbox.run(len(text), render_content, *arguments))


def render_content(
    path: str, text: str, root: str, pages: list[str], index_file: str, allow_html: bool
) -> PageContent:
    """Return the content of a page."""
    page = parse_page(path, text, mtime=0.0, size=0)
    body = page.body
    addresses = PageAddresses(path=path, pages=frozenset(pages), index_file=index_file)
    skipped_lines = text.count("\n") - body.count("\n")
    rendered = render_markdown(
        body,
        addresses,
        anchors={section.line_start - skipped_lines: section.anchor for section in page.sections},
        allow_html=allow_html,
        includes=IncludedFiles(root=Path(root)),
    )
    shown = _outline(rendered.outline)
    return PageContent(
        title=page.title,
        description=page.description,
        language=detect_language(body),
        html=rendered.html,
        has_heading=rendered.heading is not None,
        outline=[(entry.level, entry.text, entry.anchor) for entry in shown[:MAX_OUTLINE_ENTRIES]],
        has_diagrams=rendered.has_diagrams,
        broken_links=list(addresses.broken),
        anchor_links=[(link.written, link.path, link.anchor) for link in addresses.anchored],
    )


def _outline(entries: Sequence[OutlineEntry]) -> list[OutlineEntry]:
    shown = [entry for entry in entries if entry.level in _OUTLINE_LEVELS]
    upper = [entry for entry in shown if entry.level == UPPER_LEVEL]
    return upper if len(shown) > LONG_OUTLINE and len(upper) > 1 else shown
