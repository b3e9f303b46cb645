"""Find what a project folder depends on, and the pages that its packages contain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.text import counted, one_line
from citewell.ingest.packages.dependency import Project, bounded
from citewell.ingest.packages.installed import find_distribution
from citewell.ingest.packages.lock_files import find_locked_dependencies
from citewell.ingest.packages.npm_pages import npm_description, npm_pages, npm_size
from citewell.ingest.packages.npm_project import find_npm_dependencies
from citewell.ingest.packages.package_page import PackagePage, file_stamp
from citewell.ingest.packages.project_files import UnreadFile
from citewell.ingest.packages.python_pages import python_front_page, python_pages, python_size
from citewell.ingest.packages.python_project import find_python_dependencies

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.ingest.packages.dependency import Dependency


WATCHED = (
    *("pyproject.toml", "uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "requirements*.txt"),
    *("requirements/*.txt", "package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml"),
    *("node_modules", "node_modules/.package-lock.json", "*/lib/python3*/site-packages"),
    *(".venv/lib/python3*/site-packages", "*/Lib/site-packages"),
    *("Cargo.lock", "go.mod", "Gemfile.lock", "composer.lock", "gradle.lockfile"),
    *("pom.xml", "Pipfile.lock"),
)
"""Patterns of the files that change with a project's dependencies."""
_MANIFESTS = ("pyproject.toml", "package.json", "Cargo.lock", "go.mod", "composer.lock", "pom.xml")
_MOST_NAMED = 5
_MOST_PROBLEMS = 20
_SHOWN_CHARACTERS = 80


def find_project(
    folder: Path, *, environment: Path | None = None, active: Path | None = None
) -> Project:
    """Return the direct dependencies of a folder; what cannot be read is among the problems.

    Python packages are looked for in `environment`, else in the folder's own environments, else in
    the one that is `active`.
    """
    problems: list[str] = []
    python = find_python_dependencies(folder, problems, environment=environment, active=active)
    dependencies = [
        *bounded(python, problems),
        *bounded(find_npm_dependencies(folder, problems), problems),
        *find_locked_dependencies(folder, problems),
    ]
    sound = tuple(dependency for dependency in dependencies if dependency.is_sound)
    problems += [
        f"{dependency.found_in} holds a name, version or address that no package has: "
        f"{_shown(dependency.name)} is left out"
        for dependency in dependencies
        if not dependency.is_sound
    ]
    if not dependencies and (inner := _inner_projects(folder)):
        problems.append(f"run `citewell sync` in each project of this folder: {', '.join(inner)}")
    told = list(dict.fromkeys(problems))
    if len(told) > _MOST_PROBLEMS:
        told[_MOST_PROBLEMS:] = [f"and {counted(len(told) - _MOST_PROBLEMS, 'more problem')}"]
    return Project(
        dependencies=sound,
        problems=tuple(told),
        has_unread_files=any(isinstance(problem, UnreadFile) for problem in problems),
    )


def _shown(name: str) -> str:
    # Half of a character would break the terminal's encoding.
    printable = "".join(character if character.isprintable() else "?" for character in name)
    return one_line(printable, limit=_SHOWN_CHARACTERS)


def _inner_projects(folder: Path) -> list[str]:
    """Return the project folders of a monorepo, as many as fit into a message."""
    found = {
        path.parent.relative_to(folder).as_posix()
        for inner in ("*", "packages/*", "apps/*")
        for name in _MANIFESTS
        for path in folder.glob(f"{inner}/{name}")
    }
    return sorted(found)[:_MOST_NAMED]


def front_page(dependency: Dependency) -> PackagePage | None:
    """Return the first page of an installed package; None when only a lock file names it.

    It carries the stamp of the whole package and is stored last: when it is as stored, so is
    everything else.
    """
    if dependency.location is None or dependency.version is None:
        return None
    address = f"{dependency.address}README"
    if dependency.ecosystem == "npm":
        stamp = file_stamp(dependency.location / "package.json")
        return PackagePage(address=address, stamp=stamp, render=lambda: npm_description(dependency))
    dist = find_distribution(dependency)
    if dist is None:
        return None
    return python_front_page(dependency, dist)


def package_size(dependency: Dependency) -> tuple[int, int]:
    """Return how many files of an installed package would be read, and their bytes."""
    if dependency.ecosystem == "npm":
        return npm_size(dependency)
    dist = find_distribution(dependency)
    return (0, 0) if dist is None else python_size(dist)


def package_pages(dependency: Dependency) -> list[PackagePage]:
    """Return the other pages of an installed package; this looks at each of its files."""
    if dependency.ecosystem == "npm":
        return list(npm_pages(dependency))
    dist = find_distribution(dependency)
    return [] if dist is None else list(python_pages(dependency, dist))
