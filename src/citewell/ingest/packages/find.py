"""Everything a project folder depends on, and the pages that its packages bring along."""

from __future__ import annotations

from hashlib import sha256
from importlib import metadata
from typing import TYPE_CHECKING

from citewell.ingest.packages.dependency import Project
from citewell.ingest.packages.lock_files import find_locked_dependencies, find_npm_dependencies
from citewell.ingest.packages.npm_pages import npm_description, npm_pages
from citewell.ingest.packages.package_page import PackagePage, file_stamp
from citewell.ingest.packages.python_pages import python_description, python_pages
from citewell.ingest.packages.python_project import distribution_name, find_python_dependencies

if TYPE_CHECKING:
    from pathlib import Path

    from citewell.ingest.packages.dependency import Dependency


def find_project(folder: Path, *, environment: Path | None = None) -> Project:
    """Return the direct dependencies of a folder; what cannot be read is among the problems."""
    problems: list[str] = []
    dependencies = [
        *find_python_dependencies(folder, problems, environment=environment),
        *find_npm_dependencies(folder, problems),
        *find_locked_dependencies(folder, problems),
    ]
    return Project(dependencies=tuple(dependencies), problems=tuple(dict.fromkeys(problems)))


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
    dist = _distribution(dependency)
    if dist is None:
        return None
    # RECORD holds the hash of every installed file; an editable one lists none of its own.
    record = dist.read_text("RECORD") or ""
    return PackagePage(
        address=address,
        stamp=sha256(record.encode()).hexdigest(),
        render=lambda: python_description(dependency, dist),
    )


def package_pages(dependency: Dependency) -> list[PackagePage]:
    """Return the other pages of an installed package; this looks at each of its files."""
    if dependency.ecosystem == "npm":
        return list(npm_pages(dependency))
    dist = _distribution(dependency)
    return [] if dist is None else list(python_pages(dependency, dist))


def _distribution(dependency: Dependency) -> metadata.Distribution | None:
    for dist in metadata.distributions(path=[str(dependency.location)]):
        if distribution_name(dist) == dependency.name:
            return dist
    return None
