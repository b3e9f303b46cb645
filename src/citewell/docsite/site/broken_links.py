"""The broken links of a whole folder, found without rendering the pages that have none."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

from citewell.core.errors import ExtractionError
from citewell.docsite.pages import parse_page
from citewell.docsite.site.links import PageAddresses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.docsite.folder import DocsFolder

# Also what stands in code: a page is only suspected, and rendered to make sure.
_LINK = re.compile(
    r"\]\([ \t]*<?([^)\s>]+)|^[ ]{0,3}\[[^\]\n]{1,200}\]:[ \t]*<?([^\s>]+)"
    r"|\b(?:href|src)=[\"']?([^\"'\s>]+)",
    re.MULTILINE,
)
# What is included can be missing, and has links as well.
_INCLUDES = ("8<-", "{!", "{*", "@include:", "<<<")


def find_broken_links(folder: DocsFolder, *, allow_html: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the page and the words of each link to no page, or to no place on its own."""
    for path in folder.paths:
        text = folder.text(path)
        if text is None or not _is_suspect(path, text, folder):
            continue
        # Imported late: it brings the renderer, which a folder without broken links needs not.
        from citewell.docsite.site.page_content import render_in_sandbox

        try:
            content = render_in_sandbox(
                path, text, folder=folder, index_file="", allow_html=allow_html
            )
        except ExtractionError:
            # The page itself says that it cannot be shown, and why.
            continue
        for target in content.broken_links:
            yield path, target


def _is_suspect(path: str, text: str, folder: DocsFolder) -> bool:
    if any(mark in text for mark in _INCLUDES):
        return True
    addresses = PageAddresses(path=path, pages=folder.titles)
    for match in _LINK.finditer(text):
        addresses.resolve(unescape(match[match.lastindex or 0]))
    if addresses.broken:
        return True
    anchors = {link.anchor for link in addresses.anchored if link.path == path}
    if not anchors:
        return False
    # Places that are no sections are found by rendering.
    sections = parse_page(path, text, mtime=0.0, size=0).sections
    return not anchors <= {section.anchor for section in sections}
