"""Everything a project folder depends on, and the pages that its packages bring along."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

from citewell.ingest.packages.dependency import Project
from citewell.ingest.packages.lock_files import find_locked_dependencies, find_npm_dependencies
from citewell.ingest.packages.npm_pages import npm_pages
from citewell.ingest.packages.python_pages import python_pages
from citewell.ingest.packages.python_project import (
    distribution_name,
    find_python_dependencies,
)

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.ingest.packages.dependency import Dependency
    from citewell.ingest.packages.package_page import PackagePage


def find_project(folder: Path, *, environment: Path | None = None) -> Project:
    """Return the direct dependencies of a folder; what cannot be read is among the problems."""
    problems: list[str] = []
    dependencies = [
        *find_python_dependencies(folder, problems, environment=environment),
        *find_npm_dependencies(folder, problems),
        *find_locked_dependencies(folder, problems),
    ]
    return Project(dependencies=tuple(dependencies), problems=tuple(dict.fromkeys(problems)))


def package_pages(dependency: Dependency) -> list[PackagePage]:
    """Return the pages of an installed package; none when only a lock file names it."""
    if dependency.location is None or dependency.version is None:
        return []
    if dependency.ecosystem == "npm":
        return list(npm_pages(dependency))
    for dist in metadata.distributions(path=[str(dependency.location)]):
        if distribution_name(dist) == dependency.name:
            return list(python_pages(dependency, dist))
    return []
