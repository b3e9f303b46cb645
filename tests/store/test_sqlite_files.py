"""What holds for SQLite files: other processes, copies, kills, and files that are not ours."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.drafts import draft

from citewell.core.errors import SettingsError, StoreBusy, StoreError
from citewell.core.records import SearchFilter
from citewell.store.migrate import load_migrations
from citewell.store.open import open_store
from citewell.store.sqlite.connection import store_errors
from citewell.store.sqlite.store import SqliteLimits, open_sqlite_store

pytestmark = pytest.mark.anyio


def test_an_error_on_a_full_disk_says_that_removing_needs_room_too() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript("PRAGMA max_page_count = 4; CREATE TABLE page (text)")
        with pytest.raises(StoreError) as raised, store_errors():
            database.execute("INSERT INTO page VALUES (zeroblob(100000))")

    assert raised.value.message == "the disk is full"
    assert "removing pages needs some too" in raised.value.suggestion


ALL = SearchFilter()
ROOT = Path(__file__).parents[2]

PUT_PAGES = """
import sys, anyio
from citewell.store.open import open_store
from tests.drafts import draft

async def main(address, name, pages, paragraphs):
    store = await open_store(address)
    for number in range(int(pages)):
        texts = [f"heron {name} {number} {part}" for part in range(int(paragraphs))]
        await store.put_page(draft(f"https://{name}.org/{number}", *texts))
        print(number, flush=True)
    await store.aclose()

anyio.run(main, *sys.argv[1:])
"""


def start(program: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8")


def check_integrity(path: Path) -> None:
    """Assert that the file is sound and that its parts agree with each other."""
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        database.execute("INSERT INTO chunk_words (chunk_words) VALUES ('integrity-check')")
        [totals] = database.execute(
            "SELECT (SELECT chunks FROM corpus), (SELECT sum(chunks) FROM page), "
            "(SELECT count(*) FROM chunk), (SELECT count(*) FROM chunk_words)"
        )
        assert len(set(totals)) == 1
        half_written = database.execute(
            "SELECT source_id FROM page WHERE chunks <> "
            "(SELECT count(*) FROM chunk WHERE chunk.rows_id = page.rows_id)"
        )
        assert half_written.fetchall() == []


async def test_pages_outlive_the_process(tmp_path: Path) -> None:
    address = f"sqlite://{tmp_path}/deep/er/pages.db"
    store = await open_store(address)
    put = await store.put_page(draft("https://a.org/", "heron"))
    await store.aclose()

    again = await open_store(address)

    page = await again.get_page(put.source_id)
    await again.aclose()
    assert page is not None
    assert page.text == "heron"
    assert [path.name for path in (tmp_path / "deep/er").iterdir()] == ["pages.db"]


async def test_processes_that_write_at_once_all_succeed(tmp_path: Path) -> None:
    path = tmp_path / "pages.db"
    writers = [start(PUT_PAGES, f"sqlite://{path}", name, "15", "3") for name in "abc"]

    outputs = [writer.communicate(timeout=120)[0] for writer in writers]

    assert [output.split() for output in outputs] == [[str(n) for n in range(15)]] * 3
    store = await open_store(f"sqlite://{path}")
    assert (await store.corpus_stats(ALL)).pages == 45
    await store.aclose()
    check_integrity(path)


async def test_a_large_library_is_searched_by_words_while_its_vectors_load(tmp_path: Path) -> None:
    path, limits = tmp_path / "pages.db", SqliteLimits(most_chunks_to_wait_for=1)
    store = await open_sqlite_store(path, limits=limits)
    await store.put_page(draft("https://a.org/", "heron", "egret"))
    query = np.array([1, 0], np.float32)
    await store.put_vectors({1: query, 2: -query}, model="m")
    await store.aclose()

    store = await open_sqlite_store(path, limits=limits)
    first = await store.vectors_ready(model="m")
    hits = await store.search_vectors(query, model="m", where=ALL, limit=1)
    later = await store.vectors_ready(model="m")
    await store.aclose()

    assert (first, later) == (False, True)
    assert [hit.chunk_id for hit in hits] == [1]


async def test_what_another_connection_writes_and_deletes_is_seen(tmp_path: Path) -> None:
    address = f"sqlite://{tmp_path}/pages.db"
    ours, theirs = await open_store(address), await open_store(address)
    query = np.array([1, 0], np.float32)

    async def near() -> list[int]:
        hits = await ours.search_vectors(query, model="m", where=ALL, limit=9)
        return [hit.chunk_id for hit in hits]

    put = await theirs.put_page(draft("https://a.org/", "heron", "egret"))
    await theirs.put_vectors({1: query}, model="m")
    first = await near()
    await theirs.put_vectors({2: -query}, model="m")
    second = await near()
    await theirs.delete_page(put.source_id)
    third = await near()

    assert (first, second, third) == ([1], [1, 2], [])
    assert await ours.search_words(["heron"], where=ALL, limit=9) == []
    await ours.aclose()
    await theirs.aclose()


async def test_a_killed_writer_leaves_only_whole_pages(tmp_path: Path) -> None:
    path = tmp_path / "pages.db"
    finished: set[str] = set()
    for kill in range(3):
        writer = start(PUT_PAGES, f"sqlite://{path}", f"run{kill}", "9999", "40")
        assert writer.stdout is not None
        for line in writer.stdout:
            finished.add(f"https://run{kill}.org/{line.strip()}")
            if int(line) == 5 * kill:
                break
        writer.send_signal(signal.SIGKILL)
        # A page may have been finished after the last one we read of.
        rest, _ = writer.communicate()
        finished |= {f"https://run{kill}.org/{line}" for line in rest.split()}

    store = await open_store(f"sqlite://{path}")

    stored = {page.url for page in await store.list_pages(ALL, limit=9999)}
    await store.aclose()
    assert finished <= stored
    check_integrity(path)


@pytest.mark.parametrize("way", ["backup", "vacuum"])
async def test_a_copy_made_while_open_is_a_store_of_its_own(tmp_path: Path, way: str) -> None:
    original, copy = tmp_path / "pages.db", tmp_path / "copy.db"
    store = await open_store(f"sqlite://{original}")
    put = await store.put_page(draft("https://a.org/", "heron"))
    await store.put_vectors({1: np.array([1, 0], np.float32)}, model="m")

    with closing(sqlite3.connect(original)) as source:
        if way == "vacuum":
            source.execute("VACUUM INTO ?", (str(copy),))
        else:
            with closing(sqlite3.connect(copy)) as target:
                source.backup(target)
    await store.delete_page(put.source_id)
    await store.aclose()

    copied = await open_store(f"sqlite://{copy}")
    query = np.array([1, 0], np.float32)
    assert len(await copied.search_words(["heron"], where=ALL, limit=9)) == 1
    assert len(await copied.search_vectors(query, model="m", where=ALL, limit=9)) == 1
    await copied.put_page(draft("https://a.org/", "egret"))
    await copied.aclose()
    check_integrity(copy)


async def test_a_closed_file_is_complete_without_its_log(tmp_path: Path) -> None:
    store = await open_store(f"sqlite://{tmp_path}/pages.db")
    await store.put_page(draft("https://a.org/", "heron"))
    await store.aclose()
    shutil.copy(tmp_path / "pages.db", tmp_path / "moved.db")

    moved = await open_store(f"sqlite://{tmp_path}/moved.db")

    assert len(await moved.search_words(["heron"], where=ALL, limit=9)) == 1
    await moved.aclose()


async def test_a_writer_that_waits_too_long_is_told_so(tmp_path: Path) -> None:
    store = await open_store(f"sqlite://{tmp_path}/pages.db", busy_timeout_seconds=0.05)
    await store.put_page(draft("https://a.org/", "heron"))

    with closing(sqlite3.connect(tmp_path / "pages.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            await store.put_page(draft("https://b.org/", "egret"))
        assert len(await store.search_words(["heron"], where=ALL, limit=9)) == 1

    await store.put_page(draft("https://b.org/", "egret"))
    assert (await store.corpus_stats(ALL)).pages == 2
    await store.aclose()


async def test_a_write_that_fails_midway_leaves_the_old_page(tmp_path: Path) -> None:
    path = tmp_path / "pages.db"
    store = await open_store(f"sqlite://{path}")
    await store.put_page(draft("https://a.org/", "heron"))
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "CREATE TRIGGER no_room AFTER INSERT ON chunk WHEN new.ordinal = 2 "
            "BEGIN SELECT RAISE(ABORT, 'no room'); END"
        )

    with pytest.raises(StoreError):
        await store.put_page(draft("https://a.org/", "egret", "ibis", "stork"))

    assert len(await store.search_words(["heron"], where=ALL, limit=9)) == 1
    assert await store.search_words(["egret"], where=ALL, limit=9) == []
    await store.aclose()
    check_integrity(path)


def _not_a_database(path: Path) -> None:
    path.write_text("These are notes, not a database. " * 200, encoding="utf-8")


def _of_another_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE page (title)")


def _of_a_later_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA application_id = 1131698028")
        database.execute("CREATE TABLE migration (version INTEGER PRIMARY KEY, name TEXT)")
        database.execute("INSERT INTO migration VALUES (9999, 'future')")
        database.commit()


def _a_folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_not_a_database, "the file is not a database"),
        (_of_another_program, "the database belongs to another program"),
        (_of_a_later_version, "the database was made by a later version of citewell"),
        (_a_folder, "the database file cannot be opened"),
    ],
)
async def test_a_file_that_is_not_ours_is_refused_and_left_alone(
    tmp_path: Path, make: Callable[[Path], None], message: str
) -> None:
    path = tmp_path / "pages.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None

    with pytest.raises(StoreError) as caught:
        await open_store(f"sqlite://{path}")

    assert caught.value.message == message
    assert str(tmp_path) not in caught.value.message
    assert (path.read_bytes() if path.is_file() else None) == before


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")

    with pytest.raises(StoreError, match="folder"):
        await open_store(f"sqlite://{tmp_path}/file/pages.db")


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("postgresql://user:secret@host/db", StoreError),
        ("mysql://user:secret@host/db", SettingsError),
        ("pages.db", SettingsError),
        ("sqlite://relative.db", SettingsError),
    ],
)
async def test_an_address_that_cannot_be_used_is_refused_without_its_secrets(
    address: str, error: type[Exception]
) -> None:
    with pytest.raises(error) as caught:
        await open_store(address)

    assert "secret" not in str(caught.value)


async def test_an_address_may_have_spaces_and_four_slashes(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:///{tmp_path}/my%20pages.db")
    await store.aclose()

    assert (tmp_path / "my pages.db").exists()


async def test_opening_again_applies_no_migration_twice(tmp_path: Path) -> None:
    for _ in range(2):
        store = await open_store(f"sqlite://{tmp_path}/pages.db")
        await store.aclose()

    with closing(sqlite3.connect(tmp_path / "pages.db")) as database:
        applied = database.execute("SELECT version, name FROM migration ORDER BY 1").fetchall()

    known: Sequence[tuple[int, str]] = [
        (step.version, step.name) for step in load_migrations("sqlite")
    ]
    assert applied == known
