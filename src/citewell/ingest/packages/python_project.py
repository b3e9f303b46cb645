"""The Python dependencies of a project folder: what it declares, and what is installed."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from citewell.ingest.packages.dependency import Dependency, normalise_python_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)(?:\[[^\]]*\])?\s*==\s*([^\s;,#\\]+)")
_ENVIRONMENTS = (".venv", "venv", "env")
_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock")
# A project of more is not read to its end: nobody chose that many by hand.
_MOST_REQUIREMENT_FILES = 20


def find_python_dependencies(
    folder: Path, problems: list[str], *, environment: Path | None = None
) -> Iterator[Dependency]:
    """Yield the distributions that the folder declares, or all installed when it declares none."""
    installed = _installed(_site_packages(folder, environment))
    locked = dict(_locked(folder, problems))
    declared = _declared(folder, problems)
    if not declared:
        chosen = environment is not None or bool(_site_packages(folder, None))
        declared = dict.fromkeys(installed, "installed") if chosen else {}
    for name, source in sorted(declared.items()):
        dist = installed.get(name)
        if dist is None:
            version, location = locked.get(name), None
        else:
            version, location = dist.version, _location(dist)
        yield Dependency(
            ecosystem="pypi", name=name, version=version, found_in=source, location=location
        )


def _declared(folder: Path, problems: list[str]) -> dict[str, str]:
    """Return the normalised names that the project asks for, each with the file that does."""
    names: dict[str, str] = {}
    project = folder / "pyproject.toml"
    if project.is_file():
        names |= dict.fromkeys(_pyproject_names(project, problems), project.name)
    for path in sorted(folder.glob("requirements*.txt"))[:_MOST_REQUIREMENT_FILES]:
        for line in _read_text(path, problems).splitlines():
            text = line.strip()
            if text.startswith(("#", "-")) or "://" in text:
                continue
            if match := _NAME.match(text):
                names.setdefault(normalise_python_name(match[0]), path.name)
    return names


def _pyproject_names(path: Path, problems: list[str]) -> Iterator[str]:
    document = _parse_toml(path, problems)
    project = _table(document, "project")
    requirements: list[object] = [*_list(project.get("dependencies"))]
    for group in _table(project, "optional-dependencies").values():
        requirements += _list(group)
    for group in _table(document, "dependency-groups").values():
        requirements += _list(group)
    for requirement in requirements:
        if isinstance(requirement, str) and (match := _NAME.match(requirement.strip())):
            yield normalise_python_name(match[0])
    poetry = _table(_table(document, "tool"), "poetry")
    for name in _table(poetry, "dependencies"):
        if name.lower() != "python":
            yield normalise_python_name(name)


def _locked(folder: Path, problems: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the versions that lock files and pinned requirements name."""
    for path in sorted(folder.glob("requirements*.txt"))[:_MOST_REQUIREMENT_FILES]:
        for line in _read_text(path, problems).splitlines():
            if match := _PINNED.match(line.strip()):
                yield normalise_python_name(match[1]), match[2]
    for name in _LOCKS:
        path = folder / name
        if not path.is_file():
            continue
        for package in _list(_parse_toml(path, problems).get("package")):
            if isinstance(package, dict) and isinstance(package.get("name"), str):
                yield normalise_python_name(package["name"]), str(package.get("version", ""))


def _site_packages(folder: Path, environment: Path | None) -> list[Path]:
    roots = [environment] if environment else [folder / name for name in _ENVIRONMENTS]
    found = []
    for root in roots:
        found += sorted(root.glob("lib/python3*/site-packages"))
        found += [path for path in (root / "Lib" / "site-packages",) if path.is_dir()]
    return found


def _installed(paths: Iterable[Path]) -> dict[str, metadata.Distribution]:
    dists: dict[str, metadata.Distribution] = {}
    for dist in metadata.distributions(path=[str(path) for path in paths]):
        if name := distribution_name(dist):
            dists.setdefault(name, dist)
    return dists


def distribution_name(dist: metadata.Distribution) -> str | None:
    """Return the normalised name of an installed distribution; None when its files are broken."""
    try:
        return normalise_python_name(dist.name)
    except (KeyError, TypeError, AttributeError):
        return None


def _location(dist: metadata.Distribution) -> Path | None:
    path = Path(str(dist.locate_file("")))
    return path if path.is_dir() else None


def _parse_toml(path: Path, problems: list[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(_read_text(path, problems))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        problems.append(f"{path.name} cannot be parsed: {error}")
        return {}


def _read_text(path: Path, problems: list[str]) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problems.append(f"{path.name} cannot be read: {error}")
        return ""


def _table(document: dict[str, Any], name: str) -> dict[str, Any]:
    value = document.get(name)
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
