"""`citewell jobs`: the work in the background."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, get_args

from citewell.cli.library_shapes import job_shape, jobs_table
from citewell.cli.parser import number_between
from citewell.cli.work import Outcome, add_json_option, run_work
from citewell.core.jobs import JobState
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
why something failed. A running server does the work, and so does `citewell worker`."""

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
    "retry": "let failed or cancelled jobs run again",
}
DEFAULT_ACTION = "list"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of all actions, for the documentation."""
    parser.add_argument("action", metavar="ACTION", choices=ACTIONS, help=", ".join(ACTIONS))
    parser.add_argument("job_ids", nargs="*", type=int, metavar="JOB", help="number of a job")
    _add_listing_options(parser)
    add_json_option(parser)


def add_action_arguments(parser: argparse.ArgumentParser, action: str) -> None:
    """Declare the arguments of one action."""
    if action == "list":
        _add_listing_options(parser)
    else:
        parser.add_argument("job_ids", nargs="+", type=int, metavar="JOB", help="number of a job")
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
    return Outcome(
        text="\n\n".join([jobs_table(jobs, names), *_advice(jobs, urls)]) if jobs else "No jobs.",
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


def _advice(jobs: Sequence[Job], urls: Mapping[str, str]) -> list[str]:
    """Return how the newest work that ended too early can continue.

    Work on a website that is not in `urls` cannot: it was deleted.
    """
    for job in jobs:
        is_gone = job.kind in _ON_WEBSITES and job.key not in urls
        if job.state in ("cancelled", "failed") and not is_gone:
            return [f"To continue: `citewell jobs retry {job.job_id}`."]
    return []


async def _show(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    store = (await app.open("store")).store
    jobs = [
        await get_job(store, job_id, project=app.settings.project) for job_id in arguments.job_ids
    ]
    shapes = [job_shape(job) for job in jobs]
    text = "\n\n".join(
        "\n".join(f"{name:<12}  {_plain(value)}" for name, value in shape.items() if value)
        for shape in shapes
    )
    return Outcome(text=text, structured={"jobs": shapes})


async def _cancel(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    library, project = (await app.open("library")).library, app.settings.project
    jobs = [await library.cancel_job(job_id, project=project) for job_id in arguments.job_ids]
    return _ended(jobs, wanted="cancelled")


async def _retry(arguments: argparse.Namespace, app: App, on_progress: OnProgress) -> Outcome:
    library, project = (await app.open("library")).library, app.settings.project
    jobs = [await library.retry_job(job_id, project=project) for job_id in arguments.job_ids]
    return _ended(jobs, wanted="waiting")


_DEEDS: dict[JobState, str] = {"cancelled": "cancelled", "waiting": "tried again"}


def _ended(jobs: list[Job], *, wanted: JobState) -> Outcome:
    return Outcome(
        text="\n".join(
            f"job {job.job_id}: {job.state}"
            + ("" if job.state == wanted else f", so it cannot be {_DEEDS[wanted]}")
            for job in jobs
        ),
        structured={"jobs": [job_shape(job) for job in jobs]},
        has_failed=any(job.state != wanted for job in jobs),
    )


def _plain(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)
