"""The numbers of a running server, for its operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.records import SearchFilter

if TYPE_CHECKING:
    from citewell.app.parts import PartName, Parts


READY_NEEDS: tuple[PartName, ...] = ("store",)
VITALS_NEEDS: tuple[PartName, ...] = ("store", "scratch", "web_search", "access")


@frozen
class Vitals:
    """What the store and the caches hold now.

    Evictions, expiries and searches are counted per process.
    """

    pages: int
    chunks: int
    chunks_without_vector: int
    scratch_passages: int
    scratch_bytes: int
    scratch_evictions: int
    scratch_expiries: int
    usage_records_waiting: int
    jobs_waiting: int
    jobs_running: int
    renders_waiting: int
    renders_running: int
    render_workers: int
    web_searches: int
    web_searches_remembered: int


async def check_ready(parts: Parts) -> None:
    """Return when the store answers.

    Raises:
        StoreError: it does not.
    """
    await parts.store.access.has_keys()


async def take_vitals(parts: Parts) -> Vitals:
    """Return the numbers of all projects together.

    Raises:
        StoreError: the store cannot be read.
    """
    corpus = await parts.store.corpus_stats(SearchFilter())
    jobs = await parts.store.jobs.count_jobs()
    renders = await parts.store.renders.count_renders()
    scratch = parts.scratch.stats()
    web = parts.web_search
    return Vitals(
        pages=corpus.pages,
        chunks=corpus.chunks,
        chunks_without_vector=corpus.chunks - corpus.embedded_chunks,
        scratch_passages=scratch.passages,
        scratch_bytes=scratch.bytes,
        scratch_evictions=scratch.evicted,
        scratch_expiries=scratch.expired,
        usage_records_waiting=parts.access.meter.waiting,
        jobs_waiting=jobs.get("waiting", 0),
        jobs_running=jobs.get("running", 0),
        renders_waiting=renders.waiting,
        renders_running=renders.held,
        render_workers=renders.workers,
        web_searches=web.asked if web is not None else 0,
        web_searches_remembered=web.remembered if web is not None else 0,
    )
