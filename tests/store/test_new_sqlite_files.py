"""A new SQLite file is made in one piece, and is what all migrations make."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from citewell.store.migrate import load_migrations
from citewell.store.open import open_store
from citewell.store.sqlite.schema import load_whole_schema, take_steps
from citewell.store.sqlite.write_schema import migrated_statements

pytestmark = pytest.mark.anyio


def dumped(database: sqlite3.Connection) -> list[str]:
    """Everything in a database, shadow tables included, in an order of its own."""
    return sorted(database.iterdump())


def test_the_schema_that_was_written_is_the_one_that_the_migrations_make() -> None:
    written = load_whole_schema(version=load_migrations("sqlite")[-1].version)

    assert written == migrated_statements(), "run python -m citewell.store.sqlite.write_schema"


def test_a_schema_of_another_version_is_not_used() -> None:
    assert load_whole_schema(version=load_migrations("sqlite")[-1].version + 1) == []


async def test_a_new_file_holds_what_a_migrated_one_does(tmp_path: Path) -> None:
    store = await open_store(f"sqlite://{tmp_path}/new.db")
    await store.aclose()

    with (
        closing(sqlite3.connect(tmp_path / "new.db")) as new,
        closing(sqlite3.connect(":memory:", isolation_level=None)) as migrated,
    ):
        take_steps(migrated, load_migrations("sqlite"))

        assert dumped(new) == dumped(migrated)
