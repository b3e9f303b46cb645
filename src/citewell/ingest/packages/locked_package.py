"""A package as a lock file names it."""

from __future__ import annotations

from citewell.core.frozen import frozen


@frozen
class LockedPackage:
    """A direct dependency; its version is empty where the file has none."""

    name: str
    version: str
    documentation_urls: tuple[str, ...] = ()
    problem: str = ""
    """Why it is not listed."""
