"""Background jobs, stored so that a killed process loses none.

All times are given by the caller, whose clock may jump: a lease that ends further away than two
leases from now was given by a clock that has been set back since, and counts as expired.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from citewell.core.jobs import Job, JobProgress
from citewell.store.library_json import progress_from_json, progress_to_json
from citewell.store.rows import read_record
from citewell.store.session import read_datetime

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Mapping

    from citewell.core.jobs import JobDraft, JobKind, JobState, LeaseState
    from citewell.store.session import Database, Row, Session, Values

_LEASE_OF_STATE: Mapping[str, LeaseState] = {"running": "held", "cancelled": "cancelled"}


class JobStore:
    """Jobs, taken by one worker at a time. Every method may raise StoreError.

    A worker holds a job by the `lease` number it took it with. Methods that take `lease` change
    nothing when the job was taken again since, or is no longer running.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_job(
        self, draft: JobDraft, *, now: datetime, run_at: datetime | None = None
    ) -> tuple[Job, bool]:
        """Return the unfinished job of the draft's project, kind and key, and whether it is new.

        One that is there keeps its payload, but takes the higher priority and the earlier time.
        """
        key = {"project": draft.project, "kind": draft.kind, "key": draft.key}
        haste = {"priority": draft.priority, "run_at": run_at or now}
        values = {
            **key,
            **haste,
            "payload": json.dumps(dict(draft.payload), ensure_ascii=False),
            "progress": progress_to_json(JobProgress()),
            "now": now,
        }

        async def work(session: Session) -> tuple[Job, bool]:
            await session.notify("jobs")
            while True:
                if (added := await session.fetch_one("add_job", values)) is not None:
                    return _job(added), True
                known = await session.fetch_one("unfinished_job", key)
                # None when it finished between the two statements: then a new one can be added.
                if known is not None:
                    row = await session.fetch_one(
                        "hasten_job", {**haste, "job_id": known["job_id"]}
                    )
                    assert row is not None, "a row that is locked is there"
                    return _job(row), False

        return await self._database.transaction(work)

    async def add_embedding_jobs(
        self, *, model: str, now: datetime, stored_before: datetime, limit: int
    ) -> int:
        """Add an `embed_page` job for each page that lacks vectors of `model`; return how many.

        Pages that came after `stored_before` are left to whoever stored them. `limit` counts
        chunks: those beyond it have their turn when the first are embedded.
        """
        values = {
            "model": model,
            "stored_before": stored_before,
            "limit": limit,
            "progress": progress_to_json(JobProgress()),
            "now": now,
        }
        # Checking first takes no lock; writing does, and is rarely needed.
        if await self._database.fetch_one("chunk_to_embed", {"model": model}) is None:
            return 0
        return await self._change_and_notify("add_embedding_jobs", values)

    async def take_job(
        self,
        worker: str,
        *,
        now: datetime,
        lease_seconds: float,
        kinds: Collection[JobKind] | None = None,
        job_id: int | None = None,
    ) -> Job | None:
        """Take the due job with the highest priority, oldest first, or the one of `job_id`.

        A running job whose lease has expired is due. While a job runs, no other of the same
        project and key is taken. Two workers never get the same job with the same lease.
        """
        choice = {
            "now": now,
            "farthest": _farthest(now, lease_seconds),
            "kinds": None if kinds is None else sorted(kinds),
            "job_id": job_id,
        }
        hold = {"worker": worker, "now": now, "leased_until": _lease_end(now, lease_seconds)}

        async def work(session: Session) -> Job | None:
            # Serialised: two workers that check the running jobs together could take the same key.
            await session.lock("jobs")
            chosen = await session.fetch_one("job_to_take", choice)
            if chosen is None:
                return None
            row = await session.fetch_one("take_job", {**hold, "job_id": chosen["job_id"]})
            assert row is not None, "a row that is locked is there"
            return _job(row)

        return await self._database.transaction(work)

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
        values = {
            "job_id": job_id,
            "lease": lease,
            "now": now,
            "leased_until": _lease_end(now, lease_seconds),
            "progress": None if progress is None else progress_to_json(progress),
        }

        async def work(session: Session) -> LeaseState:
            if await session.execute("heartbeat", values) > 0:
                return "held"
            return _lease_state(await session.fetch_one("job_lease", {"job_id": job_id}), lease)

        return await self._database.transaction(work)

    async def lease_state(self, job_id: int, *, lease: int) -> LeaseState:
        """Return whether the worker may go on; writes nothing, so it may be asked often."""
        row = await self._database.fetch_one("job_lease", {"job_id": job_id})
        return _lease_state(row, lease)

    async def finish_job(self, job_id: int, *, lease: int, now: datetime, result: str) -> bool:
        """Note that the work is done, with what it brought back as JSON."""
        values = {"job_id": job_id, "lease": lease, "now": now, "result": result}
        return await self._database.execute("finish_job", values) > 0

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
        """Record a failed attempt: the job waits until `retry_at`, or has failed (None).

        `error` is for people, `error_kind` for programs: the name of its class.
        """
        values = {
            "job_id": job_id,
            "lease": lease,
            "now": now,
            "error": error,
            "error_kind": error_kind,
            "state": "failed" if retry_at is None else "waiting",
            "retry_at": retry_at,
        }
        return await self._change_and_notify("fail_job", values) > 0

    async def release_job(self, job_id: int, *, lease: int, now: datetime) -> bool:
        """Hand the job back: it waits again, and the attempt does not count."""
        values = {"job_id": job_id, "lease": lease, "now": now}
        return await self._change_and_notify("release_job", values) > 0

    async def cancel_job(self, job_id: int, *, now: datetime) -> bool:
        """End an unfinished job; its worker notices at its next heartbeat.

        Returns whether it was unfinished.
        """
        return await self._database.execute("cancel_job", {"job_id": job_id, "now": now}) > 0

    async def retry_job(self, job_id: int, *, now: datetime) -> bool:
        """Requeue a failed or cancelled job as if it had never been tried.

        Returns False when it is neither, or when another unfinished job has its key.
        """
        return await self._change_and_notify("retry_job", {"job_id": job_id, "now": now}) > 0

    async def get_job(self, job_id: int) -> Job | None:
        """Return the job."""
        row = await self._database.fetch_one("get_job", {"job_id": job_id})
        return None if row is None else _job(row)

    async def last_job(self, key: str, *, project: str) -> Job | None:
        """Return the job of this key that is unfinished, or else the newest."""
        row = await self._database.fetch_one("last_job", {"key": key, "project": project})
        return None if row is None else _job(row)

    async def list_jobs(
        self,
        *,
        project: str | None = None,
        states: Collection[JobState] | None = None,
        limit: int = 50,
    ) -> list[Job]:
        """Return jobs, newest first."""
        values = {
            "project": project,
            "states": None if states is None else sorted(states),
            "limit": limit,
        }
        return [_job(row) for row in await self._database.fetch_all("list_jobs", values)]

    async def count_jobs(self) -> dict[JobState, int]:
        """Return how many unfinished jobs there are of each state, of all projects."""
        return {row["state"]: row["jobs"] for row in await self._database.fetch_all("count_jobs")}

    async def next_due(self, *, now: datetime, lease_seconds: float) -> datetime | None:
        """Return when the next job can be taken, which may be past; None when there is none."""
        values = {"now": now, "farthest": _farthest(now, lease_seconds)}
        row = await self._database.fetch_one("next_due", values)
        assert row is not None, "an aggregate has a row"
        due: datetime | None = read_datetime(row["due"])
        return due

    async def changes(self) -> AsyncGenerator[None]:
        """Yield whenever another process may have added a job, until the iterator is closed.

        Where processes cannot notify each other it never yields: polling is up to the
        reader in any case.
        """
        async with aclosing(self._database.listen("jobs")) as notices:
            async for _ in notices:
                yield

    async def prune_jobs(self, *, before: datetime) -> int:
        """Forget finished jobs that have not changed since `before`; return how many."""
        return await self._database.execute("prune_jobs", {"before": before})

    async def _change_and_notify(self, statement: str, values: Values) -> int:
        """Run a statement that may let jobs wait; return how many it changed."""

        async def work(session: Session) -> int:
            changed = await session.execute(statement, values)
            if changed:
                await session.notify("jobs")
            return changed

        return await self._database.transaction(work)


def _lease_state(row: Row | None, lease: int) -> LeaseState:
    if row is None or row["lease"] != lease:
        return "lost"
    return _LEASE_OF_STATE.get(row["state"], "lost")


def _job(row: Row) -> Job:
    return read_record(
        Job,
        row,
        payload=json.loads(row["payload"]),
        progress=progress_from_json(row["progress"]),
    )


def _lease_end(now: datetime, lease_seconds: float) -> datetime:
    return now + timedelta(seconds=lease_seconds)


def _farthest(now: datetime, lease_seconds: float) -> datetime:
    """Return the time beyond which no lease given by this clock can end."""
    return now + timedelta(seconds=2 * lease_seconds)
