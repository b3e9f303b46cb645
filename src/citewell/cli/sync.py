"""`citewell sync`: the documentation of the packages that a project uses, in its own versions."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from citewell.cli.parser import number_between
from citewell.cli.sites import add_websites
from citewell.cli.sync_plan import MOST_PAGES, Plan, plan_outcome, plan_table, reports_outcome
from citewell.cli.terminal import print_text
from citewell.cli.work import Outcome, add_json_option, run_work
from citewell.core.errors import InvalidArgument
from citewell.core.settings import active_environment
from citewell.core.text import counted

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from citewell.app.open import App
    from citewell.app.package_sites import SiteOffer
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings
    from citewell.ingest.packages.dependency import Dependency, Project

DESCRIPTION = """\
Find the packages that a project uses and index the documentation they contain, in exactly the
installed versions: docstrings and signatures of Python packages, read without importing them, and
READMEs, type declarations and Markdown of npm packages. Nothing is downloaded. With --sites the
documentation sites of the packages are looked for as well, and read in the same versions if they
have them. Run it again after an upgrade: only what changed is read."""

EXAMPLES = """\
  citewell sync
  citewell sync ~/src/shop --yes
  citewell sync --package django --package pydantic --yes
  citewell sync --sites
  citewell sync --drop-old --yes
  citewell sync --watch"""

_WATCH_SECONDS = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `sync`."""
    parser.add_argument(
        "folder", nargs="?", default=".", metavar="FOLDER", help="project folder (default: here)"
    )
    parser.add_argument("--yes", action="store_true", help="index without asking")
    parser.add_argument(
        "--package", action="append", metavar="NAME", help="only this package; repeatable"
    )
    parser.add_argument(
        "--environment",
        metavar="DIR",
        help="Python environment (default: .venv, venv or env, else the active one)",
    )
    parser.add_argument(
        "--sites", action="store_true", help="also look for documentation sites and read them"
    )
    parser.add_argument(
        "--max-pages",
        type=number_between(1),
        default=MOST_PAGES,
        metavar="N",
        help=f"maximum pages to read of a site (default {MOST_PAGES})",
    )
    parser.add_argument(
        "--drop-old", action="store_true", help="delete indexed pages of other versions"
    )
    parser.add_argument(
        "--watch", action="store_true", help="keep running, and sync whenever a lock file changes"
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Show what the project uses, and index what is installed."""
    folder = Path(arguments.folder).resolve()
    if not folder.is_dir():
        raise InvalidArgument(f"there is no folder {arguments.folder}")
    return run_work(partial(_sync, arguments, folder), arguments, settings)


async def _sync(
    arguments: argparse.Namespace, folder: Path, app: App, on_progress: OnProgress
) -> Outcome:
    before = _stamps(folder)
    outcome = await _sync_once(arguments, folder, app, on_progress)
    while arguments.watch:
        # Each run is reported when it ends, because the command itself runs on.
        print_text(outcome.text)
        before = await _wait_for_change(folder, before)
        arguments.yes = True
        outcome = await _sync_once(arguments, folder, app, on_progress)
    return outcome


async def _sync_once(
    arguments: argparse.Namespace, folder: Path, app: App, on_progress: OnProgress
) -> Outcome:
    from citewell.app.packages import (
        check_package,
        find_pages_without_vectors,
        remember_project,
    )
    from citewell.ingest.packages.find import find_project

    environment = Path(arguments.environment) if arguments.environment else None
    project = await anyio.to_thread.run_sync(
        partial(find_project, folder, environment=environment, active=active_environment())
    )
    chosen = _choose(project, arguments.package)
    # The store alone: opening the ingester takes longer than this, and may not be needed.
    corpus = await app.open("store")
    states = [await check_package(corpus, dependency) for dependency in chosen]
    offers = await _offer_sites(arguments, chosen, app, on_progress)
    await remember_project(corpus, str(folder), project)
    plan = Plan(
        folder=str(folder),
        project=project,
        packages=tuple(chosen),
        states=tuple(states),
        offers=offers,
        redoes_indexed=arguments.drop_old,
        without_vectors=tuple(await find_pages_without_vectors(corpus)),
    )
    if not (plan.due or plan.due_sites or plan.without_vectors) or not (
        arguments.yes or _agrees(plan)
    ):
        return plan_outcome(plan)
    return await _index(arguments, plan, app, on_progress)


async def _offer_sites(
    arguments: argparse.Namespace, chosen: Sequence[Dependency], app: App, on_progress: OnProgress
) -> tuple[SiteOffer, ...] | None:
    """Return what can be had from sites; None unless they are to be looked for."""
    if not arguments.sites:
        return None
    from citewell.app.package_sites import SITE_NEEDS, offer_sites

    parts = await app.open(*SITE_NEEDS)
    offers = await offer_sites(
        parts, chosen, max_pages=arguments.max_pages, on_progress=on_progress
    )
    return tuple(offers)


async def _index(
    arguments: argparse.Namespace, plan: Plan, app: App, on_progress: OnProgress
) -> Outcome:
    from citewell.app.package_sites import SITE_NEEDS, site_draft, site_release
    from citewell.app.packages import index_package
    from citewell.app.releases import drop_other_versions

    corpus = await app.open("store", "ingester", "embedder")
    reports = [
        await index_package(
            corpus, dependency, drops_other_versions=arguments.drop_old, on_progress=on_progress
        )
        for dependency in plan.due
    ]
    written = [page.source_id for report in reports for page in report.pages]
    written += plan.without_vectors
    if corpus.embedder is not None and written:
        await corpus.ingester.embed_now(written, on_progress=on_progress)
    outcome = reports_outcome(plan, reports)
    if not plan.due_sites:
        return outcome
    drafts = [
        site_draft(app.settings, dependency, site, max_pages=arguments.max_pages)
        for dependency, site in plan.due_sites
    ]
    parts = await app.open(*SITE_NEEDS)
    sites = await add_websites(parts, drafts, on_progress)
    if arguments.drop_old and not sites.has_failed:
        for dependency, site in plan.due_sites:
            await drop_other_versions(corpus, site_release(dependency, site))
    return Outcome(
        text="\n".join([outcome.text, sites.text]).strip(),
        structured={**outcome.structured, "sites": sites.structured},
        has_failed=outcome.has_failed or sites.has_failed,
    )


def _choose(project: Project, names: Sequence[str] | None) -> list[Dependency]:
    if not names:
        return list(project.dependencies)
    chosen = [
        dependency
        for dependency in project.dependencies
        if {dependency.name, f"{dependency.ecosystem}:{dependency.name}"} & set(names)
    ]
    known = {name for each in chosen for name in (each.name, f"{each.ecosystem}:{each.name}")}
    missing = set(names) - known
    if missing:
        raise InvalidArgument(f"the project does not use {', '.join(sorted(missing))}")
    return chosen


def _agrees(plan: Plan) -> bool:
    """Ask the person at the terminal; without one the answer is no."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    if not (plan.due or plan.due_sites):
        return True  # they agreed when the pages were read
    print(plan_table(plan))
    sites = f" and {counted(len(plan.due_sites), 'site')}" if plan.due_sites else ""
    question = f"Index the documentation of {counted(len(plan.due), 'package')}{sites}? [Y/n] "
    return input(question).strip().lower() in ("", "y", "yes")


async def _wait_for_change(folder: Path, before: dict[Path, int]) -> dict[Path, int]:
    """Return the stamps of the files that say what is used, once they have changed and settled."""
    while (stamps := _stamps(folder)) == before:  # noqa: ASYNC110 - files tell nobody of changes
        await anyio.sleep(_WATCH_SECONDS)
    # An installer that is still at work changes them again.
    while True:
        await anyio.sleep(_WATCH_SECONDS)
        later = _stamps(folder)
        if later == stamps:
            return stamps
        stamps = later


def _stamps(folder: Path) -> dict[Path, int]:
    from citewell.ingest.packages.find import WATCHED

    stamps: dict[Path, int] = {}
    for pattern in WATCHED:
        for path in folder.glob(pattern):
            with suppress(OSError):
                stamps[path] = path.stat().st_mtime_ns
    return stamps
