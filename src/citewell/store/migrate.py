"""Bringing a database to the current schema: migrations/NNNN_*.sql, in order, once each."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from citewell.core.errors import StoreError
from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import LiteralString

    from citewell.store.sql import Dialect

_FILE_NAME = re.compile(r"(\d{4})_(\w+)\.sql")


@frozen
class Migration:
    """One step of the schema; `version` is the number its file name starts with."""

    version: int
    name: str
    script: LiteralString


class MigrationTarget(Protocol):
    """A database that knows its version and can take steps."""

    def applied_version(self) -> int:
        """Return the version of the last step taken, 0 for a new database."""

    def apply(self, steps: Sequence[Migration]) -> None:
        """Take those of all `steps` that are missing by now, in one transaction."""


def migrate(target: MigrationTarget, dialect: Dialect) -> None:
    """Apply the migrations of `dialect` that `target` lacks, all or none.

    Raises:
        StoreError: a later version of citewell has been at this database.
    """
    steps = load_migrations(dialect)
    applied = target.applied_version()
    if applied > steps[-1].version:
        raise StoreError(
            "the database was made by a later version of citewell",
            suggestion="Upgrade citewell, or set CITEWELL_DATABASE_URL to another file.",
            database_version=applied,
            known_version=steps[-1].version,
        )
    if applied < steps[-1].version:
        target.apply(steps)


@cache
def load_migrations(dialect: Dialect) -> tuple[Migration, ...]:
    """Return the migrations of `dialect` in order; they are numbered from 1 without a gap."""
    migrations = [
        Migration(
            version=int(match[1]),
            name=match[2],
            script=file.read_text(encoding="utf-8"),
        )
        for file in (Path(__file__).parent / dialect / "migrations").iterdir()
        if (match := _FILE_NAME.fullmatch(file.name))
    ]
    migrations.sort(key=lambda migration: migration.version)
    versions = [migration.version for migration in migrations]
    assert versions == list(range(1, len(migrations) + 1)), f"migrations of {dialect} have a gap"
    return tuple(migrations)
