"""The library of websites, and the jobs that keep it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from citewell.app.duties import duties_of
from citewell.ingest.content_types.read import extract_fields
from citewell.ingest.library_pages import LibraryParts
from citewell.jobs.library import open_library
from citewell.jobs.runner import Pace

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.app.parts import Assembly
    from citewell.jobs.library import Library


@asynccontextmanager
async def open_library_part(assembly: Assembly) -> AsyncIterator[Library]:
    """Give the library; a server and a worker also do the jobs that are due."""
    settings = assembly.settings
    duties = duties_of(settings, is_worker=assembly.role == "worker")
    parts = await assembly.open("store", "embedder", "events", "fetcher", "ingester")
    model = parts.embedder.name if parts.embedder is not None else None
    library = open_library(
        LibraryParts(
            store=parts.store,
            ingester=parts.ingester,
            fetcher=parts.fetcher,
            extract_fields=extract_fields,
        ),
        polls=assembly.role != "command" and bool(duties.jobs),
        stale_after_days=settings.page_stale_days,
        pace=Pace(
            concurrency=settings.jobs_concurrency,
            lease_seconds=settings.jobs_lease_seconds,
            kinds=duties.jobs or None,
        ),
        emit=parts.events.emit,
        embeds_left_for=model if duties.embeds_left else None,
    )
    async with library as opened:
        yield opened
