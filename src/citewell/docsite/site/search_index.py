"""The search index of an exported site, as a script that a page loads when it is searched."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from citewell.core.words import STOP_STEMS
from citewell.docsite.files import list_doc_files
from citewell.docsite.index import build_index
from citewell.docsite.outline import encode_outline

if TYPE_CHECKING:
    from citewell.docsite.folder import DocsFolder
    from citewell.docsite.pages import DocPage
    from citewell.docsite.site.links import PageAddresses


def search_index_script(folder: DocsFolder, addresses: PageAddresses) -> str:
    """Return the program that `ranking.js` reads: postings, spellings, pages and their outlines.

    `addresses` are those of the site's root.
    """
    index = build_index(folder.root, list_doc_files(folder.root), before=None).index
    data = {
        "pages": [
            _page(page, length=record.length, url=addresses.to_page(record.path))
            for record in index.pages
            if (page := folder.page(record.path)) is not None
        ],
        "postings": dict(index.table.postings),
        "spellings": index.table.spellings,
        "stop_words": sorted(STOP_STEMS),
        "snippet_length": folder.snippet_length,
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"window.docsSearchIndex = {text};\n"


def _page(page: DocPage, *, length: int, url: str) -> dict[str, object]:
    return {
        "path": page.path,
        "url": url.removeprefix("./"),
        "title": page.title,
        "length": length,
        "text": page.content,
        "outline": encode_outline(page),
    }
