"""A large page whose writer or remover dies, or meets a full disk, is whole or gone."""

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
from tests.store.large_pages import CHUNKS, URL, large_page, readable, unreachable_rows
from tests.store.looking import MODEL, chunk_ids, vector

from citewell.core.library import WebsiteDraft
from citewell.store.open import open_store
from citewell.store.sqlite.store import SqliteLimits, open_sqlite_store

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


def run_writer(
    path: Path, nth: int, how: str, work: str = "replace"
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.store.cut_off_writer", str(path), str(nth), how, work],
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


async def test_a_removed_page_is_there_or_gone_whichever_transaction_its_remover_dies_at(
    library: Path,
) -> None:
    before = await look(library)
    path = copied(library, "removed.db")
    remover = run_writer(path, 0, "never", "remove")
    after = await look(path)
    assert remover.returncode == 0, remover.stderr
    assert unreachable_rows(path) == {}
    assert "page" not in after
    gone = []
    for nth in range(1, int(remover.stdout) + 1):
        path = copied(library, f"removed-{nth}.db")

        assert run_writer(path, nth, "killed", "remove").returncode == -9

        seen = await look(path)
        gone.append("page" not in seen)
        assert seen == (after if gone[-1] else before)
        assert unreachable_rows(path) == {}
    assert {True, False} == set(gone)


async def test_a_removed_large_page_leaves_nothing_behind(library: Path) -> None:
    path = copied(library, "emptied.db")
    async with opened(path) as store:
        page = await store.find_page(URL, project="default")
        assert page is not None
        website, _ = await store.library.add_website(
            WebsiteDraft(url=URL, project="default", kind="page"), now=page.fetched_at
        )

        removed = await store.library.delete_website(website.source_id, project="default")
        again = await store.put_page(large_page())

        assert removed is not None
        assert (removed.pages, removed.chunks) == (1, CHUNKS)
        assert again.created
    assert unreachable_rows(path) == {}


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


async def test_a_disk_with_little_room_gets_the_page_in_one_transaction(tmp_path: Path) -> None:
    path, limits = tmp_path / "pages.db", SqliteLimits(least_free_bytes=10**18)
    store = await open_sqlite_store(path, limits=limits)
    large = await store.put_page(large_page())
    small = await store.put_page(draft("https://owls.example/", "Owls hoot."))
    texts = [chunk.text for chunk in await store.chunks_of_page(large.source_id)]
    await store.delete_page(large.source_id)
    last = await store.put_page(draft("https://emus.example/", "Emus run."))
    await store.aclose()

    # Slices take another id, for rows that wait to be removed.
    assert [small.source_id, last.source_id] == [large.source_id + 1, large.source_id + 2]
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
