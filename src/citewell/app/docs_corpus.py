"""The docs folder as part of the corpus: its pages stored, so that they can be cited."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from citewell.app.docs_folder import base_url
from citewell.app.local_pages import index_path
from citewell.app.page_sync import Corpus, OwnPage, sync_pages
from citewell.core.errors import CitewellError
from citewell.core.records import FetchedPage
from citewell.docsite.corpus_text import corpus_text

if TYPE_CHECKING:
    from citewell.docsite.folder import DocsFolder
    from citewell.docsite.index import PageRecord

logger = logging.getLogger(__name__)

DOCS_TAG = "docs"
"""Tag of the pages of a docs folder, in addition to the server's own tags."""


async def keep_docs(corpus: Corpus, folder: DocsFolder) -> None:
    """Store the folder once, in the background of a server."""
    try:
        await store_docs(corpus, folder)
    except CitewellError as error:
        logger.warning("the docs are not in the corpus: %s", error.message)


async def store_docs(corpus: Corpus, folder: DocsFolder) -> int:
    """Bring the corpus up to date with the folder; return how many pages were written.

    A page is stored under its URL on the website, or under its file URL without a website.
    Unchanged pages are left alone; pages whose file is gone are deleted.
    """
    base = base_url(corpus.settings)
    if not base:
        report = await index_path(corpus, folder.root)
        return len(report.pages)
    pages = [
        OwnPage(url=url, etag=_etag(record), load=partial(_load, folder, record, url, base))
        for record in folder.records
        for url in [base + folder.url_of(record.path)]
    ]
    report = await sync_pages(corpus, pages, below=f"{base}/", owner_tag=DOCS_TAG)
    return len(report.pages)


def _load(folder: DocsFolder, record: PageRecord, url: str, base: str) -> FetchedPage | None:
    written = folder.text(record.path)
    if written is None:
        return None
    text = corpus_text(record.path, written, folder, base_url=base)
    return FetchedPage(
        url=url,
        final_url=url,
        status=200,
        kind="markdown",
        body=text.encode(),
        text=text,
        fetched_at=datetime.now(UTC),
        etag=_etag(record),
        origin="file",
        headers=(("content-type", "text/markdown; charset=utf-8"),),
    )


def _etag(record: PageRecord) -> str:
    return f'"{record.content_hash[:32]}"'
