"""Databases that are no library, are damaged, or hold code that somebody else put there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from bench.redteam.databases import attack
from tests.drafts import draft

from citewell.core.errors import StoreError
from citewell.store.open import open_store

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio

URL = "https://birds.example/herons"


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["redteam", "--quick"])


@pytest.mark.usefixtures("quick")
async def test_every_database_works_or_is_refused_with_one_clear_error() -> None:
    attempts = [attempt async for attempt in attack()]

    assert len(attempts) > 50
    assert [attempt for attempt in attempts if not attempt.held] == []
    assert {attempt.what.partition(":")[0] for attempt in attempts} == {"SQLite", "PostgreSQL"}


@pytest.mark.parametrize(
    "code",
    [
        "CREATE TRIGGER evil AFTER INSERT ON page BEGIN DELETE FROM page; END",
        "CREATE VIEW evil AS SELECT * FROM page",
    ],
)
async def test_code_that_no_migration_made_is_refused(code: str, tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/library.db"
    store = await open_store(address)
    await store.put_page(draft(URL, "Herons wade."))
    await store.aclose()
    with closing(sqlite3.connect(tmp_path / "library.db")) as database:
        database.execute(code)

    with pytest.raises(StoreError, match="citewell did not make"):
        await open_store(address)


async def test_a_value_that_cannot_be_ours_is_damage_and_no_bug(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/library.db"
    store = await open_store(address)
    put = await store.put_page(draft(URL, "Herons wade."))
    await store.aclose()
    with closing(sqlite3.connect(tmp_path / "library.db")) as database:
        database.execute("UPDATE page SET fetched_at = 'yesterday'")
        database.commit()
    store = await open_store(address)

    try:
        with pytest.raises(StoreError, match="damaged"):
            await store.get_page(put.source_id)
    finally:
        await store.aclose()
