"""What a person sees of the corpus: pages and their state, jobs, usage.

Not tools: the corpus explorer calls these. A key that may search may look.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.app.usage import usage_summary
from citewell.tools.research import status
from citewell.tools.webapp.reader import page_state, visible_pages

if TYPE_CHECKING:
    from citewell.app.parts import PartName
    from citewell.core.identity import UsageTotal
    from citewell.core.jobs import Job
    from citewell.tools.registry import Call
    from citewell.tools.webapp.reader import PageState

PAGES_AT_ONCE = 50

EXPLORER_NEEDS: tuple[PartName, ...] = ("store", "embedder", "access")

_JOBS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class JobView:
    """A piece of background work and the website it is for."""

    job: Job
    url: str


async def list_pages(call: Call, *, after_source_id: int = 0) -> list[PageState]:
    """Return the next PAGES_AT_ONCE pages of the caller's project."""
    status.TOOL.refuse_others(call.caller)
    pages = await call.parts.store.list_pages(
        visible_pages(call), limit=PAGES_AT_ONCE, after_source_id=after_source_id
    )
    return [page_state(page, call) for page in pages]


async def list_jobs(call: Call) -> list[JobView]:
    """Return the background work of the caller's project, newest first."""
    status.TOOL.refuse_others(call.caller)
    store, project = call.parts.store, call.caller.project
    jobs = await store.jobs.list_jobs(project=project, limit=_JOBS)
    keys = {job.key for job in jobs if job.key.isdigit()}
    websites = {key: await store.library.get_website(int(key), project=project) for key in keys}
    return [
        JobView(job=job, url=website.url if (website := websites.get(job.key)) else job.key)
        for job in jobs
    ]


async def list_usage(call: Call, *, month: str | None = None) -> list[UsageTotal]:
    """Return what the caller's key has used in a month; with the scope `admin`, what all have.

    Raises:
        InvalidArgument: the month is not one.
    """
    await call.parts.access.meter.write_out()
    owner = None if "admin" in call.caller.scopes else call.caller.key_hash or ""
    return await usage_summary(call.parts.store.access, month=month, owner=owner)
