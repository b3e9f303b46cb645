"""The ingester of the research engine, opened with the first page that has to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.progress import OnProgress, no_progress
from citewell.ingest.outcome import IngestOutcome, has_labels, is_of_its_url, is_stale
from citewell.web.urls import is_file_url, page_address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.app.parts import OpenLater
    from citewell.core.records import FetchedPage, PageInfo
    from citewell.core.settings import Settings
    from citewell.store.protocol import Store


class LateIngester:
    """Ingests pages; those that are stored, fresh and embedded do not open the ingester."""

    def __init__(
        self, store: Store, open_parts: OpenLater, *, settings: Settings, has_embedder: bool
    ) -> None:
        self._store = store
        self._open_parts = open_parts
        self._stale_after_days = settings.page_stale_days
        self._has_embedder = has_embedder

    async def ingest(
        self,
        url: str,
        *,
        project: str,
        tags: tuple[str, ...] = (),
        on_progress: OnProgress = no_progress,
    ) -> IngestOutcome:
        """Ingest `url`; see `Ingester.ingest`."""
        address = page_address(url)
        stored = await self._store.find_page(address, project=project)
        if stored is not None and self._will_do(stored, address, tags):
            return IngestOutcome(url=url, page=stored)
        ingester = (await self._open_parts("ingester")).ingester
        return await ingester.ingest(url, project=project, tags=tags, on_progress=on_progress)

    async def search_site(
        self, url: str, weights: Mapping[str, float], *, limit: int
    ) -> list[tuple[str, str]]:
        """Search the site's own index; see `Ingester.search_site`."""
        ingester = (await self._open_parts("ingester")).ingester
        return await ingester.search_site(url, weights, limit=limit)

    async def ingest_fetched(
        self, fetched: FetchedPage, *, project: str, tags: tuple[str, ...] = ()
    ) -> IngestOutcome:
        """Store a page that was not fetched from the web; see `Ingester.ingest_fetched`."""
        ingester = (await self._open_parts("ingester")).ingester
        return await ingester.ingest_fetched(fetched, project=project, tags=tags)

    def _will_do(self, page: PageInfo, address: str, tags: tuple[str, ...]) -> bool:
        if self._has_embedder and page.embedded_chunks < page.chunks:
            return False
        is_fresh = is_file_url(address) or not is_stale(page, after_days=self._stale_after_days)
        return is_of_its_url(page) and is_fresh and has_labels(page, tags, None)
