"""Files and folders of this machine in the corpus, named by the person at the shell."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from citewell.app.page_sync import Corpus, OwnPage, SyncReport, sync_pages
from citewell.core.errors import CitewellError
from citewell.core.progress import OnProgress, no_progress
from citewell.ingest.local_files import file_url, find_local_pages, folder_url, read_local_page

if TYPE_CHECKING:
    from pathlib import Path


__all__ = ["SyncReport", "index_path", "url_prefix"]


def url_prefix(path: Path) -> str:
    """Return what the URLs of a path's pages begin with."""
    return folder_url(path) or file_url(path)


async def index_path(
    corpus: Corpus,
    path: Path,
    *,
    tags: tuple[str, ...] = (),
    force: bool = False,
    on_progress: OnProgress = no_progress,
) -> SyncReport:
    """Make the corpus hold what a file or folder holds now; files that have gone leave it.

    Raises:
        InvalidArgument: there is no page in it.
    """
    max_bytes = corpus.settings.web_max_page_bytes
    pages = [_own_page(file, max_bytes=max_bytes) for file in find_local_pages(path)]
    return await sync_pages(
        corpus,
        pages,
        below=folder_url(path),
        tags=tags,
        force=force,
        on_progress=on_progress,
    )


def _own_page(file: Path, *, max_bytes: int) -> OwnPage:
    load = partial(read_local_page, file, max_bytes=max_bytes)
    try:
        etag = load().etag
    except CitewellError:
        # Reported when it is loaded for storing; its stored version stays.
        etag = None
    return OwnPage(url=file_url(file), etag=etag, load=load)
