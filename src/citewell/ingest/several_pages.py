"""Ingesting several pages side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from citewell.core.errors import CitewellError
from citewell.core.progress import OnProgress, Progress, no_progress
from citewell.core.text import counted
from citewell.ingest.outcome import PARALLEL_PAGES, IngestOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.ingest.pipeline import Ingester


async def ingest_all(
    ingester: Ingester,
    urls: Sequence[str],
    *,
    project: str,
    force: bool = False,
    tags: tuple[str, ...] = (),
    on_progress: OnProgress = no_progress,
) -> list[IngestOutcome]:
    """Ingest several URLs side by side; one that fails does not stop the others.

    What was `read` of them is left out of the outcomes.
    """
    outcomes: dict[int, IngestOutcome] = {}
    bytes_read = 0
    being_read: dict[int, str] = {}
    limit = anyio.Semaphore(PARALLEL_PAGES)

    async def ingest_one(place: int, url: str) -> None:
        nonlocal bytes_read
        async with limit:
            being_read[place] = url
            try:
                outcome = await ingester.ingest(
                    url, project=project, force=force, tags=tags, on_progress=on_progress
                )
                # A thousand pages would be held in memory until the last of them is read.
                outcomes[place] = replace(outcome, read=None)
                bytes_read += outcome.bytes_read
            except CitewellError as error:
                outcomes[place] = IngestOutcome(url=url, page=None, error=error)
            del being_read[place]
        # The page that takes longest is named: without it, the last one looks like a standstill.
        oldest = next(iter(being_read.values()), None)
        message = f"Reading {oldest}" if oldest else f"Read {counted(len(urls), 'page')}"
        await on_progress(
            Progress(
                phase="ingest",
                message=message,
                done=len(outcomes),
                total=len(urls),
                bytes_done=bytes_read,
            )
        )

    async with anyio.create_task_group() as tasks:
        for place, url in enumerate(urls):
            tasks.start_soon(ingest_one, place, url)
    return [outcomes[place] for place in range(len(urls))]
