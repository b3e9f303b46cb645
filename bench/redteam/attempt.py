"""What a group of attacks is made of."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attack, and whether the defence held."""

    what: str
    held: bool
    outcome: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Attacks of one kind."""

    name: str
    attack: Callable[[], AsyncIterator[Attempt]]


def is_quick() -> bool:
    """Return whether a sample of the attacks will do."""
    return "--quick" in sys.argv
