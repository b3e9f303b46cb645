"""Making, moving and upgrading the schema that holds everything of one library."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any

from psycopg import sql

from citewell.core.errors import SettingsError
from citewell.store.migrate import load_migrations, migrate
from citewell.store.postgres.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import Connection

    from citewell.store.migrate import Migration

# The shell shows this logger's messages even where it hides the log.
notices = logging.getLogger("citewell.notices")

# "CtWl": held while migrating, so that only one of several starting servers migrates.
_MIGRATION_LOCK = int.from_bytes(b"CtWl", "big")
_CREATED = re.compile(r"^CREATE (?:UNLOGGED )?(TABLE|FUNCTION|STATISTICS) (\w+)", re.MULTILINE)
_NAMED_TABLES = 3


def bring_up_to_date(
    connection: Connection[dict[str, Any]], *, schema: str, is_chosen: bool
) -> str:
    """Create or migrate the library in `schema`; return the search path.

    A library from before there was a separate schema is moved there. All is done in
    one transaction: if anything fails, nothing has changed.

    Raises:
        SettingsError: the database holds tables of others, and it was not chosen for this.
    """
    connection.execute(SQL["lock_schema"], {"lock": _MIGRATION_LOCK})
    with connection.transaction():
        state = _fetch_one(connection, "library_state", schema=schema)
        if not state["has_library"]:
            old_schema = _find_old_library(connection, schema)
            if not is_chosen:
                _refuse_other_tables(connection, schema, old_schema, database=state["database"])
            if not state["has_schema"]:
                connection.execute(_named("make_schema", schema=schema))
            if old_schema is not None:
                _move_library(connection, old_schema, schema)
            _announce(schema, old_schema, database=state["database"])
        _use_search_path(connection, schema)
        migrate(_Schema(connection), "postgres")
        # The first migration may have created the extension.
        return _use_search_path(connection, schema)


class _Schema:
    """The current schema, as something to migrate; the caller holds the lock."""

    def __init__(self, connection: Connection[dict[str, Any]]) -> None:
        self._connection = connection
        connection.execute(SQL["make_migration_table"])

    def applied_version(self) -> int:
        return int(_fetch_one(self._connection, "applied_version")["version"])

    def apply(self, steps: Sequence[Migration]) -> None:
        for migration in steps[self.applied_version() :]:
            self._connection.execute(migration.script)
            values = {"version": migration.version, "name": migration.name}
            self._connection.execute(SQL["note_migration"], values)


def _find_old_library(connection: Connection[dict[str, Any]], schema: str) -> str | None:
    row = connection.execute(SQL["find_old_library"], {"schema": schema}).fetchone()
    return None if row is None else str(row["schema"])


def _refuse_other_tables(
    connection: Connection[dict[str, Any]], schema: str, old_schema: str | None, *, database: str
) -> None:
    values = {"old_schema": old_schema, "own_tables": _created("TABLE")}
    names = [row["name"] for row in connection.execute(SQL["other_tables"], values)]
    if not names:
        return
    more = f" and {len(names) - _NAMED_TABLES} more" if len(names) > _NAMED_TABLES else ""
    raise SettingsError(
        f'the PostgreSQL database "{database}" holds tables of another program '
        f"({', '.join(names[:_NAMED_TABLES])}{more}): name another database, or name this one by "
        f'--database or CITEWELL_DATABASE_URL to keep the library in its own schema "{schema}"'
    )


def _move_library(connection: Connection[dict[str, Any]], old: str, schema: str) -> None:
    """Move every table, function and statistics object; indexes and sequences go with tables."""
    moves = (
        ("tables_to_move", "move_table", "own_tables", "TABLE"),
        ("functions_to_move", "move_function", "own_functions", "FUNCTION"),
        ("statistics_to_move", "move_statistics", "own_statistics", "STATISTICS"),
    )
    for listing, moving, parameter, kind in moves:
        values = {"old_schema": old, parameter: _created(kind)}
        for row in connection.execute(SQL[listing], values).fetchall():
            connection.execute(_named(moving, old=old, name=row["name"], schema=schema))


def _announce(schema: str, old_schema: str | None, *, database: str) -> None:
    if old_schema is None:
        notices.warning('made the schema "%s" in the PostgreSQL database "%s"', schema, database)
    else:
        notices.warning(
            'moved the library of the PostgreSQL database "%s" from the schema "%s" to "%s"',
            database,
            old_schema,
            schema,
        )


def _use_search_path(connection: Connection[dict[str, Any]], schema: str) -> str:
    path = str(_fetch_one(connection, "search_path", schema=schema)["search_path"])
    connection.execute(SQL["use_search_path"], {"search_path": path})
    return path


def _created(kind: str) -> list[str]:
    """Return the names of all tables, functions or statistics that migrations ever made."""
    scripts = [migration.script for migration in load_migrations("postgres")]
    names = [name for script in scripts for made, name in _CREATED.findall(script) if made == kind]
    return ["migration", *names] if kind == "TABLE" else names


def _named(statement: str, **names: str) -> sql.Composed:
    identifiers = {key: sql.Identifier(name) for key, name in names.items()}
    return sql.SQL(SQL[statement]).format(**identifiers)


def _fetch_one(
    connection: Connection[dict[str, Any]], statement: str, **values: object
) -> dict[str, Any]:
    row = connection.execute(SQL[statement], values).fetchone()
    assert row is not None, "the statement returns a row"
    return row
