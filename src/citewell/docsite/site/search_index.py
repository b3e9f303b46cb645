"""The search index of an exported site, as a script that a page loads when it is searched."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from citewell.core.words import STOP_STEMS
from citewell.docsite.files import list_doc_files
from citewell.docsite.index import build_index
from citewell.docsite.pages import plain_heading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from citewell.docsite.folder import DocsFolder
    from citewell.docsite.index import PageRecord
    from citewell.docsite.pages import DocPage
    from citewell.docsite.site.links import PageAddresses

# What a reader of the page does not see at the beginning of lines, and comments.
_MARKS = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]+|(?:>[ \t]?)+(?:\[!\w+\])?|[-*+][ \t]+|(?:`{3,}|~{3,})[^\n]*$"
    r"|(?::{3,}|/{3,}|!!!|\?\?\?\+?)[^\n]*$|[ \t:|=-]+$)|<!--.*?-->",
    re.MULTILINE | re.DOTALL,
)
_CELL_BORDER = re.compile(r"[ \t]*\|[ \t]*")
_ALL = 10_000_000


def search_index_script(folder: DocsFolder, addresses: PageAddresses) -> str:
    """Return the program that `ranking.js` reads: postings, spellings and the text of sections.

    `addresses` are those of the site's root.
    """
    index = build_index(folder.root, list_doc_files(folder.root), before=None).index
    data = {
        "pages": [
            _page(record, page, url=addresses.to_page(record.path))
            for record in index.pages
            if (page := folder.page(record.path)) is not None
        ],
        "postings": dict(index.table.postings),
        "spellings": index.table.spellings,
        "stop_words": sorted(STOP_STEMS),
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"window.docsSearchIndex = {text};\n"


def _page(record: PageRecord, page: DocPage, *, url: str) -> dict[str, object]:
    return {
        "path": record.path,
        "url": url.removeprefix("./"),
        "title": record.title,
        "length": record.length,
        "sections": list(_sections(page)),
    }


def _sections(page: DocPage) -> Iterator[tuple[str, str, str]]:
    """Yield heading, anchor and text of each section, first what stands before all headings."""
    lines = page.body.split("\n")
    skipped = page.content.count("\n") - page.body.count("\n")
    starts = [section.line_start - 1 - skipped for section in page.sections]
    opening = plain_text("\n".join(lines[: starts[0]] if starts else lines))
    if opening:
        yield "", "", opening
    for section, start in zip(page.sections, starts, strict=True):
        text = "\n".join(lines[start + 1 : section.line_end - skipped])
        # The first heading is the page itself: its address needs no anchor.
        yield section.heading, section.anchor if section.level > 1 else "", plain_text(text)


def plain_text(markdown: str) -> str:
    """Return Markdown on one line, without its marks."""
    return plain_heading(_CELL_BORDER.sub(" ", _MARKS.sub(" ", markdown)), limit=_ALL).strip()
