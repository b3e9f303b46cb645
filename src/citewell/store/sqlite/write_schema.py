"""Writes the schema of a new database: `python -m citewell.store.sqlite.write_schema`.

Whoever adds a migration runs it: a new database is made in one piece instead of step by step.
"""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from citewell.store.migrate import load_migrations
from citewell.store.sqlite.schema import WHOLE_FILE, take_steps
from citewell.store.sqlite.session import SQL

if TYPE_CHECKING:
    from collections.abc import Iterator

_CODE = ("trigger", "view")
# How a line of a dump begins that makes a row.
_ROW = re.compile(r'\w+ INTO "(\w+)" VALUES')


def migrated_statements() -> list[str]:
    """Return the statements that make what all migrations together make."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        take_steps(connection, load_migrations("sqlite"))
        return list(describe_schema(connection))


def describe_schema(connection: sqlite3.Connection) -> Iterator[str]:
    """Give the statements that make the tables of a database, with their rows, in another one.

    The rows of `migration` are left out: whoever runs the statements notes what was applied.
    """
    connection.row_factory = sqlite3.Row
    application_id = connection.execute(SQL["identify"]).fetchone()["application_id"]
    yield f"PRAGMA application_id = {application_id}"
    entries = connection.execute(SQL["list_schema"]).fetchall()
    yield from (entry["sql"] for entry in entries if entry["type"] not in _CODE)
    tables = {e["name"] for e in entries if e["type"] == e["table_type"] == "table"}
    wanted = tables - {"migration"} | {"sqlite_sequence"}
    for line in connection.iterdump():
        if (row := _ROW.match(line)) and row[1] in wanted:
            yield line.removesuffix(";")
    # Last: a trigger would act on the rows.
    yield from (entry["sql"] for entry in entries if entry["type"] in _CODE)


def main() -> None:
    """Write the file."""
    version = load_migrations("sqlite")[-1].version
    written = {"version": version, "statements": migrated_statements()}
    WHOLE_FILE.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
