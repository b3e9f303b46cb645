"""The documentation of a project's packages in the corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import anyio.to_thread

from citewell.app.page_sync import Corpus, OwnPage, sync_pages
from citewell.core.frozen import frozen
from citewell.core.progress import OnProgress, no_progress
from citewell.core.records import SearchFilter
from citewell.inference.names import vector_model
from citewell.ingest.packages.find import front_page, package_pages, package_size
from citewell.ingest.packages.installed import is_editable_install
from citewell.store.page_scan import scan_pages

if TYPE_CHECKING:
    from citewell.app.releases import StoredCorpus
    from citewell.core.errors import CitewellError
    from citewell.core.records import PageInfo
    from citewell.ingest.packages.dependency import Dependency, Project
    from citewell.ingest.packages.package_page import PackagePage

Availability = Literal["indexed", "installed", "not installed"]


@frozen
class PackageReport:
    """The result of indexing one package."""

    dependency: Dependency
    pages: tuple[PageInfo, ...]
    symbols: int
    """How many symbols these pages define."""
    unchanged: int
    deleted: int
    failed: dict[str, CitewellError]


@frozen
class PackageState:
    """Whether a package is indexed or can be, and how much there is to read."""

    availability: Availability
    is_editable: bool = False
    files: int = 0
    bytes: int = 0

    @property
    def described(self) -> str:
        """The state in words."""
        if self.is_editable:
            return f"{self.availability} (editable: README only)"
        if self.availability == "installed" and not self.files:
            return "installed (no sources: README only)"
        return self.availability


async def check_package(corpus: StoredCorpus, dependency: Dependency) -> PackageState:
    """Return whether a package is indexed as it is installed, could be, or is not installed."""
    front = await anyio.to_thread.run_sync(front_page, dependency)
    if front is None:
        return PackageState(availability="not installed")
    is_editable = await anyio.to_thread.run_sync(is_editable_install, dependency)
    stored = await corpus.store.find_page(front.address, project=corpus.settings.project)
    if stored is not None and stored.etag == front.etag:
        return PackageState(availability="indexed", is_editable=is_editable)
    files, size = await anyio.to_thread.run_sync(package_size, dependency)
    return PackageState(availability="installed", is_editable=is_editable, files=files, bytes=size)


async def remember_project(corpus: StoredCorpus, folder: str, project: Project) -> None:
    """Remember the versions that a folder uses, so that searches prefer them."""
    releases = [
        dependency.release for dependency in project.dependencies if dependency.version is not None
    ]
    await corpus.store.releases.put_used_releases(
        corpus.settings.project, folder=folder, releases=releases
    )


async def find_pages_without_vectors(corpus: StoredCorpus) -> list[int]:
    """Return the pages of synced packages that lack vectors, which an interrupted run left."""
    model = vector_model(corpus.settings.embedder)
    if model is None or not await corpus.store.chunks_to_embed(model=model, limit=1):
        return []
    project = corpus.settings.project
    pages: dict[int, None] = {}
    for use in await corpus.store.releases.used_releases(project):
        prefix = f"{use.release.product}@{use.release.version}/"
        async for page in scan_pages(
            corpus.store, SearchFilter(project=project, url_prefix=prefix)
        ):
            if page.embedded_chunks < page.chunks:
                pages[page.source_id] = None
    # Chunks in a language that the model does not know never get a vector.
    waiting = await corpus.store.chunks_to_embed(model=model, limit=1, source_ids=list(pages))
    return list(pages) if waiting else []


async def index_package(
    corpus: Corpus,
    dependency: Dependency,
    *,
    drops_other_versions: bool = False,
    on_progress: OnProgress = no_progress,
) -> PackageReport:
    """Index the documentation that an installed package contains.

    Pages of other versions stay unless `drops_other_versions`.
    """
    front = await anyio.to_thread.run_sync(front_page, dependency)
    assert front is not None, "only an installed package is indexed"
    tags = (f"{dependency.ecosystem}:{dependency.name}",)
    pages = [_own(page) for page in await anyio.to_thread.run_sync(package_pages, dependency)]
    below = dependency.address
    if drops_other_versions:
        below = f"{dependency.ecosystem}:{dependency.name}@"
    report = await sync_pages(
        corpus, [*pages, _kept(front)], below=below, tags=tags, on_progress=on_progress
    )
    last = await sync_pages(corpus, [_own(front)], below=None, tags=tags)
    written = (*report.pages, *last.pages)
    return PackageReport(
        dependency=dependency,
        pages=written,
        symbols=await corpus.store.symbols.count_symbols([page.source_id for page in written]),
        unchanged=report.unchanged,
        deleted=report.deleted,
        failed={**report.failed, **last.failed},
    )


def _own(page: PackagePage) -> OwnPage:
    return OwnPage(url=page.address, etag=page.etag, load=page.load)


def _kept(front: PackagePage) -> OwnPage:
    """Return the front page as one that is neither deleted nor written by this sync."""
    return OwnPage(url=front.address, etag=None, load=lambda: None)
