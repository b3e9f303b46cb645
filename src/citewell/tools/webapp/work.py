"""The background work on the library, as a person sees and stops it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.error_kinds import error_of_kind
from citewell.core.frozen import frozen
from citewell.tools.websites import list_websites, refresh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.jobs import Job
    from citewell.core.library import Website
    from citewell.tools.tool import Call

_JOBS = 50


@frozen
class CrawledUrls:
    """How far a crawl is at this moment; its job reports only every few pages."""

    tried: int
    waiting: int


@frozen
class JobGroup:
    """The work on one website, newest first."""

    website: Website | None
    """None for work on something else, or where it was deleted."""
    url: str
    jobs: Sequence[Job]
    urls: CrawledUrls | None = None
    """Of a site that is being read."""

    @property
    def is_stopped(self) -> bool:
        """Whether a person stopped the first reading of the website."""
        return self.website is not None and self.website.status == "stopped"

    @property
    def source_id(self) -> int | None:
        """The id of the website."""
        return None if self.website is None else self.website.source_id

    @property
    def last(self) -> Job:
        """The newest."""
        return self.jobs[0]

    @property
    def advice(self) -> str | None:
        """What to do about the failure of the newest."""
        return advice_on(self.last)


async def list_jobs(call: Call) -> list[JobGroup]:
    """Return the background work of the caller's project by website, the newest first."""
    list_websites.TOOL.refuse_others(call.caller)
    store, project = call.parts.store, call.caller.project
    by_key: dict[str, list[Job]] = {}
    for job in await store.jobs.list_jobs(project=project, limit=_JOBS):
        by_key.setdefault(job.key, []).append(job)
    groups: list[JobGroup] = []
    for key, jobs in by_key.items():
        number = int(key) if key.isdigit() else None
        website = (
            None if number is None else await store.library.get_website(number, project=project)
        )
        groups.append(
            JobGroup(
                website=website,
                url=key if website is None else website.url,
                jobs=jobs,
                urls=await _crawled_urls(website, jobs[0], call),
            )
        )
    return groups


async def _crawled_urls(website: Website | None, job: Job, call: Call) -> CrawledUrls | None:
    if website is None or website.kind != "site" or job.progress.stage != "fetching":
        return None
    if job.is_finished:
        return None
    counts = await call.parts.store.crawls.count_urls(website.source_id)
    waiting = counts.get("waiting", 0)
    return CrawledUrls(tried=sum(counts.values()) - waiting, waiting=waiting)


def advice_on(job: Job) -> str | None:
    """Return what to do about a job that failed."""
    if job.state != "failed" or job.error is None:
        return None
    return error_of_kind(job.error_kind, job.error).suggestion


async def cancel_job(job_id: int, call: Call) -> None:
    """Stop a job; what was read so far is kept.

    Raises:
        NotFound: there is no such job.
    """
    refresh.TOOL.refuse_others(call.caller)
    await call.parts.library.cancel_job(job_id, project=call.caller.project)


async def retry_job(job_id: int, call: Call) -> None:
    """Let a failed or cancelled job run again.

    Raises:
        NotFound: there is no such job.
    """
    refresh.TOOL.refuse_others(call.caller)
    await call.parts.library.retry_job(job_id, project=call.caller.project)
