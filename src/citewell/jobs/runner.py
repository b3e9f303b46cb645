"""Takes jobs from the store and runs them, a few at a time, until it is closed."""

from __future__ import annotations

import logging
from collections import OrderedDict
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import anyio

from citewell.core.error_kinds import error_of_kind
from citewell.core.errors import CitewellError, NotFound, StoreError
from citewell.core.fair_turns import working_for
from citewell.core.frozen import frozen
from citewell.core.ids import new_nonce
from citewell.core.progress import OnProgress, Progress, no_progress
from citewell.ingest.library_pages import Clock, utc_now
from citewell.jobs.abandoned import is_abandoned, worker_name
from citewell.jobs.retry import MAX_ATTEMPTS, wait_before_retry
from citewell.jobs.work import Work

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from datetime import datetime
    from typing import Self

    from citewell.core.jobs import Job, JobKind, JobProgress
    from citewell.store.jobs import JobStore

logger = logging.getLogger(__name__)

_STORE_TROUBLE_SECONDS = 2.0
_LONGEST_TROUBLE_SECONDS = 120.0
_WATCH_SECONDS = 0.2
_KEPT_ERRORS = 1_000
_LONG_KINDS = frozenset({"process_site", "reread_pages"})


class Handler(Protocol):
    """Knows how to do jobs of one kind.

    A job can be run again at any point, even after it was done but before that was recorded, so
    every step must be idempotent.
    """

    async def run(self, work: Work) -> str:
        """Do the work and return its result, as JSON.

        Raises:
            CitewellError: it could not be done.
        """

    async def note_failure(
        self, job: Job, error: CitewellError, *, retry_at: datetime | None
    ) -> None:
        """Record in the library that an attempt failed; None means that there is no retry."""


@frozen
class Pace:
    """The concurrency and the timing of a runner."""

    concurrency: int = 4
    lease_seconds: float = 60.0
    """How long the job of a dead worker waits until another takes it over."""
    poll_seconds: float = 5.0
    first_retry_seconds: float = 15.0
    closing_seconds: float = 3.0
    """How long running jobs can go on while the runner closes."""
    kinds: frozenset[JobKind] | None = None
    """The jobs that a polling runner takes; None means all."""


class JobRunner:
    """Runs jobs; use it as an async context manager.

    With `polls` it takes whatever is due in the store, including jobs that other processes added
    or left. Every runner does the jobs that `run` is called with. On leaving, running jobs get a
    moment to end, and are then handed back.
    """

    def __init__(
        self,
        jobs: JobStore,
        handlers: Mapping[JobKind, Handler],
        *,
        polls: bool,
        pace: Pace | None = None,
        clock: Clock = utc_now,
        chores: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._jobs = jobs
        self._handlers = handlers
        self._polls = polls
        self._pace = pace or Pace()
        self._is_closing = False
        self._clock = clock
        self._chores = chores
        self._worker = worker_name(new_nonce())
        self._running: dict[int, Work] = {}
        self._dropped: list[Job] = []
        self._wanted: set[int] = set()
        self._errors: OrderedDict[int, CitewellError] = OrderedDict()
        self._wake = anyio.Event()
        self._changed = anyio.Event()
        self._has_looked = anyio.Event()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        self._tasks = await self._stack.enter_async_context(anyio.create_task_group())
        self._tasks.start_soon(self._serve)
        if self._polls:
            self._tasks.start_soon(self._listen)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(self._pace.closing_seconds if kind is None else 0):
                self._is_closing = True
                while self._running:
                    await self._changed.wait()
        self._tasks.cancel_scope.cancel()
        # Without the caller's error, which would come out wrapped in a group.
        await self._stack.__aexit__(None, None, None)

    def wake(self) -> None:
        """Make the runner look for jobs now."""
        self._wake.set()

    async def run(
        self, job_id: int, *, wait_seconds: float | None, on_progress: OnProgress = no_progress
    ) -> Job:
        """Run the job, and return it after `wait_seconds` or once it has ended.

        None waits for the end. A job that waits for a retry has not ended, but with a limited wait
        it is returned as soon as an attempt has failed.

        Raises:
            NotFound: there is no such job.
        """
        first = await self._get(job_id)
        if is_abandoned(first):
            await self._jobs.release_job(job_id, lease=first.lease, now=self._clock())
        tried = first.attempts - (first.state == "running")
        self._wanted.add(job_id)
        self.wake()
        reported: JobProgress | None = None
        try:
            with anyio.move_on_after(wait_seconds):
                while not (job := await self._get(job_id)).is_finished:
                    has_failed = job.state == "waiting" and job.attempts > tried
                    if has_failed and wait_seconds is not None:
                        return job
                    if job.progress != reported:
                        reported = job.progress
                        await _report(on_progress, reported)
                    # The job may be running in another process, which cannot notify this one.
                    with anyio.move_on_after(_WATCH_SECONDS):
                        await self._changed.wait()
                return job
        finally:
            self._wanted.discard(job_id)
        return await self._get(job_id)

    def error_of(self, job: Job) -> CitewellError | None:
        """Return the error of the last attempt, as it was raised if that was in this process."""
        if job.error is None:
            return None
        here = self._errors.get(job.job_id)
        return here or error_of_kind(job.error_kind, job.error)

    async def cancel(self, job_id: int) -> bool:
        """Cancel an unfinished job; return whether it was unfinished."""
        was_unfinished = await self._jobs.cancel_job(job_id, now=self._clock())
        if (work := self._running.get(job_id)) is not None:
            work.lease_state = "cancelled"
            work.scope.cancel()
        return was_unfinished

    async def run_until_idle(self) -> None:
        """Return once no job is due or running in this process."""
        # Chores can add jobs.
        await self._has_looked.wait()
        while True:
            now = self._clock()
            due = await self._next_due(now)
            if not self._running and (due is None or due > now):
                return
            with anyio.move_on_after(_WATCH_SECONDS):
                await self._changed.wait()

    async def _get(self, job_id: int) -> Job:
        job = await self._jobs.get_job(job_id)
        if job is None:
            raise NotFound(f"there is no job {job_id}", suggestion="List the jobs.")
        return job

    async def _serve(self) -> None:
        trouble_seconds = _STORE_TROUBLE_SECONDS
        while True:
            try:
                if self._chores is not None and self._polls:
                    await self._chores()
                await self._take_due()
                pause = await self._pause_seconds()
                trouble_seconds = _STORE_TROUBLE_SECONDS
            except StoreError as error:
                logger.warning("jobs wait for the store: %s", error.message)
                pause = trouble_seconds
                trouble_seconds = min(2 * trouble_seconds, _LONGEST_TROUBLE_SECONDS)
            self._has_looked.set()
            with anyio.move_on_after(pause):
                await self._wake.wait()
            self._wake = anyio.Event()

    async def _listen(self) -> None:
        async for _ in self._jobs.changes():
            self.wake()

    async def _take_due(self) -> None:
        """Take jobs while there are slots and jobs."""
        await self._release_dropped()
        while len(self._running) < self._pace.concurrency and not self._is_closing:
            # One timestamp for all three: if the clock jumped between them, the leases of our own
            # jobs would seem to have expired.
            now = self._clock()
            await self._renew_expired()
            # Looking takes no lock; taking does, and would slow down every other process.
            due = await self._next_due(now)
            if due is None or due > now:
                return
            job = await self._take(now)
            if job is None:
                return
            work = Work(job, self._jobs, clock=self._clock, lease_seconds=self._pace.lease_seconds)
            self._running[job.job_id] = work
            self._tasks.start_soon(self._attempt, work)

    async def _release_dropped(self) -> None:
        """Release jobs whose failure could not be recorded."""
        while self._dropped:
            job = self._dropped[-1]
            await self._jobs.release_job(job.job_id, lease=job.lease, now=self._clock())
            self._dropped.pop()

    async def _renew_expired(self) -> None:
        """Renew leases that expired unnoticed, so that no job is taken twice by this process."""
        for work in list(self._running.values()):
            if work.has_lease_expired:
                await work.renew()

    async def _take(self, now: datetime) -> Job | None:
        choices: list[int | None] = [*sorted(self._wanted - self._running.keys())]
        if self._polls:
            choices.append(None)
        for job_id in choices:
            job = await self._jobs.take_job(
                self._worker,
                now=now,
                lease_seconds=self._pace.lease_seconds,
                kinds=self._kinds_to_take(is_wanted=job_id is not None),
                job_id=job_id,
            )
            if job is not None:
                return job
        return None

    def _kinds_to_take(self, *, is_wanted: bool) -> list[JobKind]:
        """Return the kinds to take; the last slot is kept free of jobs that can take hours."""
        long_jobs = sum(work.job.kind in _LONG_KINDS for work in self._running.values())
        is_last = long_jobs >= self._pace.concurrency - 1 > 0
        ours = self._handlers if is_wanted else self._pace.kinds or self._handlers
        return [kind for kind in ours if not (is_last and kind in _LONG_KINDS)]

    async def _next_due(self, now: datetime) -> datetime | None:
        return await self._jobs.next_due(now=now, lease_seconds=self._pace.lease_seconds)

    async def _pause_seconds(self) -> float:
        due = await self._next_due(self._clock())
        if due is None or len(self._running) >= self._pace.concurrency:
            return self._pace.poll_seconds
        # A job that is due but was not taken waits for its key, or for a runner that polls.
        left = (due - self._clock()).total_seconds()
        return min(left, self._pace.poll_seconds) if left > 0 else self._pace.poll_seconds

    async def _attempt(self, work: Work) -> None:
        job = work.job
        try:
            with work.scope, working_for(f"jobs of {job.project}"):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(work.keep_lease)
                    await self._do(work)
                    tasks.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await self._hand_back(work)
            if self._running.get(job.job_id) is work:
                del self._running[job.job_id]
            self._changed.set()
            self._changed = anyio.Event()
            self.wake()

    async def _do(self, work: Work) -> None:
        """Run the job and record how it ended."""
        job = work.job
        handler = self._handlers[job.kind]
        try:
            if job.error_kind == "WorkerLostTwice":
                raise CitewellError(
                    "the job was set aside: it ended the process that worked on it twice",
                    suggestion="Look for the cause in the log before the job is added again.",
                )
            if job.attempts > MAX_ATTEMPTS:
                raise CitewellError(f"{MAX_ATTEMPTS} attempts were stopped before they could end")
            result = await handler.run(work)
            done = replace(work.progress, stage="finished", percent=100, message="")
            await work.report(done)
            await self._jobs.finish_job(
                job.job_id, lease=job.lease, now=self._clock(), result=result
            )
        except CitewellError as error:
            logger.warning("job %d (%s) failed: %s", job.job_id, job.kind, error.message)
            await self._note_failure(work, error)
        except Exception:
            # The outermost handler of a job: a fault in one must not end the others.
            logger.exception("job %d (%s) broke", job.job_id, job.kind)
            await self._note_failure(work, CitewellError("an unexpected fault; the log has it"))

    async def _note_failure(self, work: Work, error: CitewellError) -> None:
        job, now = work.job, self._clock()
        wait = wait_before_retry(
            error, attempts=job.attempts, first_wait_seconds=self._pace.first_retry_seconds
        )
        retry_at = None if wait is None else now + wait
        self._errors[job.job_id] = error
        if len(self._errors) > _KEPT_ERRORS:
            self._errors.popitem(last=False)
        try:
            await work.confirm()
            await self._handlers[job.kind].note_failure(job, error, retry_at=retry_at)
            await self._jobs.fail_job(
                job.job_id,
                lease=job.lease,
                now=now,
                error=error.message,
                error_kind=type(error).__name__,
                retry_at=retry_at,
            )
        except StoreError as trouble:
            # It is released when the store can be written, or taken over when its lease expires.
            logger.warning("job %d: the failure was not noted: %s", job.job_id, trouble.message)
            self._dropped.append(job)

    async def _hand_back(self, work: Work) -> None:
        """Release a job that was stopped because this runner closes, for others to take."""
        job = work.job
        if not work.scope.cancel_called and not self._tasks.cancel_scope.cancel_called:
            return
        if work.lease_state != "held":
            return
        try:
            await self._jobs.release_job(job.job_id, lease=job.lease, now=self._clock())
        except StoreError as error:
            logger.warning("job %d was not handed back: %s", job.job_id, error.message)


async def _report(on_progress: OnProgress, progress: JobProgress) -> None:
    """Report a job's progress to whoever waits for it."""
    messages = {
        "queued": "Waiting for a worker",
        "discovering": "Looking for the pages of the site",
    }
    is_embedding = progress.stage == "embedding"
    message = messages.get(progress.stage) or (not is_embedding and progress.message)
    await on_progress(
        Progress(
            phase="ingest",
            message=message or "Reading pages",
            done=progress.pages_done,
            total=progress.pages_total,
            bytes_done=progress.bytes_read,
        )
    )
    if is_embedding:
        await on_progress(
            Progress(
                phase="embed",
                message="Embedding chunks",
                done=progress.chunks_done,
                total=progress.chunks or None,
                bytes_done=progress.bytes_embedded,
            )
        )
