"""Every promise of JobStore, run once per backend."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import anyio
import pytest

from citewell.core.jobs import Job, JobDraft, JobProgress
from citewell.store.jobs import JobStore
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)
LEASE_SECONDS = 60.0


@pytest.fixture
def jobs(store: Store) -> JobStore:
    return store.jobs


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


async def add(jobs: JobStore, key: str, *, priority: int = 0, project: str = "default") -> Job:
    draft = JobDraft(kind="process_website", key=key, priority=priority, project=project)
    job, _ = await jobs.add_job(draft, now=NOW)
    return job


async def take(jobs: JobStore, *, now: datetime = NOW, job_id: int | None = None) -> Job | None:
    return await jobs.take_job("w", now=now, lease_seconds=LEASE_SECONDS, job_id=job_id)


async def taken(jobs: JobStore, *, now: datetime = NOW) -> Job:
    job = await take(jobs, now=now)
    assert job is not None
    return job


async def test_a_job_comes_back_as_it_was_added(jobs: JobStore) -> None:
    draft = JobDraft(
        kind="process_site", key="7", project="birds", payload={"force": True}, priority=3
    )

    job, created = await jobs.add_job(draft, now=NOW)

    assert created
    assert await jobs.get_job(job.job_id) == job
    assert job == Job(
        job_id=job.job_id,
        project="birds",
        kind="process_site",
        key="7",
        payload={"force": True},
        priority=3,
        state="waiting",
        run_at=NOW,
        attempts=0,
        lease=0,
        worker=None,
        leased_until=None,
        progress=JobProgress(),
        result=None,
        error=None,
        created_at=NOW,
        updated_at=NOW,
    )


async def test_a_second_job_for_the_same_key_is_the_first(jobs: JobStore) -> None:
    first = await add(jobs, "7")
    again, created = await jobs.add_job(
        JobDraft(kind="process_website", key="7", priority=5), now=NOW
    )
    elsewhere = await add(jobs, "7", project="other")

    assert not created
    assert (again.job_id, again.priority) == (first.job_id, 5)
    assert elsewhere.job_id != first.job_id


async def test_a_finished_job_makes_room_for_the_next_of_its_key(jobs: JobStore) -> None:
    first = await add(jobs, "7")
    held = await taken(jobs)
    await jobs.finish_job(first.job_id, lease=held.lease, now=NOW, result="{}")

    assert (await add(jobs, "7")).job_id != first.job_id


async def test_the_highest_priority_is_taken_first_then_the_oldest(jobs: JobStore) -> None:
    for key, priority in (("old", 0), ("new", 0), ("urgent", 9)):
        await add(jobs, key, priority=priority)

    assert [(await taken(jobs)).key for _ in range(3)] == ["urgent", "old", "new"]
    assert await take(jobs) is None


async def test_a_job_is_not_taken_before_its_time(jobs: JobStore) -> None:
    draft = JobDraft(kind="process_website", key="7")
    await jobs.add_job(draft, now=NOW, run_at=later(30))

    assert await take(jobs, now=later(29)) is None
    assert await jobs.next_due(now=NOW, lease_seconds=LEASE_SECONDS) == later(30)
    assert (await taken(jobs, now=later(30))).attempts == 1


async def test_only_jobs_of_the_kinds_asked_for_are_taken(jobs: JobStore) -> None:
    await add(jobs, "7")

    nothing = await jobs.take_job("w", now=NOW, lease_seconds=LEASE_SECONDS, kinds={"process_site"})

    assert nothing is None


async def test_jobs_of_one_key_run_one_after_the_other(jobs: JobStore) -> None:
    await add(jobs, "7")
    await jobs.add_job(JobDraft(kind="refresh_website", key="7"), now=NOW)
    first = await taken(jobs)

    assert await take(jobs) is None
    await jobs.finish_job(first.job_id, lease=first.lease, now=NOW, result="{}")
    assert (await taken(jobs)).kind == "refresh_website"


async def test_many_workers_take_each_job_once(jobs: JobStore) -> None:
    for number in range(20):
        await add(jobs, str(number))
    keys: list[str] = []

    async def work() -> None:
        while job := await take(jobs):
            keys.append(job.key)

    async with anyio.create_task_group() as workers:
        for _ in range(5):
            workers.start_soon(work)

    assert sorted(keys, key=int) == [str(number) for number in range(20)]


async def test_a_job_whose_worker_is_gone_is_taken_by_another(jobs: JobStore) -> None:
    await add(jobs, "7")
    dead = await taken(jobs)

    assert await take(jobs, now=later(59)) is None
    heir = await taken(jobs, now=later(60))

    assert (heir.job_id, heir.attempts) == (dead.job_id, 2)
    assert heir.lease != dead.lease


async def test_a_heartbeat_prolongs_the_lease_and_tells_the_progress(jobs: JobStore) -> None:
    await add(jobs, "7")
    held = await taken(jobs)
    progress = JobProgress(stage="fetching", pages_done=2, pages_total=8, percent=25)

    state = await jobs.heartbeat(
        held.job_id,
        lease=held.lease,
        now=later(50),
        lease_seconds=LEASE_SECONDS,
        progress=progress,
    )

    assert state == "held"
    assert await take(jobs, now=later(100)) is None
    job = await jobs.get_job(held.job_id)
    assert job is not None
    assert job.progress == progress


async def test_a_worker_that_lost_its_lease_can_write_no_outcome(jobs: JobStore) -> None:
    await add(jobs, "7")
    late = await taken(jobs)
    heir = await taken(jobs, now=later(90))
    at = {"lease": late.lease, "now": later(91)}

    told = await jobs.heartbeat(
        late.job_id, lease=late.lease, now=later(91), lease_seconds=LEASE_SECONDS
    )
    writes = [
        await jobs.finish_job(late.job_id, lease=late.lease, now=later(91), result="{}"),
        await jobs.fail_job(
            late.job_id, lease=late.lease, now=later(91), error="late", retry_at=None
        ),
        await jobs.release_job(late.job_id, lease=late.lease, now=later(91)),
    ]

    assert at["lease"] != heir.lease
    assert told == "lost"
    assert writes == [False, False, False]
    assert await jobs.get_job(heir.job_id) == heir


async def test_a_failed_attempt_waits_for_its_retry_and_then_counts_on(jobs: JobStore) -> None:
    await add(jobs, "7")
    held = await taken(jobs)

    await jobs.fail_job(
        held.job_id,
        lease=held.lease,
        now=NOW,
        error="site down",
        error_kind="HostUnreachable",
        retry_at=later(10),
    )

    assert await take(jobs, now=later(9)) is None
    again = await taken(jobs, now=later(10))
    assert (again.attempts, again.error, again.error_kind) == (2, "site down", "HostUnreachable")


async def test_a_job_that_failed_for_good_is_not_taken_again(jobs: JobStore) -> None:
    await add(jobs, "7")
    held = await taken(jobs)

    await jobs.fail_job(held.job_id, lease=held.lease, now=NOW, error="gone", retry_at=None)

    assert await take(jobs, now=later(9_999)) is None
    job = await jobs.get_job(held.job_id)
    assert job is not None
    assert (job.state, job.error, job.is_finished) == ("failed", "gone", True)


async def test_a_released_job_waits_again_as_if_untried(jobs: JobStore) -> None:
    await add(jobs, "7")
    held = await taken(jobs)

    assert await jobs.release_job(held.job_id, lease=held.lease, now=NOW)

    assert (await taken(jobs)).attempts == 1


async def test_a_cancelled_job_tells_its_worker_and_takes_no_outcome(jobs: JobStore) -> None:
    await add(jobs, "7")
    held = await taken(jobs)

    assert await jobs.cancel_job(held.job_id, now=NOW)

    told = await jobs.heartbeat(held.job_id, lease=held.lease, now=NOW, lease_seconds=LEASE_SECONDS)
    assert told == "cancelled"
    assert not await jobs.finish_job(held.job_id, lease=held.lease, now=NOW, result="{}")
    assert not await jobs.cancel_job(held.job_id, now=NOW)


async def test_a_worker_can_ask_whether_its_job_is_still_its_own(jobs: JobStore) -> None:
    job = await add(jobs, "7")
    first = await taken(jobs)
    states = [await jobs.lease_state(job.job_id, lease=first.lease)]
    second = await taken(jobs, now=later(LEASE_SECONDS + 1))
    states.append(await jobs.lease_state(job.job_id, lease=first.lease))
    await jobs.cancel_job(job.job_id, now=later(LEASE_SECONDS + 2))
    states.append(await jobs.lease_state(job.job_id, lease=second.lease))
    states.append(await jobs.lease_state(job.job_id + 1, lease=1))

    assert states == ["held", "lost", "cancelled", "lost"]


async def test_a_failed_job_can_be_tried_again_by_hand(jobs: JobStore) -> None:
    await add(jobs, "7")
    held = await taken(jobs)
    await jobs.fail_job(held.job_id, lease=held.lease, now=NOW, error="gone", retry_at=None)

    assert await jobs.retry_job(held.job_id, now=NOW)

    again = await taken(jobs)
    assert (again.job_id, again.attempts, again.error) == (held.job_id, 1, None)


async def test_a_job_is_not_tried_again_beside_a_newer_one_of_its_key(jobs: JobStore) -> None:
    old = await add(jobs, "7")
    await jobs.cancel_job(old.job_id, now=NOW)
    await add(jobs, "7")

    assert not await jobs.retry_job(old.job_id, now=NOW)


async def test_a_lease_of_a_clock_that_was_set_back_counts_as_expired(jobs: JobStore) -> None:
    await add(jobs, "7")
    held = await taken(jobs, now=later(86_400))

    assert await jobs.next_due(now=NOW, lease_seconds=LEASE_SECONDS) == NOW
    assert (await taken(jobs)).job_id == held.job_id


async def test_a_job_added_before_the_clock_was_set_back_is_due(jobs: JobStore) -> None:
    draft = JobDraft(kind="process_website", key="7")
    job, _ = await jobs.add_job(draft, now=later(86_400))

    assert await jobs.next_due(now=NOW, lease_seconds=LEASE_SECONDS) == NOW
    assert (await taken(jobs)).job_id == job.job_id


async def test_jobs_are_listed_newest_first_by_state_and_project(jobs: JobStore) -> None:
    first = await add(jobs, "1")
    second = await add(jobs, "2")
    await add(jobs, "3", project="other")
    await jobs.cancel_job(first.job_id, now=NOW)

    listed = await jobs.list_jobs(project="default")
    cancelled = await jobs.list_jobs(states={"cancelled"})

    assert [job.key for job in listed] == ["2", "1"]
    assert [job.key for job in cancelled] == ["1"]
    assert [job.key for job in await jobs.list_jobs(limit=1)] == ["3"]
    assert (await jobs.last_job("2", project="default")) == second


async def test_the_last_job_of_a_key_is_the_one_that_is_unfinished(jobs: JobStore) -> None:
    refresh, _ = await jobs.add_job(JobDraft(kind="refresh_website", key="7"), now=NOW)
    newer = await add(jobs, "7")
    await jobs.cancel_job(newer.job_id, now=NOW)

    assert await jobs.last_job("7", project="default") == refresh
    assert await jobs.last_job("8", project="default") is None


async def test_old_finished_jobs_are_forgotten(jobs: JobStore) -> None:
    old = await add(jobs, "1")
    await jobs.cancel_job(old.job_id, now=NOW)
    waiting = await add(jobs, "2")

    assert await jobs.prune_jobs(before=later(1)) == 1

    assert [job.job_id for job in await jobs.list_jobs()] == [waiting.job_id]


async def test_unfinished_jobs_are_counted_by_state(jobs: JobStore) -> None:
    for key in ("1", "2", "3", "4"):
        await add(jobs, key)
    first = await taken(jobs)
    await taken(jobs)
    await jobs.finish_job(first.job_id, lease=first.lease, now=NOW, result="{}")

    assert await jobs.count_jobs() == {"waiting": 2, "running": 1}
