"""The npm dependencies of a project folder: what it declares, and what is locked or installed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from citewell.core.text import one_line
from citewell.ingest.packages.dependency import Dependency
from citewell.ingest.packages.project_files import (
    UnreadFile,
    load_json,
    read_project_file,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_GROUPS = ("dependencies", "devDependencies", "optionalDependencies")
# Anything else, such as `../..`, would lead out of node_modules.
_NAME = re.compile(r"(?:@[^/\\\s]{1,214}/)?[^./\\\s@][^/\\\s]{0,213}")
# `"@scope/name@npm:^1.0", name@^1.1:` opens an entry of yarn.lock, in either of its formats.
_YARN_NAME = re.compile(r'^"?(@?[^@"\s]{1,214})@')
_YARN_VERSION = re.compile(r'  version:? "?([^"\s]{1,100})"?')
_YAML_LINE = re.compile(
    r"^( *)['\"]?([^'\":\s][^'\":\s]{0,213})['\"]?:(?: ['\"]?([^'\"\s]{1,200}))?"
)
# `1.2.3(peer@4)`, or of another name `zod@3.23.8` and, in older files, `/zod/3.23.8`.
_PLAIN_VERSION = re.compile(r"(?:/?@?[^@\s()]{1,214}[@/])?(\d[\w.+-]{0,99})")
_ALIAS = re.compile(r"npm:(@?[^@\s]{1,214})")
# What stands after these keys is never in the same line, except that nothing does.
_PNPM = "lockfileVersion"
_BROKEN_PNPM = re.compile(r"^(?:importers|packages|snapshots): *[^\s{]", re.MULTILINE)


def find_npm_dependencies(folder: Path, problems: list[str]) -> Iterator[Dependency]:
    """Yield the packages that package.json names, as installed or as locked."""
    declared = load_json(folder, "package.json", problems)
    listed = {name for group in _GROUPS for name in table(declared, group)}
    names = {name for name in listed if _NAME.fullmatch(name)}
    problems += [f"package.json names no package: {one_line(name)}" for name in listed - names]
    if not names:
        return
    locked = _locked(folder, problems)
    aliases = _aliases(declared)
    for name in sorted(names):
        location = folder / "node_modules" / name
        installed = load_json(location, "package.json", problems)
        lock_name, locked_version = locked.get(name, ("package.json", None))
        version = installed.get("version")
        is_installed = isinstance(version, str) and bool(version)
        yield Dependency(
            ecosystem="npm",
            name=aliases.get(name, name),
            version=version if is_installed else locked_version,
            found_in="node_modules" if is_installed else lock_name,
            location=location if is_installed else None,
        )


def _aliases(declared: dict[str, Any]) -> dict[str, str]:
    """Return what packages are really called that are declared as `"name": "npm:real@^1"`."""
    wanted = [item for group in _GROUPS for item in table(declared, group).items()]
    found = {name: _ALIAS.match(spec) for name, spec in wanted if isinstance(spec, str)}
    return {name: match[1] for name, match in found.items() if match and _NAME.fullmatch(match[1])}


def _locked(folder: Path, problems: list[str]) -> dict[str, tuple[str, str]]:
    """Return the lock file and the version of each package, by name."""
    parsers = {
        "package-lock.json": _package_lock(folder, problems),
        "yarn.lock": _yarn_lock(read_project_file(folder, "yarn.lock", problems)),
        "pnpm-lock.yaml": _pnpm_lock(
            read_project_file(folder, "pnpm-lock.yaml", problems), problems
        ),
    }
    locked: dict[str, tuple[str, str]] = {}
    for lock_name, versions in parsers.items():
        for name, version in versions:
            locked.setdefault(name, (lock_name, version))
    return locked


def _package_lock(folder: Path, problems: list[str]) -> Iterator[tuple[str, str]]:
    document = load_json(folder, "package-lock.json", problems)
    # Since npm 7 by path, before that by name.
    entries = table(document, "packages") or table(document, "dependencies")
    for path, entry in entries.items():
        name = path.removeprefix("node_modules/")
        version = entry.get("version") if isinstance(entry, dict) else None
        if isinstance(version, str) and "node_modules/" not in name:
            yield name, version


def _yarn_lock(text: str) -> Iterator[tuple[str, str]]:
    name = None
    for line in text.splitlines():
        if line and not line[0].isspace() and not line.startswith("#"):
            match = _YARN_NAME.match(line)
            name = match[1] if match else None
        elif name and (match := _YARN_VERSION.match(line)):
            yield name, match[1]
            name = None


def _pnpm_lock(text: str, problems: list[str]) -> Iterator[tuple[str, str]]:
    """Yield what pnpm locked for the project itself."""
    is_known = False
    for path, value in _scalars(text):
        # Where there are no workspaces older files begin with the groups, not with importers.
        own = path[2:] if path[:2] == ("importers", ".") else path
        is_version = own[2:] in ((), ("version",))
        version = _PLAIN_VERSION.match(value)
        if len(own) >= 2 and own[0] in _GROUPS and is_version and version:
            is_known = True
            yield own[1], version[1]
    if _BROKEN_PNPM.search(text) or (text.strip() and not (is_known or _PNPM in text)):
        problems.append(
            UnreadFile("pnpm-lock.yaml cannot be parsed: it is not laid out as a lock file")
        )


def _scalars(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the values of YAML as pnpm writes it, block mappings of plain keys, by their path."""
    path: list[tuple[int, str]] = []
    for line in text.splitlines():
        match = _YAML_LINE.match(line)
        if match is None:
            continue
        indent = len(match[1])
        while path and path[-1][0] >= indent:
            path.pop()
        path.append((indent, match[2]))
        if match[3]:
            yield tuple(key for _, key in path), match[3]
