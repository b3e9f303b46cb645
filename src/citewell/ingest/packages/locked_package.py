"""A package as a lock file names it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedPackage:
    """A direct dependency; its version is empty where the file does not say."""

    name: str
    version: str
    documentation_urls: tuple[str, ...] = ()
