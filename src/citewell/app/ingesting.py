"""Opens what turns URLs into stored pages, or into pages for one caller."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from citewell.app.citation_watch import CitationWatch
from citewell.app.duties import duties_of
from citewell.app.live_pages import LivePages
from citewell.app.rendering import check_rendering, open_rendering
from citewell.ingest.pipeline import Ingester

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.app.parts import Assembly


@asynccontextmanager
async def open_ingester(assembly: Assembly) -> AsyncIterator[Ingester]:
    """Give the ingester; it renders pages if this process has a browser or can ask for one."""
    settings = assembly.settings
    duties = duties_of(settings, is_worker=assembly.role == "worker")
    no_rendering = check_rendering(settings, duties)
    parts = await assembly.open("store", "fetcher", "embedder", "events")
    watch = CitationWatch(parts.store, parts.events)
    rendering = open_rendering(
        settings, parts.fetcher, parts.store.renders, duties=duties, unavailable=no_rendering
    )
    async with (
        rendering as second_look,
        Ingester(
            store=parts.store,
            fetcher=parts.fetcher,
            embedder=parts.embedder if duties.embeds else None,
            stale_after_days=settings.page_stale_days,
            second_look=second_look,
            response_max_bytes=settings.response_max_bytes,
            on_change=watch.wake,
        ) as ingester,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(watch.keep_judging, ingester)
        if assembly.role != "command":
            # Pages may have changed while no process was judging.
            watch.wake()
        try:
            yield ingester
        finally:
            tasks.cancel_scope.cancel()
            await watch.finish(ingester)


@asynccontextmanager
async def open_live_pages(assembly: Assembly) -> AsyncIterator[LivePages]:
    """Give the pages that callers read without storing them."""
    yield LivePages((await assembly.open("ingester")).ingester)
