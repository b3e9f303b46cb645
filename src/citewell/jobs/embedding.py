"""Embed the pages that a job has stored, and report progress."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.progress import Progress
    from citewell.ingest.pipeline import Ingester
    from citewell.jobs.work import Work

_PAGES_AT_ONCE = 50


async def embed_pages(work: Work, ingester: Ingester, source_ids: Sequence[int]) -> None:
    """Embed all chunks of the pages; the job's percentage goes up to 99.

    Raises:
        InferenceError: embedding failed; vectors made so far are kept.
    """
    begun = before = work.progress
    share = 99 - (begun.percent or 0)

    async def report(progress: Progress) -> None:
        done = before.chunks_done + (progress.done or 0)
        percent = None
        if begun.percent is not None:
            percent = begun.percent + round(share * min(1.0, done / max(1, begun.chunks)))
        await work.report(
            replace(
                begun,
                chunks_done=done,
                bytes_embedded=before.bytes_embedded + progress.bytes_done,
                percent=percent,
                message=f"{done:,} of {begun.chunks:,} chunks embedded",
            )
        )

    for start in range(0, len(source_ids), _PAGES_AT_ONCE):
        before = work.progress
        await ingester.embed_now(source_ids[start : start + _PAGES_AT_ONCE], on_progress=report)
