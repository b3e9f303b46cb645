"""A job in the hands of a worker: its lease, its progress, and whether to go on."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

import anyio
from anyio.lowlevel import checkpoint

from citewell.core.errors import StoreError
from citewell.core.jobs import JobProgress

if TYPE_CHECKING:
    from citewell.core.jobs import Job, LeaseState
    from citewell.ingest.library_pages import Clock
    from citewell.store.jobs import JobStore

logger = logging.getLogger(__name__)

_BEATS_PER_LEASE = 4
# A cancel from another process is noticed after this long.
_LOOK_SECONDS = 0.5
# Often enough for whoever watches, and not a write for each page.
_SECONDS_BETWEEN_TELLINGS = 0.25


class Work:
    """One attempt at a job. When the job is cancelled or lost, the attempt is cancelled."""

    def __init__(self, job: Job, jobs: JobStore, *, clock: Clock, lease_seconds: float) -> None:
        self.job = job
        self.lease_state: LeaseState = "held"
        self.scope = anyio.CancelScope()
        """Of the whole attempt."""
        self.progress = JobProgress(stage="fetching")
        self._jobs = jobs
        self._clock = clock
        self._lease_seconds = lease_seconds
        self._leased_until = clock() + timedelta(seconds=lease_seconds)
        self._told_at = -1.0

    @property
    def has_lease_expired(self) -> bool:
        """Whether another worker may take the job: the machine slept, or its clock jumped."""
        return self._clock() >= self._leased_until

    async def report(self, progress: JobProgress) -> None:
        """Record progress; updates in quick succession are written together."""
        changes_stage = progress.stage != self.progress.stage
        self.progress = progress
        due = anyio.current_time() - self._told_at >= _SECONDS_BETWEEN_TELLINGS
        if changes_stage or due:
            await self.confirm()

    async def confirm(self) -> None:
        """Return only while the job is ours: to be called before an outcome is written.

        Raises:
            StoreError: nobody can say whose it is.
        """
        await self.renew()
        if self.lease_state != "held":
            await checkpoint()

    async def renew(self) -> None:
        """Prolong the lease; where the job is no longer ours, the attempt is cancelled.

        Raises:
            StoreError: nobody can say whose it is.
        """
        self._told_at = anyio.current_time()
        now = self._clock()
        self.lease_state = await self._jobs.heartbeat(
            self.job.job_id,
            lease=self.job.lease,
            now=now,
            lease_seconds=self._lease_seconds,
            progress=self.progress,
        )
        self._leased_until = now + timedelta(seconds=self._lease_seconds)
        self._stop_unless_held()

    async def keep_lease(self) -> None:
        """Prolong the lease until cancelled; meanwhile look whether the job is still ours."""
        beat_seconds = self._lease_seconds / _BEATS_PER_LEASE
        while True:
            await anyio.sleep(min(_LOOK_SECONDS, beat_seconds))
            try:
                # Looking writes nothing, so it can be done far more often.
                if anyio.current_time() - self._told_at >= beat_seconds:
                    await self.renew()
                else:
                    await self._look()
            except StoreError as error:
                # The next beat may get through; if none does, another worker takes over.
                logger.warning("job %d keeps no lease: %s", self.job.job_id, error.message)

    async def _look(self) -> None:
        job = self.job
        self.lease_state = await self._jobs.lease_state(job.job_id, lease=job.lease)
        self._stop_unless_held()

    def _stop_unless_held(self) -> None:
        if self.lease_state != "held":
            logger.info("job %d is %s; stopping", self.job.job_id, self.lease_state)
            self.scope.cancel()
