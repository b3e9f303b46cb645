"""Fixtures used by three or more folders of tests."""

from __future__ import annotations

import sqlite3
import threading
from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from typing_extensions import override

from citewell.store.sqlite import schema
from citewell.web import sandbox
from citewell.web.sandbox_worker import Nursery

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from citewell.store.migrate import Migration

# How long an example takes says more about the machine than about the code.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class SharedNursery(Nursery):
    """Outlives the sandboxes that fork their workers from it."""

    @override
    def close(self) -> None:
        pass


@pytest.fixture(scope="session", autouse=True)
def shared_nursery() -> Iterator[None]:
    """Import what reading pages needs once, not for each test that reads one: it takes 0.4 s."""
    opened: list[Nursery] = []

    @cache
    def open_nursery(memory_bytes: int) -> Nursery:
        opened.append(SharedNursery(("citewell.ingest.reading",), memory_bytes))
        return opened[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox, "Nursery", lambda _preload, memory_bytes: open_nursery(memory_bytes))
        yield
    for nursery in opened:
        Nursery.close(nursery)


@pytest.fixture(scope="session", autouse=True)
def migrated_once() -> Iterator[None]:
    """Take the steps of a new SQLite database once and copy it after that: they take 50 ms."""
    apply = schema._Schema.apply
    migrated: dict[tuple[Migration, ...], sqlite3.Connection] = {}
    # Of two stores that open one new file at once, the second must not copy over the first.
    copying = threading.Lock()

    def copy_or_apply(target: schema._Schema, steps: Sequence[Migration]) -> None:
        with copying:
            known = migrated.get(tuple(steps))
            if target._connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchone():
                apply(target, steps)
            elif known is not None:
                known.backup(target._connection)
            else:
                apply(target, steps)
                copy = sqlite3.connect(":memory:", check_same_thread=False)
                target._connection.backup(copy)
                migrated[tuple(steps)] = copy

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema._Schema, "apply", copy_or_apply)
        yield
    for copy in migrated.values():
        copy.close()
