"""Index files and folders of this machine."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from citewell.app.late_ingester import LateIngester
from citewell.app.page_sync import Corpus, OwnPage, SyncReport, sync_pages
from citewell.app.pages import stored_below
from citewell.core.errors import CitewellError, EmptyPage, InvalidArgument
from citewell.core.frozen import frozen
from citewell.core.progress import OnProgress, no_progress
from citewell.ingest.local_files import file_url, find_local_pages, folder_url, read_local_page

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.app.open import App
    from citewell.core.settings import Settings
    from citewell.store.protocol import Store


__all__ = [
    "SyncReport",
    "index_path",
    "is_only_a_warning",
    "open_late_corpus",
    "url_prefix",
]


def url_prefix(path: Path) -> str:
    """Return the common prefix of the URLs of a path's pages."""
    return folder_url(path) or file_url(path)


@frozen
class LateCorpus:
    """A corpus that opens the ingester with the first file that has changed."""

    settings: Settings
    store: Store
    ingester: LateIngester


async def open_late_corpus(app: App) -> LateCorpus:
    """Return the corpus of the app's store."""
    store = (await app.open("store")).store
    ingester = LateIngester(store, app.open, settings=app.settings, has_embedder=False)
    return LateCorpus(settings=app.settings, store=store, ingester=ingester)


async def index_path(
    corpus: Corpus,
    path: Path,
    *,
    tags: tuple[str, ...] = (),
    force: bool = False,
    on_progress: OnProgress = no_progress,
) -> SyncReport:
    """Bring the corpus up to date with a file or folder; pages of missing files are removed.

    Raises:
        InvalidArgument: there is no page in it, and none is stored.
    """
    max_bytes = corpus.settings.web_max_page_bytes
    try:
        files = find_local_pages(path)
    except InvalidArgument:
        # The folder is empty or gone, so its stored pages are removed.
        if deleted := await _forget(corpus, path):
            return SyncReport(pages=(), unchanged=0, deleted=deleted, failed={})
        raise
    pages = [_own_page(file, max_bytes=max_bytes) for file in files]
    return await sync_pages(
        corpus,
        pages,
        below=folder_url(path),
        tags=tags,
        force=force,
        on_progress=on_progress,
    )


def is_only_a_warning(path: Path, error: CitewellError, *, reads_all: bool) -> bool:
    """Return whether work on a path is done although a file could not be read.

    What a person names must be readable. In a folder an empty file is a placeholder; a damaged
    one matters to work that is to read all of the folder.
    """
    return path.is_dir() and (isinstance(error, EmptyPage) or not reads_all)


async def _forget(corpus: Corpus, path: Path) -> int:
    stored = await stored_below(corpus.store, path, project=corpus.settings.project)
    for page in stored:
        await corpus.store.delete_page(page.source_id)
    return len(stored)


def _own_page(file: Path, *, max_bytes: int) -> OwnPage:
    load = partial(read_local_page, file, max_bytes=max_bytes)
    try:
        etag = load().etag
    except CitewellError:
        # Reported when it is loaded for storing; its stored version stays.
        etag = None
    return OwnPage(url=file_url(file), etag=etag, load=load)
