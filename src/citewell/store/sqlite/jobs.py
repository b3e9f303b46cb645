"""The JobStore on SQLite."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import anyio

from citewell.core.jobs import Job, JobProgress
from citewell.store.library_json import progress_from_json, progress_to_json
from citewell.store.sqlite.connection import SQL, timestamp

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncGenerator, Collection, Mapping

    from citewell.core.jobs import JobDraft, JobKind, JobState, LeaseState
    from citewell.store.sqlite.connection import Database


_LEASE_OF_STATE: Mapping[str, LeaseState] = {"running": "held", "cancelled": "cancelled"}


class SqliteJobs:
    """Jobs in one SQLite database; see JobStore for what each method promises."""

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
            "stored_before": timestamp(stored_before),
            "limit": limit,
            "progress": progress_to_json(JobProgress()),
            "now": timestamp(now),
        }
        # Looking takes no lock; writing does, and hardly ever is there anything to write.
        is_any = await self._database.read(
            lambda connection: connection.execute(SQL["has_chunks_to_embed"], values).fetchone()[0]
        )
        if not is_any:
            return 0
        return await self._database.write(
            lambda connection: connection.execute(SQL["add_embedding_jobs"], values).rowcount
        )

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
            "now": timestamp(now),
            "farthest": _farthest(now, lease_seconds),
            "kinds": None if kinds is None else json.dumps(sorted(kinds)),
            "job_id": job_id,
        }
        hold = {"worker": worker, "now": timestamp(now), "leased_until": _end(now, lease_seconds)}
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
            "now": timestamp(now),
            "leased_until": _end(now, lease_seconds),
            "progress": None if progress is None else progress_to_json(progress),
        }
        return await self._database.write(partial(_heartbeat, values=values))

    async def lease_state(self, job_id: int, *, lease: int) -> LeaseState:
        """Return whether the worker may go on; writes nothing, so it may be asked often."""
        values = {"job_id": job_id, "lease": lease}
        return await self._database.read(partial(_lease_state, values=values))

    async def finish_job(self, job_id: int, *, lease: int, now: datetime, result: str) -> bool:
        """Note that the work is done, with what it brought back as JSON."""
        values = {"job_id": job_id, "lease": lease, "now": timestamp(now), "result": result}
        return await self._change("finish_job", values)

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
            "now": timestamp(now),
            "error": error,
            "error_kind": error_kind,
            "retry_at": None if retry_at is None else timestamp(retry_at),
        }
        return await self._change("fail_job", values)

    async def release_job(self, job_id: int, *, lease: int, now: datetime) -> bool:
        """Hand the job back: it waits again, and the attempt does not count."""
        values = {"job_id": job_id, "lease": lease, "now": timestamp(now)}
        return await self._change("release_job", values)

    async def cancel_job(self, job_id: int, *, now: datetime) -> bool:
        """End an unfinished job; its worker notices at its next heartbeat."""
        return await self._change("cancel_job", {"job_id": job_id, "now": timestamp(now)})

    async def retry_job(self, job_id: int, *, now: datetime) -> bool:
        """Let a failed or cancelled job wait again, as if it had never been tried."""
        return await self._change("retry_job", {"job_id": job_id, "now": timestamp(now)})

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
            "states": None if states is None else json.dumps(sorted(states)),
            "limit": limit,
        }
        return await self._database.read(
            lambda connection: [_job(row) for row in connection.execute(SQL["list_jobs"], values)]
        )

    async def count_jobs(self) -> dict[JobState, int]:
        """Return how many unfinished jobs there are of each state, of all projects."""
        return await self._database.read(
            lambda connection: {
                row["state"]: row["jobs"] for row in connection.execute(SQL["count_jobs"])
            }
        )

    async def next_due(self, *, now: datetime, lease_seconds: float) -> datetime | None:
        """Return when the next job can be taken, which may be past; None when there is none."""
        values = {"now": timestamp(now), "farthest": _farthest(now, lease_seconds)}
        due = await self._database.read(
            lambda connection: connection.execute(SQL["next_due"], values).fetchone()[0]
        )
        return None if due is None else datetime.fromisoformat(due)

    async def changes(self) -> AsyncGenerator[None]:
        """Never yield: SQLite has no way to tell another process."""
        await anyio.sleep_forever()
        yield

    async def prune_jobs(self, *, before: datetime) -> int:
        """Forget finished jobs that have not changed since `before`; return how many."""
        values = {"before": timestamp(before)}
        return await self._database.write(
            lambda connection: connection.execute(SQL["prune_jobs"], values).rowcount
        )

    async def _one(self, name: str, values: Mapping[str, object]) -> Job | None:
        row = await self._database.read(
            lambda connection: connection.execute(SQL[name], values).fetchone()
        )
        return None if row is None else _job(row)

    async def _change(self, name: str, values: Mapping[str, object]) -> bool:
        return await self._database.write(
            lambda connection: connection.execute(SQL[name], values).rowcount > 0
        )


def _add_job(
    connection: sqlite3.Connection, draft: JobDraft, *, now: datetime, run_at: datetime
) -> tuple[Job, bool]:
    key = {"project": draft.project, "kind": draft.kind, "key": draft.key}
    known = connection.execute(SQL["unfinished_job"], key).fetchone()
    if known is not None:
        haste = {
            "job_id": known["job_id"],
            "priority": draft.priority,
            "run_at": timestamp(run_at),
        }
        return _job(connection.execute(SQL["hasten_job"], haste).fetchone()), False
    values = key | {
        "payload": json.dumps(dict(draft.payload), ensure_ascii=False),
        "priority": draft.priority,
        "run_at": timestamp(run_at),
        "progress": progress_to_json(JobProgress()),
        "now": timestamp(now),
    }
    return _job(connection.execute(SQL["add_job"], values).fetchone()), True


def _take_job(
    connection: sqlite3.Connection, *, choice: Mapping[str, object], hold: Mapping[str, object]
) -> Job | None:
    chosen = connection.execute(SQL["job_to_take"], choice).fetchone()
    if chosen is None:
        return None
    values = {**hold, "job_id": chosen["job_id"]}
    return _job(connection.execute(SQL["take_job"], values).fetchone())


def _heartbeat(connection: sqlite3.Connection, *, values: Mapping[str, object]) -> LeaseState:
    if connection.execute(SQL["heartbeat"], values).rowcount > 0:
        return "held"
    return _lease_state(connection, values=values)


def _lease_state(connection: sqlite3.Connection, *, values: Mapping[str, object]) -> LeaseState:
    row = connection.execute(SQL["job_lease"], values).fetchone()
    if row is None or row["lease"] != values["lease"]:
        return "lost"
    return _LEASE_OF_STATE.get(row["state"], "lost")


def _job(row: sqlite3.Row) -> Job:
    leased_until = row["leased_until"]
    return Job(
        job_id=row["job_id"],
        project=row["project"],
        kind=row["kind"],
        key=row["key"],
        payload=json.loads(row["payload"]),
        priority=row["priority"],
        state=row["state"],
        run_at=datetime.fromisoformat(row["run_at"]),
        attempts=row["attempts"],
        lease=row["lease"],
        worker=row["worker"],
        leased_until=None if leased_until is None else datetime.fromisoformat(leased_until),
        progress=progress_from_json(row["progress"]),
        result=row["result"],
        error=row["error"],
        error_kind=row["error_kind"],
        created_at=datetime.fromisoformat(row["created_at"]),
        updated_at=datetime.fromisoformat(row["updated_at"]),
    )


def _end(now: datetime, lease_seconds: float) -> str:
    return timestamp(now + timedelta(seconds=lease_seconds))


def _farthest(now: datetime, lease_seconds: float) -> str:
    """Return the time beyond which no lease given by this clock can end."""
    return timestamp(now + timedelta(seconds=2 * lease_seconds))
