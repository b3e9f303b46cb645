"""The search index of an exported site, as a script that a page loads when it is searched."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from citewell.core.words import STOP_STEMS
from citewell.docsite.files import list_doc_files
from citewell.docsite.index import build_index

if TYPE_CHECKING:
    from citewell.docsite.folder import DocsFolder
    from citewell.docsite.site.links import PageAddresses


def search_index_script(folder: DocsFolder, addresses: PageAddresses) -> str:
    """Return the program that `ranking.js` reads: postings, spellings, pages and their outlines.

    `addresses` are those of the site's root.
    """
    files = list_doc_files(folder.root)
    index = build_index(folder.root, files, before=None, sandbox=folder.sandbox).index
    data = {
        "pages": [
            {
                "path": record.path,
                "url": addresses.to_page(record.path).removeprefix("./"),
                "title": record.title,
                "length": record.length,
                "text": text,
                "outline": outline,
            }
            for record, outline in zip(index.pages, index.table.outlines, strict=True)
            if (text := folder.text(record.path)) is not None
        ],
        "postings": dict(index.table.postings),
        "spellings": index.table.spellings,
        "stop_words": sorted(STOP_STEMS),
        "snippet_length": folder.snippet_length,
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"window.docsSearchIndex = {text};\n"
