"""The records of background work.

job       one piece of work that outlives a process, such as reading a site
lease     a worker's hold on a job, which ends by itself when the worker is gone
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

JobKind = Literal[
    "process_website", "process_site", "refresh_website", "embed_page", "reread_pages"
]

JobState = Literal["waiting", "running", "done", "failed", "cancelled"]

UNFINISHED: frozenset[JobState] = frozenset({"waiting", "running"})

JobStage = Literal["queued", "discovering", "fetching", "embedding", "finished"]

LeaseState = Literal["held", "cancelled", "lost"]
"""Whether a worker may go on: its job was cancelled, or another worker has it."""

JobValue = str | int | float | bool | None


@frozen
class JobProgress:
    """How far a job is; `pages_total` is None while nobody knows."""

    stage: JobStage = "queued"
    pages_done: int = 0
    pages_total: int | None = None
    chunks: int = 0
    chunks_done: int = 0
    """How many of `chunks` were embedded."""
    bytes_read: int = 0
    """What the site has sent."""
    bytes_embedded: int = 0
    percent: int | None = None
    """0 to 100; None while nobody knows."""
    message: str = ""


@frozen
class JobDraft:
    """A job to add. Of unfinished jobs there is one for each (project, kind, key)."""

    kind: JobKind
    key: str
    """What it works on; of jobs of one project and key only one runs at a time."""
    project: str = "default"
    payload: Mapping[str, JobValue] = field(default_factory=dict)
    priority: int = 0
    """The highest goes first."""


@frozen
class Job:
    """A job as the store holds it."""

    job_id: int
    project: str
    kind: JobKind
    key: str
    payload: Mapping[str, JobValue]
    priority: int
    state: JobState
    run_at: datetime
    """Not to be taken before."""
    attempts: int
    """How often it was begun, the running attempt included."""
    lease: int
    """Counts how often it was taken, to distinguish one worker's lease from the next."""
    worker: str | None
    leased_until: datetime | None
    progress: JobProgress
    result: str | None
    """What a finished job brought back, as JSON."""
    error: str | None
    """Why the last attempt failed."""
    created_at: datetime
    updated_at: datetime
    error_kind: str | None = None
    """The name of that error's class."""

    @property
    def is_finished(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state not in UNFINISHED
