"""A large page that is being replaced when its writer dies, or when the disk is full, stays whole."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from tests.drafts import draft
from tests.store.large_pages import URL, large_page, readable, unreachable_rows
from tests.store.looking import MODEL, chunk_ids, vector

from citewell.store.open import open_store
from citewell.store.sqlite import sliced_put

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from citewell.store.protocol import Store

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

Seen = dict[str, Any]


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[Store]:
    store = await open_store(f"sqlite://{path}", model=MODEL)
    try:
        yield store
    finally:
        await store.aclose()


def run_writer(path: Path, nth: int, how: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.store.cut_off_writer", str(path), str(nth), how],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )


async def look(path: Path) -> Seen:
    async with opened(path) as store:
        return await readable(store)


def copied(path: Path, name: str) -> Path:
    for file in path.parent.glob(f"{path.name}*"):
        shutil.copy(file, path.parent / file.name.replace(path.name, name))
    return path.with_name(name)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with a large page, all of whose chunks have vectors, and a small one."""
    path = tmp_path_factory.mktemp("cut_off") / "old.db"

    async def fill() -> None:
        async with opened(path) as store:
            await store.put_page(draft("https://owls.example/", "Owls hoot.", project="other"))
            put = await store.put_page(large_page())
            ids = await chunk_ids(store, put.source_id)
            await store.put_vectors(dict.fromkeys(ids, vector(1, 0)), model=MODEL)

    anyio.run(fill)
    return path


@pytest.fixture(scope="module")
def outcomes(library: Path) -> tuple[Seen, Seen, int]:
    """What can be read before the page is replaced and after, and in how many transactions."""
    path = copied(library, "new.db")
    before = anyio.run(look, library)
    writer = run_writer(path, 0, "never")
    assert writer.returncode == 0, writer.stderr
    after = anyio.run(look, path)
    assert before != after
    assert unreachable_rows(path) == {}
    return before, after, int(writer.stdout)


async def expect_whole(path: Path, before: Seen, after: Seen) -> bool:
    """The page is whole, its leftovers are removed once they are old, and it can be replaced.

    Return whether it was replaced already.
    """
    seen = await look(path)
    is_replaced = seen["pages of default"] == after["pages of default"]
    assert seen == (after if is_replaced else before)

    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE unlisted SET touched_at = 0")
        database.commit()
    assert await look(path) == seen
    assert unreachable_rows(path) == {}

    async with opened(path) as store:
        await store.put_page(large_page("Crane"))
        assert await readable(store) == after
    assert unreachable_rows(path) == {}
    return bool(is_replaced)


async def test_a_page_is_whole_whichever_transaction_its_writer_dies_at(
    library: Path, outcomes: tuple[Seen, Seen, int]
) -> None:
    before, after, transactions = outcomes
    replaced = []
    for nth in range(1, transactions + 1):
        path = copied(library, f"killed-{nth}.db")

        assert run_writer(path, nth, "killed").returncode == -9

        replaced.append(await expect_whole(path, before, after))
    assert {True, False} == set(replaced)


async def test_a_page_is_whole_whenever_the_disk_was_full(
    library: Path, outcomes: tuple[Seen, Seen, int]
) -> None:
    before, after, _ = outcomes
    failed = 0
    for kilobytes in (32, 500, 1_200, 1_900):
        path = copied(library, f"full-{kilobytes}.db")

        failed += run_writer(path, kilobytes * 1_000, "full").returncode == 1

        await expect_whole(path, before, after)
    assert failed >= 2


async def test_whoever_writes_next_removes_what_a_dead_writer_left(library: Path) -> None:
    path = copied(library, "left.db")
    async with opened(path) as store:
        assert run_writer(path, 4, "killed").returncode == -9
        assert unreachable_rows(path) != {}
        # The dead writer's clock was ahead; by this one, its rows are still fresh.
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE unlisted SET touched_at = touched_at + 86400")

        with anyio.fail_after(60):
            while unreachable_rows(path):
                await store.put_page(draft("https://owls.example/", "Owls hoot."))


async def test_a_disk_with_little_room_gets_the_page_in_one_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sliced_put, "LEAST_FREE_BYTES", 10**18)
    async with opened(tmp_path / "pages.db") as store:
        large = await store.put_page(large_page())
        small = await store.put_page(draft("https://owls.example/", "Owls hoot."))
        texts = [chunk.text for chunk in await store.chunks_of_page(large.source_id)]

    # Writing in slices takes a second id, for the rows to be replaced.
    assert small.source_id == large.source_id + 1
    assert texts == [chunk.text for chunk in large_page().chunks]


async def test_writers_of_the_same_page_leave_one_of_their_texts_whole(tmp_path: Path) -> None:
    path = tmp_path / "pages.db"
    birds = ("Crane", "Stork", "Heron")

    async def write(bird: str) -> None:
        async with opened(path) as store:
            await store.put_page(large_page(bird))

    async with opened(path) as store, anyio.create_task_group() as tasks:
        await store.put_page(draft(URL, "Owls hoot."))
        for bird in birds:
            tasks.start_soon(write, bird)
    async with opened(path) as store:
        page = await store.find_page(URL, project="default")
        assert page is not None
        texts = [chunk.text for chunk in await store.chunks_of_page(page.source_id)]

    assert texts in [[chunk.text for chunk in large_page(bird).chunks] for bird in birds]
    assert unreachable_rows(path) == {}


async def test_other_processes_write_while_a_large_page_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "pages.db"
    order: list[str] = []

    async with opened(path) as store, opened(path) as other:

        async def write_large() -> None:
            await store.put_page(large_page(chunks=8_000))
            order.append("large")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write_large)
            while "large" not in order:
                await other.put_page(draft("https://owls.example/", "Owls hoot."))
                order.append("small")

    assert order.index("large") >= 3
