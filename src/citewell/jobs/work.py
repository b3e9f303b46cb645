"""A job that is being run: its lease and its progress."""

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
# How soon a cancellation by another process is noticed.
_LOOK_SECONDS = 0.5
# Often enough to watch, without a write for each page.
_REPORT_SECONDS = 0.25


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
        self._renewed_at = -1.0

    @property
    def has_lease_expired(self) -> bool:
        """Whether another worker can take the job: the machine slept, or its clock jumped."""
        return self._clock() >= self._leased_until

    async def report(self, progress: JobProgress) -> None:
        """Record progress; updates in quick succession are written together."""
        changes_stage = progress.stage != self.progress.stage
        self.progress = progress
        due = anyio.current_time() - self._renewed_at >= _REPORT_SECONDS
        if changes_stage or due:
            await self.confirm()

    async def confirm(self) -> None:
        """Return only while this worker holds the lease; call it before an outcome is written.

        Raises:
            StoreError: the lease cannot be checked.
        """
        await self.renew()
        if self.lease_state != "held":
            await checkpoint()

    async def renew(self) -> None:
        """Renew the lease; if it is lost, the attempt is cancelled.

        Raises:
            StoreError: the lease cannot be checked.
        """
        self._renewed_at = anyio.current_time()
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
        """Keep the lease until cancelled, and check often whether it is still held."""
        beat_seconds = self._lease_seconds / _BEATS_PER_LEASE
        while True:
            await anyio.sleep(min(_LOOK_SECONDS, beat_seconds))
            try:
                # Looking writes nothing, so it can be done more often.
                if anyio.current_time() - self._renewed_at >= beat_seconds:
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
