"""The direct dependencies of Rust, Go, Ruby, PHP and Java projects, from their lock files."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from citewell.core.text import one_line
from citewell.ingest.packages.dependency import Dependency, bounded
from citewell.ingest.packages.locked_package import LockedPackage
from citewell.ingest.packages.maven_project import parse_pom
from citewell.ingest.packages.project_files import (
    UnreadFile,
    items,
    load_json,
    parse_toml,
    read_project_file,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from citewell.ingest.packages.dependency import Ecosystem

_GEM = re.compile(r"    ([A-Za-z0-9_.-]+) \(([^)\s]+)\)")
_COORDINATES = re.compile(r"(?<![\w.-])([\w.-]++:[\w.-]++)")
# `!` means that the Gemfile says where it comes from.
_DIRECT_GEM = re.compile(r"^  ([A-Za-z0-9_.-]+)!?(?: \([^)]*\))?!?")
_GEM_PLATFORM = re.compile(
    r"-(?:x86|x64|aarch64|arm|java|jruby|universal|mswin|mingw|powerpc|ppc|s390|riscv).*", re.DOTALL
)


def find_locked_dependencies(folder: Path, problems: list[str]) -> Iterator[Dependency]:
    """Yield the locked direct dependencies of a project; installed packages are not looked for."""
    parsers: dict[str, tuple[Ecosystem, Callable[[str, Path], Iterator[LockedPackage]]]] = {
        "Cargo.lock": ("cargo", _parse_cargo),
        "go.mod": ("go", _parse_go_mod),
        "Gemfile.lock": ("gem", _parse_gemfile),
        "composer.lock": ("composer", _parse_composer),
        "gradle.lockfile": ("maven", _parse_gradle),
        "pom.xml": ("maven", parse_pom),
    }
    for file_name, (ecosystem, parse) in parsers.items():
        text = read_project_file(folder, file_name, problems)
        try:
            packages = list(parse(text, folder)) if text else []
            problems += [package.problem for package in packages if package.problem]
        except (ValueError, SyntaxError, RecursionError) as error:
            problems.append(UnreadFile(f"{file_name} cannot be parsed: {error}"))
            continue
        except (AttributeError, TypeError):
            problems.append(
                UnreadFile(f"{file_name} cannot be parsed: it is not laid out as a lock file")
            )
            continue
        found = (
            Dependency(
                ecosystem=ecosystem,
                name=package.name,
                version=package.version or None,
                found_in=file_name,
                documentation_urls=package.documentation_urls,
            )
            for package in packages
            if not package.problem
        )
        yield from bounded(found, problems)


def _parse_cargo(text: str, folder: Path) -> Iterator[LockedPackage]:
    packages = [package for package in items(parse_toml(text).get("package")) if "name" in package]
    # Packages of the workspace itself have no source; they name others as `rand` or `rand 0.8.5`.
    direct = {
        " ".join(str(name).split()[:2])
        for own in packages
        if "source" not in own
        for name in items(own.get("dependencies"))
    }
    for package in packages:
        name, version = str(package["name"]), str(package.get("version"))
        if "source" in package and (not direct or direct & {name, f"{name} {version}"}):
            yield LockedPackage(name=name, version=version)


def _parse_go_mod(text: str, folder: Path) -> Iterator[LockedPackage]:
    lines = list(_directives(text))
    replaced = {words[0]: words[words.index("=>") + 1 :] for verb, words in lines if "=>" in words}
    for verb, words in lines:
        if verb != "require" or len(words) != 2:
            continue
        name, version = words
        by = replaced.get(name, [name, version])
        if len(by) == 2:
            yield LockedPackage(name=by[0], version=by[1])
        else:
            where = one_line(" ".join(by))
            yield LockedPackage(
                name=name,
                version=version,
                problem=f"go.mod replaces {one_line(name)} by the folder {where}: it is left out",
            )


def _directives(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the directives of a go.mod, those in blocks one by one, but indirect requirements."""
    block = ""
    for line in text.splitlines():
        words = line.split("//")[0].split()
        if not words or "// indirect" in line:
            continue
        if block:
            if words == [")"]:
                block = ""
            else:
                yield block, words
        elif words[1:] == ["("]:
            block = words[0]
        else:
            yield words[0], words[1:]


def _parse_gemfile(text: str, folder: Path) -> Iterator[LockedPackage]:
    lines = text.splitlines()
    start = lines.index("DEPENDENCIES") + 1 if "DEPENDENCIES" in lines else len(lines)
    direct = {match[1] for line in lines[start:] if (match := _DIRECT_GEM.fullmatch(line))}
    for line in lines[:start]:
        match = _GEM.fullmatch(line)
        if match and (match[1] in direct or not direct):
            yield LockedPackage(name=match[1], version=_GEM_PLATFORM.sub("", match[2]))


def _parse_composer(text: str, folder: Path) -> Iterator[LockedPackage]:
    document = json.loads(text)
    declared = load_json(folder, "composer.json", [])
    direct = {**table(declared, "require"), **table(declared, "require-dev")}
    for package in [*items(document.get("packages")), *items(document.get("packages-dev"))]:
        name = str(package.get("name"))
        if name in direct or not direct:
            urls = (table(package, "support").get("docs"), package.get("homepage"))
            yield LockedPackage(
                name=name,
                version=str(package.get("version")).removeprefix("v"),
                documentation_urls=tuple(url for url in urls if isinstance(url, str)),
            )


def _parse_gradle(text: str, folder: Path) -> Iterator[LockedPackage]:
    named = {
        coordinates
        for name in ("build.gradle", "build.gradle.kts", "gradle/libs.versions.toml")
        for coordinates in _COORDINATES.findall(read_project_file(folder, name, []))
    }
    locked: list[LockedPackage] = []
    for line in text.splitlines():
        coordinates = line.split("=")[0].split(":")
        if not line.startswith("#") and len(coordinates) == 3:
            locked.append(LockedPackage(name=":".join(coordinates[:2]), version=coordinates[2]))
    # The lock file also lists transitive dependencies; a build script with its own notation hides
    # which are direct, and then all are taken.
    direct = [package for package in locked if package.name in named]
    yield from direct or locked
