"""Bringing the schema of a SQLite database up to date."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.core.errors import StoreError
from citewell.store.migrate import load_migrations, migrate
from citewell.store.sqlite.session import SQL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from citewell.store.migrate import Migration

WHOLE_FILE = Path(__file__).with_name("whole_schema.json")
"""What all migrations together make; `write_schema.py` writes it."""

_APPLICATION_ID = int.from_bytes(b"CtWl", "big")


def bring_up_to_date(connection: sqlite3.Connection) -> None:
    """Apply the migrations that the database lacks, in one transaction.

    Raises:
        StoreError: the file belongs to another program, or to a later version of citewell.
    """
    identity = connection.execute(SQL["identify"]).fetchone()
    if identity["tables"] and identity["application_id"] != _APPLICATION_ID:
        raise StoreError(
            "the database belongs to another program",
            suggestion="Set CITEWELL_DATABASE_URL to a new file, or to one that citewell made.",
        )
    _refuse_foreign_code(connection)
    migrate(_Schema(connection), "sqlite")


def _refuse_foreign_code(connection: sqlite3.Connection) -> None:
    """Refuse triggers and views that no migration made: our statements would run them."""
    ours = " ".join(" ".join(step.script for step in load_migrations("sqlite")).split())
    for row in connection.execute(SQL["list_code"]):
        if " ".join(row["sql"].split()) not in ours:
            raise StoreError(
                f"the database holds a {row['type']} that citewell did not make",
                suggestion="Restore a copy of the database that nobody changed.",
            )


class _Schema:
    """The schema of a database, as something to migrate."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def applied_version(self) -> int:
        if not self._connection.execute(SQL["identify"]).fetchone()["tables"]:
            return 0
        return int(self._connection.execute(SQL["applied_version"]).fetchone()[0])

    def apply(self, steps: Sequence[Migration]) -> None:
        self._connection.execute(SQL["begin_write"])
        try:
            # Another process may have migrated between our check and our lock.
            applied = self.applied_version()
            whole = [] if applied else load_whole_schema(version=steps[-1].version)
            for statement in whole:
                self._connection.execute(statement)
            take_steps(self._connection, steps[applied:], only_note=bool(whole))
            self._connection.execute(SQL["commit"])
        except BaseException:
            self._connection.rollback()
            raise


def load_whole_schema(*, version: int) -> list[str]:
    """Return the statements that make the schema of `version`; none where another was written.

    Making a new database by them takes 5 ms, by the migrations 47.
    """
    written = json.loads(WHOLE_FILE.read_bytes())
    statements: list[str] = written["statements"] if written["version"] == version else []
    return statements


def take_steps(
    connection: sqlite3.Connection, steps: Iterable[Migration], *, only_note: bool = False
) -> None:
    """Apply migrations; where the database has what they make, `only_note` that it does."""
    for step in steps:
        for statement in () if only_note else _split(step.script):
            connection.execute(statement)
        connection.execute(SQL["note_migration"], {"version": step.version, "name": step.name})


def _split(script: str) -> Iterator[str]:
    """Yield the statements of `script`; a trigger counts as one."""
    # executescript() would commit first, and so end the migration's transaction.
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
