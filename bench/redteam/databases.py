"""Databases that are no library, are damaged, or hold what another program put there.

Each is opened, read, searched and written as a server would. A library that cannot be used is
refused with one clear error, and what belongs to others is left byte for byte as it was.
"""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import anyio
import psycopg
from bench.redteam.attempt import Attempt, is_quick
from tests.drafts import draft
from tests.postgres import empty_database

from citewell.core.errors import CitewellError
from citewell.core.records import SearchFilter
from citewell.core.words import words
from citewell.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

NAME = "databases"
_DAMAGED = 60
_QUICK_DAMAGED = 8
_MAX_SECONDS = 60
_DEFAULT_PROJECT = SearchFilter(project="default")
_HERONS = draft("https://birds.example/herons", "The grey heron eats fish.", title="Herons")
_OWLS = draft("https://birds.example/owls", "The tawny owl eats mice.", title="Owls")


async def attack() -> AsyncIterator[Attempt]:
    """Open every database, of both kinds."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        library = await _make_library(folder / "library.db")
        for what, path, is_foreign in _sqlite_files(folder, library):
            yield await _try_file(what, path, is_foreign=is_foreign)
        for what, body in _damaged_files(library):
            with TemporaryDirectory() as other:
                path = Path(other) / "damaged.db"
                path.write_bytes(body)
                yield await _try_file(what, path)
    for what, script in _POSTGRES.items():
        yield await _try_postgres(what, script)


async def _use(address: str, *, is_chosen: bool = False) -> None:
    store = await open_store(address, is_chosen=is_chosen)
    try:
        for info in await store.list_pages(_DEFAULT_PROJECT, limit=10):
            await store.get_page(info.source_id)
            await store.chunks_of_page(info.source_id)
        await store.corpus_stats(_DEFAULT_PROJECT)
        hits = await store.search_words(words("grey heron"), where=_DEFAULT_PROJECT, limit=5)
        await store.load_chunks([hit.chunk_id for hit in hits])
        put = await store.put_page(_OWLS)
        await store.delete_page(put.source_id)
        await store.access.list_keys()
    finally:
        await store.aclose()


async def _outcome(address: str, *, is_chosen: bool = False) -> tuple[str, bool]:
    try:
        with anyio.fail_after(_MAX_SECONDS):
            await _use(address, is_chosen=is_chosen)
    except CitewellError as error:
        return f"{type(error).__name__}: {error.message}", "\n" not in error.message
    except Exception as error:  # noqa: BLE001 - whatever else gets through is what is looked for
        return repr(error), False
    return "works", True


# ── SQLite ────────────────────────────────────────────────────────────────────


async def _make_library(path: Path) -> bytes:
    store = await open_store(f"sqlite:///{path}")
    await store.put_page(_HERONS)
    await store.aclose()
    return _bytes_of(path)


def _bytes_of(path: Path) -> bytes:
    return path.read_bytes()


async def _try_file(what: str, path: Path, *, is_foreign: bool = False) -> Attempt:
    before = _bytes_of(path)
    outcome, held = await _outcome(f"sqlite:///{path}")
    if is_foreign and (_bytes_of(path) != before or outcome == "works"):
        outcome, held = f"{outcome}; the file was changed or taken for ours", False
    return Attempt(what=f"SQLite: {what}", held=held, outcome=outcome)


def _sqlite_files(folder: Path, library: bytes) -> Iterator[tuple[str, Path, bool]]:
    for what, body in _NO_DATABASES.items():
        path = folder / "no.db"
        path.write_bytes(body)
        yield what, path, True
    for number, (what, script) in enumerate(_FOREIGN.items()):
        path = folder / f"foreign{number}.db"
        with closing(sqlite3.connect(path)) as database:
            database.executescript(script)
        yield what, path, True
    for number, (what, script) in enumerate(_TWISTED.items()):
        path = folder / f"twisted{number}.db"
        path.write_bytes(library)
        with closing(sqlite3.connect(path)) as database:
            database.create_function("md5", 1, str)
            database.executescript(script)
        yield what, path, False


def _damaged_files(library: bytes) -> Iterator[tuple[str, bytes]]:
    chance = random.Random(7)
    count = _QUICK_DAMAGED if is_quick() else _DAMAGED
    for number in range(count):
        length = len(library) * number // count
        yield f"cut to {length} bytes", library[:length]
        place = chance.randrange(100, len(library) - 400)
        noise = chance.randbytes(chance.choice((1, 40, 400)))
        yield (
            f"{len(noise)} bytes of noise at {place}",
            library[:place] + noise + library[place + len(noise) :],
        )
    for place in range(16, 100, 4):
        yield f"0xff in the header at {place}", library[:place] + b"\xff" * 4 + library[place + 4 :]


_NO_DATABASES = {
    "text": b"heron\n" * 1_000,
    "a header and nothing else": b"SQLite format 3\0",
    "a header and noise": b"SQLite format 3\0" + random.Random(1).randbytes(8_192),
}
_OURS = f"PRAGMA application_id = {int.from_bytes(b'CtWl', 'big')};"
_FOREIGN = {
    "tables of another program": "CREATE TABLE page (a); INSERT INTO page VALUES (1);",
    "tables of another program, called as ours are": (
        "CREATE TABLE migration (version INTEGER, name TEXT);INSERT INTO migration VALUES (1, 'x');"
    ),
    "a view in another program's file": "CREATE VIEW page AS SELECT 1;",
    "our number on another program's tables": f"{_OURS} CREATE TABLE song (a);",
    "our number and a migration of text": (
        f"{_OURS} CREATE TABLE migration (version, name);INSERT INTO migration VALUES ('x', 'y');"  # noqa: S608 - no value in it
    ),
}
_TWISTED = {
    "a version of the future": "INSERT INTO migration (version, name) VALUES (999, 'later');",
    "a version far below zero": (
        "DELETE FROM migration; INSERT INTO migration (version, name) VALUES (-5, 'before');"
    ),
    "no version": "DELETE FROM migration;",
    "a table less": "DROP TABLE section;",
    "a view in the place of a table": "DROP TABLE link; CREATE VIEW link AS SELECT 1 AS url;",
    "a view without end in the place of a table": (
        "DROP TABLE image; CREATE VIEW image AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL"
        " SELECT x + 1 FROM n) SELECT x AS source_id, x AS ordinal, '' AS url, '' AS alt,"
        " '' AS caption, 0 AS section, 0 AS start_offset FROM n;"
    ),
    "a trigger that loads code": (
        "CREATE TRIGGER evil AFTER INSERT ON page BEGIN SELECT load_extension('/tmp/evil.so'); END;"
    ),
    "a trigger that deletes": (
        "CREATE TRIGGER evil AFTER INSERT ON page BEGIN DELETE FROM page; END;"
    ),
    "a trigger that never ends": (
        "CREATE TRIGGER evil AFTER INSERT ON page BEGIN DELETE FROM link WHERE source_id IN ("
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n); END;"
    ),
    "text where a number belongs": "UPDATE page SET chunks = 9223372036854775807;",
    "a moment that is none": "UPDATE page SET fetched_at = 'yesterday';",
    "an origin and a kind that nobody knows": "UPDATE page SET kind = 'evil', language = 'x';",
    "options that are no JSON": (
        "INSERT INTO website (source_id, project, url, kind, content_type, status, tags, options,"
        " title, created_at, updated_at) VALUES (9, 'default', 'u', 'page', 'general', 'pending',"
        " 'x', '{', '', '2026-01-01T00:00:00+00:00', '2026-01-01T00:00:00+00:00');"
    ),
    "sections inside each other": "UPDATE section SET parent = ordinal;",
}

# ── PostgreSQL ────────────────────────────────────────────────────────────────

_SONGS = "CREATE TABLE public.song (a int); INSERT INTO public.song VALUES (1);"
_POSTGRES = {
    "tables of another program": "",
    "tables of another program, called as ours are": (
        "CREATE TABLE public.page (a int); CREATE TABLE public.migration (version int);"
    ),
    "a schema of our name that is another program's": (
        "CREATE SCHEMA citewell; CREATE TABLE citewell.page (a int);"
    ),
    "a migration of text in a schema of our name": (
        "CREATE SCHEMA citewell; CREATE TABLE citewell.migration (version text);"
        "INSERT INTO citewell.migration VALUES ('x');"
    ),
    "functions called as those of PostgreSQL": (
        "CREATE FUNCTION public.md5(varchar) RETURNS text LANGUAGE plpgsql AS"
        " $$ BEGIN DELETE FROM public.song; RETURN 'evil'; END $$;"
    ),
    "a trigger on every creation that fails": (
        "CREATE FUNCTION public.evil() RETURNS event_trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'no'; END $$;"
        " CREATE EVENT TRIGGER evil ON ddl_command_end EXECUTE FUNCTION public.evil();"
    ),
}


async def _try_postgres(what: str, script: str) -> Attempt:
    with empty_database() as address:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(_SONGS.encode() + script.encode())
        # By the bare name DATABASE_URL it is refused; by our own name it is used, beside the rest.
        refused, is_clear = await _outcome(address)
        chosen, held = await _outcome(address, is_chosen=True)
        with psycopg.connect(address) as connection:
            songs = connection.execute("SELECT count(*) FROM public.song").fetchone()
    held = held and is_clear and refused != "works" and songs == (1,)
    return Attempt(
        what=f"PostgreSQL: {what}", held=held, outcome=f"{refused}; chosen: {chosen}; {songs} left"
    )
