"""Keeps the corpus up to date with pages that come from files, not from the web."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote

import anyio
import anyio.to_thread

from citewell.app.releases import StoredCorpus
from citewell.core.errors import CitewellError, EmptyPage, ExtractionError
from citewell.core.frozen import frozen
from citewell.core.progress import OnProgress, Progress, no_progress
from citewell.core.records import FetchedPage, PageInfo, SearchFilter
from citewell.ingest.outcome import PARALLEL_PAGES
from citewell.store.page_scan import scan_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from citewell.ingest.outcome import IngestOutcome

logger = logging.getLogger(__name__)


class FileIngester(Protocol):
    """Stores pages that were read from files."""

    async def ingest_fetched(
        self, fetched: FetchedPage, *, project: str, tags: tuple[str, ...] = ()
    ) -> IngestOutcome:
        """See `Ingester.ingest_fetched`."""


class Corpus(StoredCorpus, Protocol):
    """What syncing needs of a corpus."""

    @property
    def ingester(self) -> FileIngester:
        """Read them."""


@frozen
class OwnPage:
    """A page as it should be stored."""

    url: str
    etag: str | None
    """Changes with the content; None when that is not known."""
    load: Callable[[], FetchedPage | None]
    """Returns the whole page; None if its file is gone by then."""


@frozen
class SyncReport:
    """What a sync did."""

    pages: tuple[PageInfo, ...]
    """The pages that were written."""
    unchanged: int
    deleted: int
    failed: dict[str, CitewellError]
    """Why, for each URL; what an empty file held before is deleted, other copies are kept."""


async def sync_pages(
    corpus: Corpus,
    pages: Sequence[OwnPage],
    *,
    below: str | None,
    owner_tag: str | None = None,
    tags: tuple[str, ...] = (),
    force: bool = False,
    on_progress: OnProgress = no_progress,
) -> SyncReport:
    """Bring the corpus up to date with `pages`, tagged with `tags`.

    Unchanged pages are left alone unless `force`d. Of the stored pages whose URLs begin
    with `below`, and which have the `owner_tag`, those that are not among `pages` are deleted.
    """
    owners = (owner_tag,) if owner_tag else ()
    stored = await _stored_pages(corpus, pages, below=below, owners=owners)
    tags = (*owners, *tags, *corpus.settings.scope_tags)
    changed = [page for page in pages if force or not _is_as(stored.get(page.url), page, tags)]
    written: list[PageInfo] = []
    failed: dict[str, CitewellError] = {}
    emptied: list[str] = []
    bytes_read = 0
    being_read: dict[str, None] = {}
    limit = anyio.Semaphore(PARALLEL_PAGES)

    async def report() -> None:
        # The file that takes longest is named: without it, the last one looks like a standstill.
        oldest = next(iter(being_read), None)
        await on_progress(
            Progress(
                phase="ingest",
                message="Reading files" if oldest is None else f"Reading {_file_name(oldest)}",
                done=len(written) + len(failed),
                total=len(changed),
                bytes_done=bytes_read,
            )
        )

    async def store(page: OwnPage) -> None:
        nonlocal bytes_read
        async with limit:
            being_read[page.url] = None
            await report()
            try:
                outcome = await _store_page(corpus, page, tags=tags)
            except CitewellError as error:
                logger.warning("%s is not in the corpus: %s", page.url, error.message)
                failed[page.url] = _of_a_file(error, page.url)
                if isinstance(error, EmptyPage) and page.url in stored:
                    emptied.append(page.url)
            else:
                if outcome is not None and outcome.page is not None:
                    written.append(outcome.page)
                    bytes_read += outcome.bytes_read
            del being_read[page.url]
        await report()

    async with anyio.create_task_group() as tasks:
        for page in changed:
            tasks.start_soon(store, page)
    gone = {*emptied, *(stored.keys() - {page.url for page in pages})}
    for url in gone:
        await corpus.store.delete_page(stored[url].source_id)
    if changed or gone:
        logger.info("files in the corpus: %d written, %d deleted", len(written), len(gone))
    return SyncReport(
        pages=tuple(written),
        unchanged=len(pages) - len(changed),
        deleted=len(gone),
        failed=failed,
    )


async def _stored_pages(
    corpus: Corpus, pages: Sequence[OwnPage], *, below: str | None, owners: tuple[str, ...]
) -> dict[str, PageInfo]:
    project = corpus.settings.project
    if below is None:
        infos = [await corpus.store.find_page(page.url, project=project) for page in pages]
        return {info.url: info for info in infos if info is not None}
    where = SearchFilter(project=project, tags=owners, url_prefix=below)
    return {info.url: info async for info in scan_pages(corpus.store, where)}


async def _store_page(
    corpus: Corpus, page: OwnPage, *, tags: tuple[str, ...]
) -> IngestOutcome | None:
    fetched = await anyio.to_thread.run_sync(page.load)
    if fetched is None:
        return None
    return await corpus.ingester.ingest_fetched(fetched, project=corpus.settings.project, tags=tags)


def _of_a_file(error: CitewellError, url: str) -> CitewellError:
    """Return the error of a page in the words for a file, which needs no site and no script."""
    if not url.startswith("file:///") or not isinstance(error, (EmptyPage, ExtractionError)):
        return error
    if isinstance(error, EmptyPage):
        said = f"{url} holds no text"
        advice = "Write something into the file, or leave it out. A scan needs OCR first."
        return EmptyPage(said, suggestion=advice)
    advice = "The file may be damaged: open it in another program, or leave it out."
    return ExtractionError(error.message, suggestion=advice)


def _file_name(url: str) -> str:
    return unquote(url.rstrip("/").rpartition("/")[2]) or url


def _is_as(stored: PageInfo | None, page: OwnPage, tags: tuple[str, ...]) -> bool:
    if stored is None or page.etag is None:
        return False
    return stored.etag == page.etag and set(tags) <= set(stored.tags)
