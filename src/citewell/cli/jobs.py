"""`citewell jobs`: the work in the background."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, get_args

from citewell.cli.library_command import Outcome, run_library_command
from citewell.cli.library_shapes import job_shape, jobs_table
from citewell.cli.tool_call import add_json_option
from citewell.core.errors import InvalidArgument, NotFound
from citewell.core.jobs import JobState

if TYPE_CHECKING:
    import argparse

    from citewell.app.parts import Parts
    from citewell.core.jobs import Job
    from citewell.core.results import OnProgress
    from citewell.core.settings import Settings

DESCRIPTION = """\
Show the background work on the library, newest first: what runs, what waits, how far it is, and
why something failed. A running server does the work, and so does `citewell worker`."""

EXAMPLES = """\
  citewell jobs
  citewell jobs --state failed
  citewell jobs show 7
  citewell jobs cancel 7
  citewell jobs retry 7"""

ACTIONS = ("list", "show", "cancel", "retry")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `jobs`."""
    parser.add_argument(
        "action", nargs="?", choices=ACTIONS, default="list", metavar="ACTION",
        help=f"{', '.join(ACTIONS)} (default list)",
    )  # fmt: skip
    parser.add_argument("job_ids", nargs="*", type=int, metavar="JOB", help="number of a job")
    parser.add_argument(
        "--state", action="append", choices=get_args(JobState), help="list: only these; repeatable"
    )
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="list: most rows")
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Do what the action says, and print the outcome."""
    if arguments.action != "list" and not arguments.job_ids:
        raise InvalidArgument(f"jobs {arguments.action} needs the number of a job")
    work = {"list": _list, "show": _show, "cancel": _cancel, "retry": _retry}
    return run_library_command(partial(work[arguments.action], arguments), arguments, settings)


async def _list(arguments: argparse.Namespace, parts: Parts, on_progress: OnProgress) -> Outcome:
    jobs = await parts.store.jobs.list_jobs(
        project=parts.settings.project, states=arguments.state, limit=max(1, arguments.limit)
    )
    return Outcome(
        text=jobs_table(jobs) if jobs else "No jobs.",
        structured={"jobs": [job_shape(job) for job in jobs]},
    )


async def _show(arguments: argparse.Namespace, parts: Parts, on_progress: OnProgress) -> Outcome:
    jobs: list[Job] = []
    for job_id in arguments.job_ids:
        job = await parts.store.jobs.get_job(job_id)
        if job is None or job.project != parts.settings.project:
            raise NotFound(f"there is no job {job_id}", suggestion="`citewell jobs` shows them.")
        jobs.append(job)
    shapes = [job_shape(job) for job in jobs]
    text = "\n\n".join(
        "\n".join(f"{name:<12}  {_plain(value)}" for name, value in shape.items() if value)
        for shape in shapes
    )
    return Outcome(text=text, structured={"jobs": shapes})


async def _cancel(arguments: argparse.Namespace, parts: Parts, on_progress: OnProgress) -> Outcome:
    project = parts.settings.project
    jobs = [await parts.library.cancel_job(job_id, project=project) for job_id in arguments.job_ids]
    return _ended(jobs, wanted="cancelled")


async def _retry(arguments: argparse.Namespace, parts: Parts, on_progress: OnProgress) -> Outcome:
    project = parts.settings.project
    jobs = [await parts.library.retry_job(job_id, project=project) for job_id in arguments.job_ids]
    return _ended(jobs, wanted="waiting")


def _ended(jobs: list[Job], *, wanted: JobState) -> Outcome:
    return Outcome(
        text="\n".join(f"job {job.job_id}: {job.state}" for job in jobs),
        structured={"jobs": [job_shape(job) for job in jobs]},
        has_failed=any(job.state != wanted for job in jobs),
    )


def _plain(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)
