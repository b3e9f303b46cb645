"""The Python dependencies of a project folder: what it declares, and what is installed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.ingest.packages.dependency import Dependency, normalise_python_name
from citewell.ingest.packages.distribution import find_distributions
from citewell.ingest.packages.project_files import (
    items,
    load_json,
    load_toml,
    read_project_file,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from citewell.ingest.packages.distribution import InstalledDistribution

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*==\s*([^\s;,#\\]+)")
_PYPROJECT = "pyproject.toml"
_ENVIRONMENTS = (".venv", "venv", "env")
_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")
# Further ones are not read: nobody chose that many by hand.
_MOST_REQUIREMENT_FILES = 20


def find_python_dependencies(
    folder: Path,
    problems: list[str],
    *,
    environment: Path | None = None,
    active: Path | None = None,
) -> Iterator[Dependency]:
    """Yield the distributions that the folder declares, or all installed when it declares none.

    What is installed is looked for in `environment`, else in the folder's own environments, else in
    the `active` one.
    """
    own = _site_packages(folder, environment)
    installed = _installed(own or (_site_packages(folder, active) if active else []), problems)
    locked = dict(_locked(folder, problems))
    declared = _declared(folder, problems)
    if not declared:
        # If the folder declares nothing, the active environment can belong to another project.
        declared = dict.fromkeys(installed, "installed") if own else {}
    for name, source in sorted(declared.items()):
        dist = installed.get(name)
        if dist is None:
            version, location = locked.get(name), None
        else:
            version, location = dist.version, dist.site_packages
        yield Dependency(
            ecosystem="pypi", name=name, version=version, found_in=source, location=location
        )


def _declared(folder: Path, problems: list[str]) -> dict[str, str]:
    """Return the normalised names that the project requires, each with the file that names it."""
    names: dict[str, str] = {}
    names |= dict.fromkeys(_pyproject_names(folder, problems), _PYPROJECT)
    pipfile = load_toml(folder, "Pipfile", problems)
    for group in ("packages", "dev-packages"):
        names |= dict.fromkeys(map(normalise_python_name, table(pipfile, group)), "Pipfile")
    for path in _requirement_files(folder):
        for line in read_project_file(folder, path, problems).splitlines():
            text = line.strip()
            if text.startswith(("#", "-")) or "://" in text:
                continue
            if match := _NAME.match(text):
                names.setdefault(normalise_python_name(match[0]), Path(path).name)
    return names


def _pyproject_names(folder: Path, problems: list[str]) -> Iterator[str]:
    document = load_toml(folder, _PYPROJECT, problems)
    project = table(document, "project")
    requirements: list[object] = [*items(project.get("dependencies"))]
    for group in table(project, "optional-dependencies").values():
        requirements += items(group)
    for group in table(document, "dependency-groups").values():
        requirements += items(group)
    for requirement in requirements:
        if isinstance(requirement, str) and (match := _NAME.match(requirement.strip())):
            yield normalise_python_name(match[0])
    poetry = table(document, "tool", "poetry")
    groups = [table(poetry, "group", group) for group in table(poetry, "group")]
    for group in (poetry, *groups):
        for name in (*table(group, "dependencies"), *table(group, "dev-dependencies")):
            if name.lower() != "python":
                yield normalise_python_name(name)


def _requirement_files(folder: Path) -> list[str]:
    """Return the names of the files, relative to the folder."""
    found = [*folder.glob("requirements*.txt"), *folder.glob("requirements/*.txt")]
    return [str(path.relative_to(folder)) for path in sorted(found)[:_MOST_REQUIREMENT_FILES]]


def _locked(folder: Path, problems: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the versions that lock files and pinned requirements name."""
    for path in _requirement_files(folder):
        for line in read_project_file(folder, path, problems).splitlines():
            if match := _PINNED.match(line.strip()):
                yield normalise_python_name(match[1]), match[2]
    for name in _LOCKS:
        document = load_toml(folder, name, problems)
        for package in items(document.get("package") or document.get("packages")):
            if isinstance(package, dict) and isinstance(package.get("name"), str):
                yield normalise_python_name(package["name"]), str(package.get("version", ""))

    pipenv = load_json(folder, "Pipfile.lock", problems)
    for group in ("default", "develop"):
        for name in table(pipenv, group):
            pinned = str(table(pipenv, group, name).get("version", ""))
            yield normalise_python_name(name), pinned.removeprefix("==")


def _site_packages(folder: Path, environment: Path | None) -> list[Path]:
    roots = [environment] if environment else [folder / name for name in _ENVIRONMENTS]
    found = []
    for root in roots:
        found += sorted(root.glob("lib/python3*/site-packages"))
        found.append(root / "Lib" / "site-packages")
    return [path for path in found if path.is_dir()]


def _installed(paths: Iterable[Path], problems: list[str]) -> dict[str, InstalledDistribution]:
    dists: dict[str, InstalledDistribution] = {}
    for path in paths:
        for dist in find_distributions(path):
            if name := dist.normalised_name:
                dists.setdefault(name, dist)
            problems += dist.problems
    return dists
