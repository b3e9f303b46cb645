"""The runner: one worker for a job at a time, and every job to its end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path

import anyio
import pytest
from tests.jobs.shelves import QUICK, Clock

from citewell.core.errors import CitewellError, FetchTimeout, PageNotFound
from citewell.core.jobs import Job, JobDraft, JobKind, JobProgress
from citewell.ingest.library_pages import utc_now
from citewell.jobs.runner import Handler, JobRunner, Pace
from citewell.jobs.work import Work
from citewell.store.open import open_store
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio


class Steps:
    """A handler whose jobs do what the test says, and that tells what was done."""

    def __init__(self, result: str = "{}") -> None:
        self.result = result
        self.begun = anyio.Event()
        self.may_end = anyio.Event()
        self.runs: list[str] = []
        self.failures: list[tuple[str, bool]] = []
        self.errors: list[Exception] = []
        """Raised one by one, before a job may end."""

    async def run(self, work: Work) -> str:
        self.runs.append(work.job.key)
        await work.report(JobProgress(stage="fetching", pages_done=1, pages_total=2, percent=50))
        self.begun.set()
        if self.errors:
            raise self.errors.pop(0)
        await self.may_end.wait()
        return self.result

    async def note_failure(
        self, job: Job, error: CitewellError, *, retry_at: datetime | None
    ) -> None:
        self.failures.append((error.message, retry_at is not None))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(f"sqlite://{tmp_path}/jobs.db")
    yield opened
    await opened.aclose()


def runner(
    store: Store,
    steps: Steps,
    *,
    polls: bool = True,
    pace: Pace = QUICK,
    clock: Callable[[], datetime] = utc_now,
) -> JobRunner:
    return JobRunner(store.jobs, {"process_website": steps}, polls=polls, pace=pace, clock=clock)


async def add(store: Store, key: str = "1", *, now: datetime | None = None) -> Job:
    draft = JobDraft(kind="process_website", key=key)
    job, _ = await store.jobs.add_job(draft, now=now or utc_now())
    return job


async def got(store: Store, job: Job) -> Job:
    found = await store.jobs.get_job(job.job_id)
    assert found is not None
    return found


async def test_a_runner_does_what_is_in_the_store(store: Store) -> None:
    job, steps = await add(store), Steps('{"done": 1}')
    steps.may_end.set()

    async with runner(store, steps) as running:
        with anyio.fail_after(60):
            done = await running.run(job.job_id, wait_seconds=None)

    assert (done.state, done.result, done.attempts) == ("done", '{"done": 1}', 1)
    assert (done.progress.stage, done.progress.percent) == ("finished", 100)


async def test_a_runner_that_does_not_poll_does_only_what_it_is_asked_for(store: Store) -> None:
    other, mine, steps = await add(store, "other"), await add(store, "mine"), Steps()
    steps.may_end.set()

    async with runner(store, steps, polls=False) as running:
        with anyio.fail_after(60):
            await running.run(mine.job_id, wait_seconds=None)

    assert steps.runs == ["mine"]
    assert (await got(store, other)).state == "waiting"


async def test_no_more_jobs_run_at_once_than_allowed(store: Store) -> None:
    for number in range(5):
        await add(store, str(number))
    steps = Steps()

    async with runner(store, steps, pace=Pace(concurrency=2, poll_seconds=0.02)) as running:
        with anyio.fail_after(60):
            await steps.begun.wait()
            await anyio.wait_all_tasks_blocked()
            at_once = len(await store.jobs.list_jobs(states={"running"}))
            steps.may_end.set()
            await running.run_until_idle()

    assert at_once <= 2
    assert sorted(steps.runs) == ["0", "1", "2", "3", "4"]


async def test_sites_leave_a_slot_for_pages(store: Store) -> None:
    sites, pages = Steps(), Steps()
    for number in range(3):
        draft = JobDraft(kind="process_site", key=f"site {number}", priority=9)
        await store.jobs.add_job(draft, now=utc_now())
    page = await add(store, "page")
    pages.may_end.set()
    handlers: dict[JobKind, Handler] = {"process_site": sites, "process_website": pages}
    pace = Pace(concurrency=2, poll_seconds=0.02, closing_seconds=0.05)

    async with JobRunner(store.jobs, handlers, polls=True, pace=pace) as running:
        with anyio.fail_after(60):
            await sites.begun.wait()
            done = await running.run(page.job_id, wait_seconds=None)

    assert done.state == "done"
    assert sites.runs == ["site 0"]


async def test_closing_hands_unfinished_work_back_as_if_untried(store: Store) -> None:
    job, steps = await add(store), Steps()

    async with runner(store, steps, pace=Pace(closing_seconds=0.05)):
        with anyio.fail_after(60):
            await steps.begun.wait()

    after = await got(store, job)
    assert (after.state, after.attempts, after.worker) == ("waiting", 0, None)


async def test_closing_lets_work_end_that_needs_only_a_moment(store: Store) -> None:
    job, steps = await add(store), Steps()

    async with AsyncExitStack() as stack:
        await stack.enter_async_context(runner(store, steps))
        with anyio.fail_after(60):
            await steps.begun.wait()
        steps.may_end.set()

    assert (await got(store, job)).state == "done"


async def test_work_that_was_cancelled_stops_and_leaves_no_outcome(store: Store) -> None:
    job, steps = await add(store), Steps()

    async with runner(store, steps) as running:
        with anyio.fail_after(60):
            await steps.begun.wait()
            assert await running.cancel(job.job_id)
            await running.run_until_idle()

    assert (await got(store, job)).state == "cancelled"
    assert steps.failures == []


async def test_work_that_another_process_cancels_stops_at_the_next_beat(store: Store) -> None:
    job, steps = await add(store), Steps()

    async with runner(store, steps, pace=Pace(lease_seconds=0.2, poll_seconds=0.02)) as running:
        with anyio.fail_after(60):
            await steps.begun.wait()
            await store.jobs.cancel_job(job.job_id, now=utc_now())
            await running.run_until_idle()

    assert (await got(store, job)).state == "cancelled"


async def test_a_cancel_by_another_process_is_noticed_long_before_the_lease_ends(
    store: Store,
) -> None:
    job, steps = await add(store), Steps()

    async with runner(store, steps, pace=Pace(lease_seconds=600)) as running:
        with anyio.fail_after(60):
            await steps.begun.wait()
        await store.jobs.cancel_job(job.job_id, now=utc_now())
        with anyio.fail_after(60):
            await running.run_until_idle()

    assert (await got(store, job)).state == "cancelled"


async def test_a_failure_that_may_pass_is_tried_again(store: Store) -> None:
    job, steps = await add(store), Steps()
    steps.errors = [FetchTimeout("too slow"), FetchTimeout("too slow")]
    steps.may_end.set()

    async with runner(store, steps) as running:
        with anyio.fail_after(60):
            done = await running.run(job.job_id, wait_seconds=None)

    assert (done.state, done.attempts) == ("done", 3)
    assert steps.failures == [("too slow", True), ("too slow", True)]


async def test_a_failure_that_will_not_pass_is_final(store: Store) -> None:
    job, steps = await add(store), Steps()
    error = PageNotFound("gone")
    steps.errors = [error]

    async with runner(store, steps) as running:
        with anyio.fail_after(60):
            failed = await running.run(job.job_id, wait_seconds=None)
        raised = running.error_of(failed)

    assert (failed.state, failed.attempts, failed.error) == ("failed", 1, "gone")
    assert raised is error
    assert steps.failures == [("gone", False)]


async def test_a_fault_in_one_job_does_not_stop_the_others(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    broken, steps = await add(store, "broken"), Steps()
    steps.errors = [ZeroDivisionError()]
    steps.may_end.set()

    async with runner(store, steps) as running:
        with anyio.fail_after(60):
            failed = await running.run(broken.job_id, wait_seconds=None)
            fine = await running.run((await add(store, "fine")).job_id, wait_seconds=None)

    assert (failed.state, fine.state) == ("failed", "done")
    assert "ZeroDivisionError" in caplog.text


async def test_a_job_that_kills_its_workers_is_given_up(store: Store) -> None:
    clock, steps = Clock(), Steps()
    job = await add(store, now=clock())
    for _ in range(5):
        await store.jobs.take_job("killed", now=clock(), lease_seconds=60)
        clock.move(seconds=61)

    async with runner(store, steps, clock=clock) as running:
        with anyio.fail_after(60):
            failed = await running.run(job.job_id, wait_seconds=None)

    assert failed.state == "failed"
    assert steps.runs == []
    assert "5 attempts were stopped" in (failed.error or "")


# ── clocks ────────────────────────────────────────────────────────────────────


async def test_a_clock_that_jumps_ahead_gives_a_job_away_but_not_to_a_wrong_end(
    store: Store,
) -> None:
    """The lease seems to have expired: another worker takes the job, and the first one stops."""
    clock, first, second = Clock(), Steps("first"), Steps("second")
    job = await add(store, now=clock())
    pace = Pace(lease_seconds=60, poll_seconds=0.02, closing_seconds=0.05)
    asleep = Pace(lease_seconds=600, poll_seconds=600, closing_seconds=0.05)
    second.may_end.set()

    async with runner(store, first, clock=clock, pace=asleep):
        with anyio.fail_after(60):
            await first.begun.wait()
            clock.move(hours=2)
            async with runner(store, second, polls=False, clock=clock, pace=pace) as other:
                done = await other.run(job.job_id, wait_seconds=None)
            first.may_end.set()
            await anyio.wait_all_tasks_blocked()

    assert done.result == "second"
    assert await got(store, job) == done
    assert (first.runs, second.runs) == (["1"], ["1"])


async def test_a_runner_does_not_take_its_own_job_when_the_clock_jumps(store: Store) -> None:
    clock, steps = Clock(), Steps()
    job = await add(store, now=clock())

    async with runner(store, steps, clock=clock) as running:
        with anyio.fail_after(60):
            await steps.begun.wait()
            clock.move(hours=2)
            beside = await add(store, "beside", now=clock())
            running.wake()
            steps.may_end.set()
            for each in (beside, job):
                await running.run(each.job_id, wait_seconds=None)

    assert sorted(steps.runs) == ["1", "beside"]
    assert (await got(store, job)).attempts == 1


async def test_a_clock_that_is_set_back_holds_nothing_up(store: Store) -> None:
    clock, steps = Clock(), Steps()
    waiting = await add(store, "waiting", now=clock())
    held = await add(store, "held", now=clock())
    await store.jobs.take_job("gone", now=clock(), lease_seconds=60, job_id=held.job_id)
    clock.move(days=-30)
    steps.may_end.set()

    async with runner(store, steps, clock=clock) as running:
        with anyio.fail_after(60):
            states = [
                (await running.run(job.job_id, wait_seconds=None)).state for job in (waiting, held)
            ]

    assert states == ["done", "done"]
    assert sorted(steps.runs) == ["held", "waiting"]
