"""`citewell jobs`: the work in the background."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, get_args

import anyio

from citewell.cli.library_shapes import job_shape, job_text, jobs_table
from citewell.cli.parser import number_between
from citewell.cli.work import (
    LEFT_TO_OTHERS,
    Outcome,
    add_background_option,
    add_json_option,
    interrupted,
    run_work,
)
from citewell.core.errors import InvalidArgument
from citewell.core.jobs import JobState
from citewell.jobs.abandoned import is_abandoned
from citewell.jobs.website_status import get_job

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from citewell.app.open import App
    from citewell.core.jobs import Job
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings
    from citewell.store.protocol import Store

_ON_WEBSITES = ("process_website", "process_site", "refresh_website")

DESCRIPTION = """\
Show the background work on the library, newest first: what runs, what waits, its progress, and
why something failed. A running server does the work, and so does `citewell worker`; `retry` does it
now unless --background leaves it to them."""

EXAMPLES = """\
  citewell jobs
  citewell jobs --state failed
  citewell jobs show 7
  citewell jobs cancel 7
  citewell jobs retry 7"""

ACTIONS = {
    "list": "list jobs, newest first (the default)",
    "show": "show everything about jobs",
    "cancel": "stop jobs; what they have read so far is kept",
    "retry": "do failed or cancelled jobs again",
}
DEFAULT_ACTION = "list"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of all actions, for the documentation."""
    parser.add_argument("action", metavar="ACTION", choices=ACTIONS, help=", ".join(ACTIONS))
    parser.add_argument("job_ids", nargs="*", type=int, metavar="JOB", help="number of a job")
    _add_listing_options(parser)
    add_background_option(parser)
    add_json_option(parser)


def add_action_arguments(parser: argparse.ArgumentParser, action: str) -> None:
    """Declare the arguments of one action."""
    if action == "list":
        _add_listing_options(parser)
    else:
        parser.add_argument("job_ids", nargs="+", type=int, metavar="JOB", help="number of a job")
    if action == "retry":
        add_background_option(parser)
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Do what the action says, and print the outcome."""
    work = {"list": _list, "show": _show, "cancel": _cancel, "retry": _retry}
    return run_work(partial(work[arguments.action], arguments), arguments, settings)


def _add_listing_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--state", action="append", choices=get_args(JobState), help="only these; repeatable"
    )
    parser.add_argument(
        "--limit", type=number_between(1), default=50, metavar="N", help="maximum rows"
    )


async def _list(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    store = (await app.open("store")).store
    jobs = await store.jobs.list_jobs(
        project=app.settings.project, states=arguments.state, limit=arguments.limit
    )
    urls = await _urls_of(jobs, store)
    names = {job.key: f"{job.key} (deleted)" for job in jobs if job.kind in _ON_WEBSITES} | urls
    told = [jobs_table(jobs, names), *await _advice(jobs, urls, store)] if jobs else ["No jobs."]
    return Outcome(
        text="\n\n".join(told),
        structured={"jobs": [job_shape(job) for job in jobs]},
    )


async def _urls_of(jobs: Sequence[Job], store: Store) -> dict[str, str]:
    """Return the URLs of the websites that jobs work on, by the key of the job."""
    urls: dict[str, str] = {}
    for job in jobs:
        if job.kind in _ON_WEBSITES and job.key not in urls:
            website = await store.library.get_website(int(job.key), project=job.project)
            urls |= {} if website is None else {job.key: website.url}
    return urls


async def _advice(jobs: Sequence[Job], urls: Mapping[str, str], store: Store) -> list[str]:
    """Return how the newest work that ended too early can continue, and who does what waits.

    Work on a website that is not in `urls` cannot continue: it was deleted. Nor does work that
    a later job has done.
    """
    advice = [LEFT_TO_OTHERS] if any(job.state == "waiting" for job in jobs) else []
    for job in jobs:
        is_gone = job.kind in _ON_WEBSITES and job.key not in urls
        if job.state not in ("cancelled", "failed") or is_gone:
            continue
        last = await store.jobs.last_job(job.key, project=job.project)
        if last is None or last.job_id == job.job_id:
            return [*advice, f"To continue: `citewell jobs retry {job.job_id}`."]
    return advice


async def _show(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    store = (await app.open("store")).store
    jobs = [
        await get_job(store, job_id, project=app.settings.project) for job_id in arguments.job_ids
    ]
    urls = await _urls_of(jobs, store)
    return Outcome(
        text="\n\n".join(job_text(job, urls.get(job.key)) for job in jobs),
        structured={"jobs": [job_shape(job) for job in jobs]},
    )


async def _cancel(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    library, project = (await app.open("library")).library, app.settings.project
    jobs = [await library.cancel_job(job_id, project=project) for job_id in arguments.job_ids]
    is_done = [job.state == "cancelled" for job in jobs]
    return _outcome(jobs, is_done, refusal="it cannot be cancelled")


async def _retry(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    parts, project = await app.open("library", "store"), app.settings.project
    library = parts.library
    for job_id in arguments.job_ids:
        job = await get_job(parts.store, job_id, project=project)
        if job.state == "running" and not is_abandoned(job):
            raise InvalidArgument(
                f"job {job_id} is running already, in another process",
                suggestion=f"`citewell jobs show {job_id}` says how far it is.",
            )
    jobs = [await library.retry_job(job_id, project=project) for job_id in arguments.job_ids]
    is_begun = [not job.is_finished for job in jobs]
    if not arguments.background:
        try:
            jobs = [
                job
                if job.is_finished
                else await library.wait_for(job.job_id, on_progress=on_progress)
                for job in jobs
            ]
        except anyio.get_cancelled_exc_class():
            with anyio.CancelScope(shield=True):
                for job in jobs:
                    await library.cancel_job(job.job_id, project=project)
            numbers = " ".join(str(job.job_id) for job in jobs)
            raise interrupted(
                "Stopped. What was read is kept.",
                suggestion=f"To continue: `citewell jobs retry {numbers}`.",
            ) from None
    return _outcome(jobs, is_begun, refusal="it cannot be tried again")


def _outcome(jobs: Sequence[Job], is_done: Sequence[bool], *, refusal: str) -> Outcome:
    lines = [
        f"job {job.job_id}: {job.state}"
        + (f", so {refusal}" if not done else f" — {job.error}" if job.state == "failed" else "")
        for job, done in zip(jobs, is_done, strict=True)
    ]
    if any(job.state == "waiting" for job in jobs):
        lines.append(LEFT_TO_OTHERS)
    return Outcome(
        text="\n".join(lines),
        structured={"jobs": [job_shape(job) for job in jobs]},
        has_failed=not all(is_done) or any(job.state == "failed" for job in jobs),
    )
