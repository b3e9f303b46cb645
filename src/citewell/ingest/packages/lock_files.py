"""The dependencies of other ecosystems, from the files that lock them."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from citewell.ingest.packages.dependency import Dependency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from citewell.ingest.packages.dependency import Ecosystem

_GEM = re.compile(r"    ([A-Za-z0-9_.-]+) \(([^)\s]+)\)")
_MAX_LOCK_BYTES = 50_000_000


def find_npm_dependencies(folder: Path, problems: list[str]) -> Iterator[Dependency]:
    """Yield the packages that package.json names, as installed or as locked."""
    declared = _load_json(folder / "package.json", problems)
    names = {**_table(declared, "dependencies"), **_table(declared, "devDependencies")}
    locked = _table(_load_json(folder / "package-lock.json", problems), "packages")
    for name in sorted(names):
        location = folder / "node_modules" / name
        installed = _load_json(location / "package.json", problems)
        entry = locked.get(f"node_modules/{name}")
        version = installed.get("version") or _table(locked, f"node_modules/{name}").get("version")
        yield Dependency(
            ecosystem="npm",
            name=name,
            version=version if isinstance(version, str) else None,
            found_in="node_modules"
            if installed
            else ("package-lock.json" if entry else "package.json"),
            location=location if installed else None,
        )


def find_locked_dependencies(folder: Path, problems: list[str]) -> Iterator[Dependency]:
    """Yield what Rust, Go, Ruby, PHP and Java projects lock; their packages are not read here."""
    parsers: dict[str, tuple[Ecosystem, Callable[[str], Iterator[tuple[str, str]]]]] = {
        "Cargo.lock": ("cargo", _parse_cargo),
        "go.mod": ("go", _parse_go_mod),
        "Gemfile.lock": ("gem", _parse_gemfile),
        "composer.lock": ("composer", _parse_composer),
        "gradle.lockfile": ("maven", _parse_gradle),
    }
    for file_name, (ecosystem, parse) in parsers.items():
        path = folder / file_name
        if not path.is_file():
            continue
        try:
            if path.stat().st_size > _MAX_LOCK_BYTES:
                raise ValueError(f"it is larger than {_MAX_LOCK_BYTES:,} bytes")
            packages = list(parse(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, RecursionError) as error:
            problems.append(f"{file_name} cannot be parsed: {error}")
            continue
        for name, version in packages:
            yield Dependency(ecosystem=ecosystem, name=name, version=version, found_in=file_name)


def _parse_cargo(text: str) -> Iterator[tuple[str, str]]:
    for package in tomllib.loads(text).get("package", []):
        # Packages of the workspace itself have no source.
        if isinstance(package, dict) and "source" in package:
            yield str(package.get("name")), str(package.get("version"))


def _parse_go_mod(text: str) -> Iterator[tuple[str, str]]:
    in_block = False
    for line in text.splitlines():
        words = line.split("//")[0].split()
        if words[:2] == ["require", "("]:
            in_block = True
        elif words == [")"]:
            in_block = False
        elif "// indirect" in line:
            continue
        elif words[:1] == ["require"] and len(words) == 3:
            yield words[1], words[2]
        elif in_block and len(words) == 2:
            yield words[0], words[1]


def _parse_gemfile(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        if match := _GEM.fullmatch(line):
            yield match[1], match[2]


def _parse_composer(text: str) -> Iterator[tuple[str, str]]:
    for package in json.loads(text).get("packages", []):
        if isinstance(package, dict):
            yield str(package.get("name")), str(package.get("version")).removeprefix("v")


def _parse_gradle(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        coordinates = line.split("=")[0].split(":")
        if not line.startswith("#") and len(coordinates) == 3:
            yield ":".join(coordinates[:2]), coordinates[2]


def _load_json(path: Path, problems: list[str]) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        if path.stat().st_size > _MAX_LOCK_BYTES:
            raise ValueError(f"it is larger than {_MAX_LOCK_BYTES:,} bytes")
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        problems.append(f"{path.name} cannot be parsed: {error}")
        return {}
    return document if isinstance(document, dict) else {}


def _table(document: dict[str, Any], name: str) -> dict[str, Any]:
    value = document.get(name)
    return value if isinstance(value, dict) else {}
