"""What processes that share one PostgreSQL tell each other, and how they spare a host together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from datetime import UTC, datetime
from itertools import pairwise

import anyio
import psycopg
import pytest
from tests.postgres import empty_library, running_server

from citewell.core.jobs import JobDraft
from citewell.core.records import SearchFilter
from citewell.store.open import open_store
from citewell.store.protocol import Store
from citewell.web.host_limiter import HostLimiter

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)
JOB = JobDraft(kind="process_website", key="7")


@pytest.fixture
def address() -> Iterator[str]:
    with empty_library() as given:
        yield given


@pytest.fixture
async def pair(address: str) -> AsyncIterator[tuple[Store, Store]]:
    one, other = await open_store(address), await open_store(address)
    try:
        yield one, other
    finally:
        await one.aclose()
        await other.aclose()


def limiter(store: Store, *, concurrency: int = 4) -> HostLimiter:
    return HostLimiter(concurrency=concurrency, shared=store.hosts)


def break_connections() -> None:
    with psycopg.connect(running_server().get_uri(), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'citewell'"
        )


async def test_both_have_the_same_secret(pair: tuple[Store, Store]) -> None:
    secrets = [await store.access.server_secret() for store in pair]

    assert secrets[0] == secrets[1]


async def test_a_job_that_can_be_taken_is_told_to_others(pair: tuple[Store, Store]) -> None:
    here, there = pair
    with anyio.fail_after(60):
        async with aclosing(there.jobs.changes()) as changes:
            await anext(changes)
            job, _ = await here.jobs.add_job(JOB, now=NOW)
            await anext(changes)
            taken = await here.jobs.take_job("w", now=NOW, lease_seconds=60)
            assert taken is not None
            await here.jobs.release_job(job.job_id, lease=taken.lease, now=NOW)
            await anext(changes)
            await here.jobs.add_job(JOB, now=NOW)
            await anext(changes)
            await here.jobs.cancel_job(job.job_id, now=NOW)
            await here.jobs.retry_job(job.job_id, now=NOW)
            await anext(changes)


async def test_after_a_broken_connection_jobs_are_told_again(pair: tuple[Store, Store]) -> None:
    here, there = pair
    with anyio.fail_after(60):
        async with aclosing(there.jobs.changes()) as changes:
            await anext(changes)
            break_connections()
            # What was told in between may be lost, so the reader is told to look.
            await anext(changes)
            job, _ = await here.jobs.add_job(JOB, now=NOW)
            await anext(changes)

    assert await there.jobs.get_job(job.job_id) == job


async def test_pauses_hold_for_all_processes_together(pair: tuple[Store, Store]) -> None:
    limiters = [limiter(store) for store in pair]
    starts: list[float] = []

    async def visit(number: int) -> None:
        async with limiters[number % 2].turn("heron.test", delay_seconds=0.2):
            starts.append(anyio.current_time())

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for number in range(5):
                tasks.start_soon(visit, number)

    starts.sort()
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    assert min(gaps) > 0.1
    assert starts[-1] - starts[0] > 0.7


async def test_slots_hold_for_all_processes_together(pair: tuple[Store, Store]) -> None:
    limiters = [limiter(store, concurrency=2) for store in pair]
    present = most = 0

    async def visit(number: int) -> None:
        nonlocal present, most
        async with limiters[number % 2].turn("heron.test"):
            present += 1
            most = max(most, present)
            await pair[0].corpus_stats(SearchFilter())
            present -= 1

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for number in range(12):
                tasks.start_soon(visit, number)

    assert most == 2


async def test_the_slots_of_a_process_that_is_gone_are_free(address: str) -> None:
    gone, here = await open_store(address), await open_store(address)
    visits: list[str] = []
    try:
        with anyio.fail_after(60):
            async with limiter(gone, concurrency=1).turn("heron.test"):
                break_connections()
                async with limiter(here, concurrency=1).turn("heron.test"):
                    visits.append("here")
            async with limiter(gone, concurrency=1).turn("heron.test"):
                visits.append("back again")
    finally:
        await gone.aclose()
        await here.aclose()

    assert visits == ["here", "back again"]


async def test_a_host_is_visited_when_the_database_is_away(pair: tuple[Store, Store]) -> None:
    store, _ = pair
    await store.aclose()

    is_visited = False
    with anyio.fail_after(60):
        async with limiter(store).turn("heron.test", delay_seconds=0.01):
            is_visited = True

    assert is_visited
