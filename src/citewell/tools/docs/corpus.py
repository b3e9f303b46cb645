"""The docs folder as part of the corpus: its pages stored, so that they can be cited."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from citewell.core.errors import CitewellError
from citewell.core.records import FetchedPage, SearchFilter
from citewell.docsite.corpus_text import corpus_text
from citewell.tools.docs_folder import base_url

if TYPE_CHECKING:
    from citewell.core.records import PageInfo
    from citewell.docsite.folder import DocsFolder
    from citewell.docsite.index import PageRecord
    from citewell.tools.services import Services

logger = logging.getLogger(__name__)

DOCS_TAG = "docs"
"""What the pages of a docs folder are tagged with, beside the server's own tags."""

_LISTED_AT_ONCE = 500


async def store_docs(services: Services, folder: DocsFolder) -> int:
    """Make the corpus hold the folder's pages as they are; return how many were written.

    A page is known by its URL on the website. One that has not changed is left alone, one whose
    file has gone is deleted.
    """
    base = base_url(services.settings)
    gone = {page.url: page for page in await _stored_pages(services, base)}
    changed: dict[str, PageRecord] = {}
    for record in folder.records:
        url = base + folder.url_of(record.path)
        before = gone.pop(url, None)
        if before is None or before.etag != _etag(record):
            changed[url] = record
    written = 0
    with services.ingester.expecting(len(changed)):
        for url, record in changed.items():
            written += await _store_page(services, folder, record, url=url)
    for page in gone.values():
        await services.store.delete_page(page.source_id)
    if changed or gone:
        logger.info("docs in the corpus: %d pages written, %d deleted", written, len(gone))
    return written


async def _stored_pages(services: Services, base: str) -> list[PageInfo]:
    where = SearchFilter(project=services.settings.project, tags=(DOCS_TAG,), url_prefix=f"{base}/")
    found: list[PageInfo] = []
    after = 0
    while listed := await services.store.list_pages(
        where, limit=_LISTED_AT_ONCE, after_source_id=after
    ):
        found += listed
        after = listed[-1].source_id
    return found


async def _store_page(
    services: Services, folder: DocsFolder, record: PageRecord, *, url: str
) -> bool:
    page = folder.page(record.path)
    if page is None:
        return False
    settings = services.settings
    text = corpus_text(page, folder, base_url=base_url(settings))
    fetched = FetchedPage(
        url=url,
        final_url=url,
        status=200,
        kind="markdown",
        body=text.encode(),
        text=text,
        fetched_at=datetime.now(UTC),
        etag=_etag(record),
    )
    try:
        await services.ingester.ingest_fetched(
            fetched, project=settings.project, tags=(DOCS_TAG, *settings.scope_tags)
        )
    except CitewellError as error:
        logger.warning("%s is not in the corpus: %s", record.path, error.message)
        return False
    return True


def _etag(record: PageRecord) -> str:
    return f'"{record.content_hash[:32]}"'
