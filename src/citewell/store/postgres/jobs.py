"""The JobStore on PostgreSQL."""

from __future__ import annotations

import json
from contextlib import aclosing
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from citewell.core.jobs import Job, JobProgress
from citewell.store.library_json import progress_from_json, progress_to_json
from citewell.store.postgres.connection import SQL

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Collection, Mapping

    from psycopg import AsyncConnection

    from citewell.core.jobs import JobDraft, JobKind, JobState, LeaseState
    from citewell.store.postgres.connection import Database

    Session = AsyncConnection[dict[str, Any]]


_LEASE_OF_STATE: Mapping[str, LeaseState] = {"running": "held", "cancelled": "cancelled"}


class PostgresJobs:
    """Jobs in one PostgreSQL database; see JobStore for what each method promises."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_job(
        self, draft: JobDraft, *, now: datetime, run_at: datetime | None = None
    ) -> tuple[Job, bool]:
        """Return the unfinished job of the draft's project, kind and key, and if it is new."""
        return await self._database.write(
            partial(_add_job, draft=draft, now=now, run_at=run_at or now)
        )

    async def add_embedding_jobs(
        self, *, model: str, now: datetime, stored_before: datetime, limit: int
    ) -> int:
        """Add an `embed_page` job for each page that lacks vectors of `model`; return how many."""
        values = {
            "model": model,
            "stored_before": stored_before,
            "limit": limit,
            "progress": progress_to_json(JobProgress()),
            "now": now,
        }

        async def work(connection: Session) -> int:
            added = (await connection.execute(SQL["add_embedding_jobs"], values)).rowcount
            if added:
                await connection.execute(SQL["tell_of_job"])
            return added

        return await self._database.write(work)

    async def take_job(
        self,
        worker: str,
        *,
        now: datetime,
        lease_seconds: float,
        kinds: Collection[JobKind] | None = None,
        job_id: int | None = None,
    ) -> Job | None:
        """Take the job that is due with the highest priority, of those the oldest."""
        choice = {
            "now": now,
            "farthest": _farthest(now, lease_seconds),
            "kinds": None if kinds is None else sorted(kinds),
            "job_id": job_id,
        }
        hold = {"worker": worker, "now": now, "leased_until": _end(now, lease_seconds)}
        return await self._database.write(partial(_take_job, choice=choice, hold=hold))

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
            "leased_until": _end(now, lease_seconds),
            "progress": None if progress is None else progress_to_json(progress),
        }
        return await self._database.write(partial(_heartbeat, values=values))

    async def lease_state(self, job_id: int, *, lease: int) -> LeaseState:
        """Return whether the worker may go on; writes nothing, so it may be asked often."""
        rows = await self._database.query("job_lease", {"job_id": job_id})
        return _lease_state(rows[0] if rows else None, lease)

    async def finish_job(self, job_id: int, *, lease: int, now: datetime, result: str) -> bool:
        """Note that the work is done, with what it brought back as JSON."""
        values = {"job_id": job_id, "lease": lease, "now": now, "result": result}
        return await self._database.change("finish_job", values) > 0

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
        """Note that the attempt failed: the job waits until `retry_at`, or has failed (None)."""
        values = {
            "job_id": job_id,
            "lease": lease,
            "now": now,
            "error": error,
            "error_kind": error_kind,
            "retry_at": retry_at,
        }
        return await self._change_and_tell("fail_job", values)

    async def release_job(self, job_id: int, *, lease: int, now: datetime) -> bool:
        """Hand the job back: it waits again, and the attempt does not count."""
        values = {"job_id": job_id, "lease": lease, "now": now}
        return await self._change_and_tell("release_job", values)

    async def cancel_job(self, job_id: int, *, now: datetime) -> bool:
        """End an unfinished job; its worker notices at its next heartbeat."""
        return await self._database.change("cancel_job", {"job_id": job_id, "now": now}) > 0

    async def retry_job(self, job_id: int, *, now: datetime) -> bool:
        """Let a failed or cancelled job wait again, as if it had never been tried."""
        return await self._change_and_tell("retry_job", {"job_id": job_id, "now": now})

    async def get_job(self, job_id: int) -> Job | None:
        """Return the job."""
        return await self._one("get_job", {"job_id": job_id})

    async def last_job(self, key: str, *, project: str) -> Job | None:
        """Return the job of this key that is unfinished, or else the newest."""
        return await self._one("last_job", {"key": key, "project": project})

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
        return [_job(row) for row in await self._database.query("list_jobs", values)]

    async def count_jobs(self) -> dict[JobState, int]:
        """Return how many unfinished jobs there are of each state, of all projects."""
        return {row["state"]: row["jobs"] for row in await self._database.query("count_jobs")}

    async def next_due(self, *, now: datetime, lease_seconds: float) -> datetime | None:
        """Return when the next job can be taken, which may be past; None when there is none."""
        values = {"now": now, "farthest": _farthest(now, lease_seconds)}
        due: datetime | None = (await self._database.query("next_due", values))[0]["due"]
        return due

    async def changes(self) -> AsyncGenerator[None]:
        """Yield whenever another process may have left a job to take, for as long as it is read."""
        async with aclosing(self._database.listen("listen_for_jobs")) as told:
            async for _ in told:
                yield

    async def prune_jobs(self, *, before: datetime) -> int:
        """Forget finished jobs that have not changed since `before`; return how many."""
        return await self._database.change("prune_jobs", {"before": before})

    async def _change_and_tell(self, statement: str, values: Mapping[str, object]) -> bool:
        """Run a statement that may let a job wait again; return whether it changed one."""

        async def work(connection: Session) -> bool:
            if (await connection.execute(SQL[statement], values)).rowcount == 0:
                return False
            await connection.execute(SQL["tell_of_job"])
            return True

        return await self._database.write(work)

    async def _one(self, name: str, values: dict[str, object]) -> Job | None:
        rows = await self._database.query(name, values)
        return _job(rows[0]) if rows else None


async def _add_job(
    connection: Session, draft: JobDraft, *, now: datetime, run_at: datetime
) -> tuple[Job, bool]:
    key = {"project": draft.project, "kind": draft.kind, "key": draft.key}
    values = key | {
        "payload": json.dumps(dict(draft.payload), ensure_ascii=False),
        "priority": draft.priority,
        "run_at": run_at,
        "progress": progress_to_json(JobProgress()),
        "now": now,
    }
    while True:
        added = await (await connection.execute(SQL["add_job"], values)).fetchone()
        if added is not None:
            await connection.execute(SQL["tell_of_job"])
            return _job(added), True
        known = await (await connection.execute(SQL["unfinished_job"], key)).fetchone()
        # None when it was finished between the two looks: then there is room for a new one.
        if known is not None:
            haste = {"job_id": known["job_id"], "priority": draft.priority, "run_at": run_at}
            row = await (await connection.execute(SQL["hasten_job"], haste)).fetchone()
            assert row is not None, "a row that is locked is there"
            await connection.execute(SQL["tell_of_job"])
            return _job(row), False


async def _take_job(
    connection: Session, *, choice: Mapping[str, object], hold: Mapping[str, object]
) -> Job | None:
    await connection.execute(SQL["lock_taking"])
    chosen = await (await connection.execute(SQL["job_to_take"], choice)).fetchone()
    if chosen is None:
        return None
    values = {**hold, "job_id": chosen["job_id"]}
    row = await (await connection.execute(SQL["take_job"], values)).fetchone()
    assert row is not None, "a row that is locked is there"
    return _job(row)


async def _heartbeat(connection: Session, *, values: Mapping[str, object]) -> LeaseState:
    if (await connection.execute(SQL["heartbeat"], values)).rowcount > 0:
        return "held"
    row = await (await connection.execute(SQL["job_lease"], values)).fetchone()
    return _lease_state(row, values["lease"])


def _lease_state(row: Mapping[str, Any] | None, lease: object) -> LeaseState:
    if row is None or row["lease"] != lease:
        return "lost"
    return _LEASE_OF_STATE.get(row["state"], "lost")


def _job(row: Mapping[str, Any]) -> Job:
    return Job(
        job_id=row["job_id"],
        project=row["project"],
        kind=row["kind"],
        key=row["key"],
        payload=json.loads(row["payload"]),
        priority=row["priority"],
        state=row["state"],
        run_at=row["run_at"],
        attempts=row["attempts"],
        lease=row["lease"],
        worker=row["worker"],
        leased_until=row["leased_until"],
        progress=progress_from_json(row["progress"]),
        result=row["result"],
        error=row["error"],
        error_kind=row["error_kind"],
        created_at=row["created_at"],
        updated_at=row["updated_at"],
    )


def _end(now: datetime, lease_seconds: float) -> datetime:
    return now + timedelta(seconds=lease_seconds)


def _farthest(now: datetime, lease_seconds: float) -> datetime:
    """Return the time beyond which no lease given by this clock can end."""
    return now + timedelta(seconds=2 * lease_seconds)
