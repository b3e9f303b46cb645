"""The dependencies that a project folder declares."""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from citewell.core.frozen import frozen
from citewell.core.releases import Release

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Ecosystem = Literal["pypi", "npm", "cargo", "go", "gem", "composer", "maven"]

MOST_DEPENDENCIES = 5_000
"""The most that are taken from one lock file, or of the Python or npm packages of a project."""
_MAX_CHARACTERS = 1_000
_SEPARATORS = re.compile(r"[-_.]+")


@frozen
class Dependency:
    """A package that a project names itself, in the version that is locked or installed."""

    ecosystem: Ecosystem
    name: str
    version: str | None
    """None when neither a lock file nor an installation has it."""
    found_in: str
    """The file or folder that declares it, relative to the project."""
    location: Path | None = None
    """Where it is installed; None when only a lock file names it."""
    documentation_urls: tuple[str, ...] = ()
    """The documentation URL in a lock file."""

    @property
    def is_sound(self) -> bool:
        """Whether its name and version can be stored and shown: short, no control characters."""
        words = (self.name, self.version or "", *self.documentation_urls)
        return all(len(word) <= _MAX_CHARACTERS and word.isprintable() for word in words)

    @property
    def release(self) -> Release:
        """The product and version that its pages document."""
        return Release(product=f"{self.ecosystem}:{self.name}", version=self.version or "")

    @property
    def address(self) -> str:
        """The prefix of the URLs of its pages."""
        return f"{self.ecosystem}:{self.name}@{self.version}/"


@frozen
class Project:
    """The direct dependencies of a folder, and what could not be read there."""

    dependencies: tuple[Dependency, ...]
    problems: tuple[str, ...] = field(default=())
    has_unread_files: bool = False
    """Whether a file that says what is used could not be read or parsed."""


def bounded(found: Iterable[Dependency], problems: list[str]) -> Iterator[Dependency]:
    """Yield each dependency once, and no more than a project can have."""
    seen: set[tuple[str, str | None]] = set()
    for dependency in found:
        if (dependency.name, dependency.version) in seen:
            continue
        if len(seen) == MOST_DEPENDENCIES:
            problems.append(
                f"{dependency.found_in}: only the first {MOST_DEPENDENCIES:,} packages are used"
            )
            return
        seen.add((dependency.name, dependency.version))
        yield dependency


def normalise_python_name(name: str) -> str:
    """Return the normalised name of a distribution (PEP 503)."""
    return _SEPARATORS.sub("-", name).lower()
