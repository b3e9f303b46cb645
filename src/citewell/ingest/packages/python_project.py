"""The Python dependencies of a project folder: what it declares, and what is installed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.text import one_line
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
_PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*===?\s*([^\s;,#\\]+)")
# `git+https://host/black.git#egg=black` and `https://host/bar-2.0-py3-none-any.whl`
_EGG = re.compile(r"[#&]egg=([A-Za-z0-9][A-Za-z0-9._-]*)")
_ARCHIVE = re.compile(
    r"/([A-Za-z0-9][A-Za-z0-9._]*)-(\d[\w.+!]*)(?:-[^/]*\.whl|\.tar\.gz|\.zip)(?:#|$)"
)
_PYPROJECT = "pyproject.toml"
# `bar @ https://host/bar.tar.gz`
_DIRECT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*@\s")
_ENVIRONMENTS = (".venv", "venv", "env")
_PIPENV = "Pipfile.lock"
_SHOWN_CHARACTERS = 100
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
        declared = _only_locked(folder, problems)
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
            name, _ = _requirement(line)
            if name:
                names.setdefault(name, Path(path).name)
            elif "://" in line and not line.lstrip().startswith(("#", "--")):
                said = one_line(line, limit=_SHOWN_CHARACTERS)
                problems.append(f"{Path(path).name}: no package is named by {said}")
    return names


def _requirement(line: str) -> tuple[str, str]:
    """Return the normalised name in a line of a requirements file, and the version it has."""
    text = re.sub(r"^(?:-e|--editable)\s+", "", line.strip())
    if text.startswith(("#", "-")):
        return "", ""
    if "://" not in text:
        pinned, name = _PINNED.match(text), _NAME.match(text)
        return normalise_python_name(name[0]) if name else "", pinned[2] if pinned else ""
    named, archive = _EGG.search(text) or _DIRECT.match(text), _ARCHIVE.search(text)
    found = named or archive
    return normalise_python_name(found[1]) if found else "", archive[2] if archive else ""


def _only_locked(folder: Path, problems: list[str]) -> dict[str, str]:
    """Return the packages that lock files name in a folder that declares none itself.

    A lock file of uv says which of them the project needs itself; of others all are taken.
    """
    names: dict[str, str] = {}
    for lock in _LOCKS:
        document = load_toml(folder, lock, problems)
        packages = [
            each
            for each in items(document.get("package") or document.get("packages"))
            if isinstance(each, dict) and isinstance(each.get("name"), str)
        ]
        own = [each for each in packages if {"virtual", "editable"} & table(each, "source").keys()]
        wanted = [need for each in own for need in items(each.get("dependencies"))]
        for each in own:
            for group in table(each, "dev-dependencies").values():
                wanted += items(group)
        direct = [need for need in wanted if isinstance(need, dict) and "name" in need]
        for each in direct if own else packages:
            names.setdefault(normalise_python_name(str(each["name"])), lock)
    pipenv = load_json(folder, _PIPENV, problems)
    for group in ("default", "develop"):
        for name in table(pipenv, group):
            names.setdefault(normalise_python_name(name), _PIPENV)
    return names


def _pyproject_names(folder: Path, problems: list[str]) -> Iterator[str]:
    document = load_toml(folder, _PYPROJECT, problems)
    project = table(document, "project")
    requirements: list[object] = [*items(project.get("dependencies"))]
    for group in table(project, "optional-dependencies").values():
        requirements += items(group)
    for group in table(document, "dependency-groups").values():
        requirements += items(group)
    requirements += items(table(document, "tool", "uv").get("dev-dependencies"))
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
            name, version = _requirement(line)
            if name and version:
                yield name, version
    for name in _LOCKS:
        document = load_toml(folder, name, problems)
        for package in items(document.get("package") or document.get("packages")):
            if isinstance(package, dict) and isinstance(package.get("name"), str):
                yield normalise_python_name(package["name"]), str(package.get("version", ""))

    pipenv = load_json(folder, _PIPENV, problems)
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
