"""`citewell sync`: the documentation of the packages that a project uses, in its own versions."""

from __future__ import annotations

import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from citewell.cli.table import text_table
from citewell.cli.work import Outcome, add_json_option, run_work
from citewell.core.errors import InvalidArgument

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from citewell.app.open import App
    from citewell.app.packages import Availability
    from citewell.core.progress import OnProgress
    from citewell.core.settings import Settings
    from citewell.ingest.packages.dependency import Dependency, Project

DESCRIPTION = """\
Find the packages that a project uses and index the documentation they bring along, in exactly the
installed versions: docstrings and signatures of Python packages, read without importing them, and
READMEs, type declarations and Markdown of npm packages. Nothing is downloaded. Run it again after
an upgrade: only what changed is read."""

EXAMPLES = """\
  citewell sync
  citewell sync ~/src/shop --yes
  citewell sync --package django --package pydantic --yes
  citewell sync --drop-old --yes
  citewell sync --watch"""

_WATCH_SECONDS = 2.0
_WATCHED = (
    *("pyproject.toml", "uv.lock", "poetry.lock", "pdm.lock", "requirements.txt"),
    *("package.json", "package-lock.json", ".venv/pyvenv.cfg"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `sync`."""
    parser.add_argument(
        "folder", nargs="?", default=".", metavar="FOLDER", help="project folder (default: here)"
    )
    parser.add_argument("--yes", action="store_true", help="index without asking")
    parser.add_argument(
        "--package", action="append", metavar="NAME", help="only this package; may be repeated"
    )
    parser.add_argument(
        "--environment", metavar="DIR", help="Python environment (default: .venv, venv or env)"
    )
    parser.add_argument(
        "--drop-old", action="store_true", help="delete indexed pages of other versions"
    )
    parser.add_argument(
        "--watch", action="store_true", help="go on, and sync whenever a lock file changes"
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
    outcome = await _sync_once(arguments, folder, app, on_progress)
    while arguments.watch:
        await _wait_for_change(folder)
        arguments.yes = True
        outcome = await _sync_once(arguments, folder, app, on_progress)
    return outcome


async def _sync_once(
    arguments: argparse.Namespace, folder: Path, app: App, on_progress: OnProgress
) -> Outcome:
    from citewell.app.packages import check_package, index_package, remember_project
    from citewell.ingest.packages.find import find_project

    environment = Path(arguments.environment) if arguments.environment else None
    project = await anyio.to_thread.run_sync(partial(find_project, folder, environment=environment))
    chosen = _choose(project, arguments.package)
    corpus = await app.open("store", "ingester", "embedder")
    states = [await check_package(corpus, dependency) for dependency in chosen]
    due = [
        dependency
        for dependency, state in zip(chosen, states, strict=True)
        if state == "installed" or (state == "indexed" and arguments.drop_old)
    ]
    await remember_project(corpus, str(folder), project)
    rows = [_row(dependency, state) for dependency, state in zip(chosen, states, strict=True)]
    if not due or not (arguments.yes or _agrees(rows, len(due))):
        return _overview(project, rows, due)
    reports = [
        await index_package(
            corpus, dependency, drops_other_versions=arguments.drop_old, on_progress=on_progress
        )
        for dependency in due
    ]
    written = [page.source_id for report in reports for page in report.pages]
    if corpus.embedder is not None and written:
        await corpus.ingester.embed_now(written, on_progress=on_progress)
    shapes = [
        {
            "package": report.dependency.name,
            "version": report.dependency.version,
            "indexed": len(report.pages),
            "unchanged": report.unchanged,
            "removed": report.deleted,
            "failed": report.failed,
        }
        for report in reports
    ]
    lines = [
        f"{shape['package']} {shape['version']}: indexed {shape['indexed']}, "
        f"unchanged {shape['unchanged']}, removed {shape['removed']}, failed {len(report.failed)}"
        for shape, report in zip(shapes, reports, strict=True)
    ]
    lines += [f"- {problem}" for problem in project.problems]
    has_failed = any(report.failed for report in reports)
    structured = {"packages": shapes, "problems": list(project.problems)}
    return Outcome(text="\n".join(lines), structured=structured, has_failed=has_failed)


def _choose(project: Project, names: Sequence[str] | None) -> list[Dependency]:
    if not names:
        return list(project.dependencies)
    chosen = [dependency for dependency in project.dependencies if dependency.name in names]
    missing = set(names) - {dependency.name for dependency in chosen}
    if missing:
        raise InvalidArgument(f"the project does not use {', '.join(sorted(missing))}")
    return chosen


def _row(dependency: Dependency, state: Availability) -> tuple[str, str, str, str]:
    return (
        f"{dependency.ecosystem}:{dependency.name}",
        dependency.version or "?",
        dependency.found_in,
        state,
    )


def _agrees(rows: Sequence[Sequence[str]], due: int) -> bool:
    """Ask the person at the terminal; without one the answer is no."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    print(text_table(("package", "version", "found in", "documentation"), rows))
    return input(f"Index the documentation of {due} packages? [Y/n] ").strip().lower() in ("", "y")


def _overview(
    project: Project, rows: Sequence[Sequence[str]], due: Sequence[Dependency]
) -> Outcome:
    """Return what the project uses, when nothing is indexed now."""
    counts = Counter(row[3] for row in rows)
    lines = [text_table(("package", "version", "found in", "documentation"), rows)] if rows else []
    lines += [f"- {problem}" for problem in project.problems]
    if not rows:
        lines.append("No dependencies found: no pyproject.toml, package.json or lock file.")
    elif due:
        lines.append(f"{len(due)} packages can be indexed: run `citewell sync --yes`.")
    else:
        lines.append(f"Nothing to do: {counts['indexed']} packages are indexed as installed.")
    packages: list[dict[str, Any]] = [
        {"package": row[0], "version": row[1], "found_in": row[2], "documentation": row[3]}
        for row in rows
    ]
    structured = {"packages": packages, "problems": list(project.problems)}
    return Outcome(text="\n".join(lines), structured=structured)


async def _wait_for_change(folder: Path) -> None:
    """Return once a file that says what is installed has changed."""
    before = _stamps(folder)
    while _stamps(folder) == before:  # noqa: ASYNC110 - files tell nobody that they changed
        await anyio.sleep(_WATCH_SECONDS)


def _stamps(folder: Path) -> list[int]:
    paths = (folder / name for name in _WATCHED)
    return [path.stat().st_mtime_ns if path.exists() else 0 for path in paths]
