"""Read the state of websites and jobs, without loading what works on them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from citewell.core.errors import NotFound
from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from citewell.core.jobs import Job
    from citewell.core.library import Website
    from citewell.store.protocol import Store


@frozen
class Status:
    """A website with the last job on it."""

    website: Website
    job: Job | None


async def website_status(store: Store, source_id: int, *, project: str) -> Status:
    """Return a website (or a stored page) with the last job on it.

    Raises:
        NotFound: there is no such website or page.
    """
    website = await store.library.get_website(source_id, project=project)
    if website is None:
        raise no_such_website(source_id)
    return Status(website=website, job=await store.jobs.last_job(str(source_id), project=project))


async def get_job(store: Store, job_id: int, *, project: str) -> Job:
    """Return a job of the project.

    Raises:
        NotFound: there is no such job.
    """
    job = await store.jobs.get_job(job_id)
    if job is None or job.project != project:
        raise NotFound(f"there is no job {job_id}", suggestion="`citewell jobs` lists the jobs.")
    return job


def is_stale(website: Website, *, after_days: float, now: datetime | None = None) -> bool:
    """Return whether the website was fetched more than `after_days` ago, or only supplied."""
    if website.origin == "supplied":
        return True
    age = None if website.fetched_at is None else (now or datetime.now(UTC)) - website.fetched_at
    return age is not None and age > timedelta(days=after_days)


def no_such_website(source_id: int) -> NotFound:
    """Return the error for a source_id that names nothing."""
    return NotFound(
        f"there is no website with source_id {source_id}",
        suggestion="List the websites to see their ids: rag_list_websites, or `citewell sites`.",
        source_id=source_id,
    )
