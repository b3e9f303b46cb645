"""The desk between agents and their users."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from citewell.people.desk import Desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.app.parts import Assembly


@asynccontextmanager
async def open_desk(assembly: Assembly) -> AsyncIterator[Desk]:
    """Give the desk."""
    store = (await assembly.open("store")).store
    yield Desk(store.people, answer_timeout_seconds=assembly.settings.people_answer_timeout_seconds)
