"""JobStore: what a database must promise of background work, so that a killed process loses none.

All times are given by the caller, whose clock may jump: a lease that ends further away than two
leases from now was given by a clock that has been set back since, and counts as expired.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection
    from datetime import datetime

    from citewell.core.jobs import (
        Job,
        JobDraft,
        JobKind,
        JobProgress,
        JobState,
        LeaseState,
    )


class JobStore(Protocol):
    """Jobs, taken by one worker at a time. Every method may raise StoreError.

    A worker holds a job by the `lease` number it took it with. Methods that take `lease` change
    nothing when the job was taken again since, or is no longer running.
    """

    async def add_job(
        self, draft: JobDraft, *, now: datetime, run_at: datetime | None = None
    ) -> tuple[Job, bool]:
        """Return the unfinished job of the draft's project, kind and key, and whether it is new.

        One that is there keeps its payload, but takes the higher priority and the earlier time.
        """

    async def add_embedding_jobs(
        self, *, model: str, now: datetime, stored_before: datetime, limit: int
    ) -> int:
        """Add an `embed_page` job for each page that lacks vectors of `model`; return how many.

        Pages that came after `stored_before` are left to whoever stored them. `limit` counts
        chunks: those beyond it have their turn when the first are embedded.
        """

    async def take_job(
        self,
        worker: str,
        *,
        now: datetime,
        lease_seconds: float,
        kinds: Collection[JobKind] | None = None,
        job_id: int | None = None,
    ) -> Job | None:
        """Take the job that is due with the highest priority, of those the oldest, or `job_id`.

        A running job whose lease has expired is due. While a job runs, no other of the same
        project and key is taken. Two workers never get the same job with the same lease.
        """

    async def heartbeat(
        self,
        job_id: int,
        *,
        lease: int,
        now: datetime,
        lease_seconds: float,
        progress: JobProgress | None = None,
    ) -> LeaseState:
        """Prolong the lease, note the progress, and return whether the worker may go on."""

    async def lease_state(self, job_id: int, *, lease: int) -> LeaseState:
        """Return whether the worker may go on; writes nothing, so it may be asked often."""

    async def finish_job(self, job_id: int, *, lease: int, now: datetime, result: str) -> bool:
        """Note that the work is done, with what it brought back as JSON."""

    async def fail_job(
        self,
        job_id: int,
        *,
        lease: int,
        now: datetime,
        error: str,
        retry_at: datetime | None,
        error_kind: str | None = None,
    ) -> bool:
        """Note that the attempt failed: the job waits until `retry_at`, or has failed (None).

        `error` is for people, `error_kind` for programs: the name of its class.
        """

    async def release_job(self, job_id: int, *, lease: int, now: datetime) -> bool:
        """Hand the job back: it waits again, and the attempt does not count."""

    async def cancel_job(self, job_id: int, *, now: datetime) -> bool:
        """End an unfinished job; its worker notices at its next heartbeat.

        Returns whether it was unfinished.
        """

    async def retry_job(self, job_id: int, *, now: datetime) -> bool:
        """Let a failed or cancelled job wait again, as if it had never been tried.

        Returns False when it is neither, or when another unfinished job has its key.
        """

    async def get_job(self, job_id: int) -> Job | None:
        """Return the job."""

    async def last_job(self, key: str, *, project: str) -> Job | None:
        """Return the job of this key that is unfinished, or else the newest."""

    async def list_jobs(
        self,
        *,
        project: str | None = None,
        states: Collection[JobState] | None = None,
        limit: int = 50,
    ) -> list[Job]:
        """Return jobs, newest first."""

    async def count_jobs(self) -> dict[JobState, int]:
        """Return how many unfinished jobs there are of each state, of all projects."""

    async def next_due(self, *, now: datetime, lease_seconds: float) -> datetime | None:
        """Return when the next job can be taken, which may be past; None when there is none."""

    def changes(self) -> AsyncGenerator[None]:
        """Yield whenever another process may have left a job to take, for as long as it is read.

        Where processes cannot tell each other it never yields: looking now and then is up to the
        reader in any case.
        """

    async def prune_jobs(self, *, before: datetime) -> int:
        """Forget finished jobs that have not changed since `before`; return how many."""
