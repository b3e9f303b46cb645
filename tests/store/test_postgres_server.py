"""What only PostgreSQL can do or fail at: many processes, restarts, an index of its own."""

from __future__ import annotations

import gc
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from urllib.parse import quote

import anyio
import numpy as np
import psycopg
import pytest
from tests.drafts import draft
from tests.postgres import empty_database, empty_library, running_server
from typing_extensions import override

from citewell.core.errors import StoreError
from citewell.core.records import SearchFilter
from citewell.store.open import open_store
from citewell.store.postgres.vector_search import FEW_VECTORS

pytestmark = pytest.mark.anyio

OPEN_A_STORE = """
import anyio, sys
from citewell.store.open import open_store
async def main():
    store = await open_store(sys.argv[1])
    await store.aclose()
anyio.run(main)
"""


@pytest.fixture
def address() -> Iterator[str]:
    with empty_library() as given:
        yield given


@pytest.mark.slow
def test_ten_servers_that_start_together_migrate_once() -> None:
    with empty_database() as address:
        started = [
            subprocess.Popen([sys.executable, "-c", OPEN_A_STORE, address], stderr=subprocess.PIPE)
            for _ in range(10)
        ]
        errors = [process.communicate(timeout=120)[1] for process in started]

        assert [process.returncode for process in started] == [0] * 10, errors
        with psycopg.connect(address) as connection:
            versions = connection.execute(
                "SELECT version FROM migration ORDER BY version"
            ).fetchall()
    assert versions == [(number,) for number in range(1, len(versions) + 1)]


def end_connections() -> None:
    """Let the server end every connection of ours, as it does when it stops."""
    with psycopg.connect(running_server().get_uri(), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'citewell'"
        )


async def test_calls_work_again_after_the_server_has_closed_their_connections(address: str) -> None:
    store = await open_store(address)
    try:
        await store.put_page(draft("https://a.example/", "heron"))
        end_connections()
        found = await store.search_words(["heron"], where=SearchFilter(), limit=10)
    finally:
        await store.aclose()

    assert len(found) == 1


class Door:
    """A path to the server's socket; while it is shut the server is as good as stopped."""

    def __init__(self, address: str, path: Path) -> None:
        self._path = path
        self._folder = Path(running_server().pgdata)
        self.address = address.replace(str(self._folder), quote(str(path)))
        self.open()

    def open(self) -> None:
        self._path.symlink_to(self._folder)

    def shut(self) -> None:
        self._path.unlink()
        end_connections()


class FailedConnection(logging.Handler):
    """Tells when the pool has tried in vain to reach the server."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = anyio.Event()

    @override
    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("error connecting"):
            self.seen.set()


@pytest.mark.slow
async def test_a_call_while_the_server_is_gone_ends_soon_and_the_next_finds_it_back(
    address: str, tmp_path: Path
) -> None:
    door = Door(address, tmp_path / "socket")
    store = await open_store(door.address)
    try:
        await store.put_page(draft("https://a.example/", "heron"))
        door.shut()
        with anyio.fail_after(60), pytest.raises(StoreError) as caught:
            await store.search_words(["heron"], where=SearchFilter(), limit=10)
        door.open()
        with anyio.fail_after(60):
            found = await store.search_words(["heron"], where=SearchFilter(), limit=10)
    finally:
        await store.aclose()

    assert caught.value.code == "BACKEND_UNAVAILABLE"
    assert len(found) == 1


@pytest.mark.slow
async def test_a_call_waits_for_a_server_that_is_restarted(address: str, tmp_path: Path) -> None:
    door = Door(address, tmp_path / "socket")
    store = await open_store(door.address)
    failed = FailedConnection()
    pool_log = logging.getLogger("psycopg.pool")
    pool_log.addHandler(failed)
    found = 0

    async def search() -> None:
        nonlocal found
        found = len(await store.search_words(["heron"], where=SearchFilter(), limit=10))

    try:
        await store.put_page(draft("https://a.example/", "heron"))
        door.shut()
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(search)
                await failed.seen.wait()
                door.open()
    finally:
        pool_log.removeHandler(failed)
        await store.aclose()

    assert found == 1


async def test_a_server_that_is_not_there_is_a_clear_error() -> None:
    with pytest.raises(StoreError, match="cannot be reached") as caught:
        await open_store("postgresql://nobody@127.0.0.1:9/nothing")

    assert caught.value.code == "BACKEND_UNAVAILABLE"


async def test_two_who_write_the_same_page_leave_one_whole_page(address: str) -> None:
    stores = [await open_store(address) for _ in range(2)]
    try:
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                page = draft("https://a.example/", *[f"paragraph {number} {at}" for at in range(9)])
                tasks.start_soon(stores[number % 2].put_page, page)
        info = await stores[0].find_page("https://a.example/", project="default")
        assert info is not None
        page_now = await stores[0].get_page(info.source_id)
        chunks = await stores[1].chunks_of_page(info.source_id)
        stats = await stores[0].corpus_stats(SearchFilter())
    finally:
        for store in stores:
            await store.aclose()

    assert page_now is not None
    assert [chunk.text for chunk in chunks] == page_now.text.split("\n\n")
    assert (stats.pages, stats.chunks) == (1, 9)


async def test_a_listener_that_is_cancelled_leaves_no_connection_open(address: str) -> None:
    store = await open_store(address)
    try:
        # At some step it is cancelled while the server answers.
        for step in range(200):
            with anyio.move_on_after(step / 10_000):
                async with aclosing(store.jobs.changes()) as changes:
                    async for _ in changes:
                        pass
    finally:
        await store.aclose()

    # One that was collected before it was closed has warned, and a warning is an error.
    every = [each for each in gc.get_objects() if isinstance(each, psycopg.AsyncConnection)]
    assert [each for each in every if not each.closed and each.info.dbname in address] == []


def is_indexed(address: str) -> bool:
    with psycopg.connect(address) as connection:
        row = connection.execute("SELECT indexed FROM embedding_model").fetchone()
    return row == (True,)


def counted_models(address: str) -> list[int]:
    """Return the models that the planner knows to have many chunks."""
    with psycopg.connect(address) as connection:
        row = connection.execute(
            "SELECT most_common_vals::text::int[] FROM pg_stats "
            "WHERE schemaname = current_schema() AND tablename = 'chunk' AND attname = 'model_id'"
        ).fetchone()
    return row[0] if row is not None else []


@pytest.mark.slow
async def test_many_vectors_are_found_through_an_index_once_none_is_waited_for(
    address: str,
) -> None:
    rng = np.random.default_rng(7)
    vectors = rng.standard_normal((FEW_VECTORS, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    store = await open_store(address, model="m")
    try:
        ids: list[int] = []
        for number in range(10):
            texts = [f"{number} {at}" for at in range(FEW_VECTORS // 10)]
            put = await store.put_page(draft(f"https://a.example/{number}", *texts))
            ids += [chunk.chunk_id for chunk in await store.chunks_of_page(put.source_id)]
        late = await store.put_page(draft("https://a.example/late", "late"))
        (last,) = await store.chunks_of_page(late.source_id)
        with psycopg.connect(address) as connection:
            connection.execute("ANALYZE chunk")
        models_before = counted_models(address)
        await store.put_vectors(dict(zip(ids, vectors, strict=True)), model="m")
        is_early = is_indexed(address)
        await store.put_vectors({last.chunk_id: -vectors[0]}, model="m")
        kept = 0
        for query in vectors[:50]:
            exact = {ids[at] for at in np.argsort(-(vectors @ query))[:10]}
            found = await store.search_vectors(query, model="m", where=SearchFilter(), limit=10)
            kept += len(exact & {hit.chunk_id for hit in found})
    finally:
        await store.aclose()

    assert not is_early
    assert is_indexed(address)
    # 0 stands for no model.
    assert (models_before, counted_models(address)) == ([0], [1])
    assert kept / 500 > 0.97


@pytest.mark.slow
async def test_a_dump_restored_elsewhere_is_the_same_library(tmp_path: Path) -> None:
    server = running_server()
    programs = Path(server.bin_path)
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE kept")
        connection.execute("CREATE DATABASE restored")
    try:
        kept = await open_store(uri("kept"), model="m")
        put = await kept.put_page(draft("https://a.example/", "heron", "egret"))
        chunks = await kept.chunks_of_page(put.source_id)
        vectors = {chunk.chunk_id: np.array([1.0, chunk.ordinal], np.float32) for chunk in chunks}
        await kept.put_vectors(vectors, model="m")
        await kept.aclose()

        dump = tmp_path / "citewell.dump"
        for command in (
            [programs / "pg_dump", "--format=custom", f"--file={dump}", uri("kept")],
            [programs / "pg_restore", f"--dbname={uri('restored')}", dump],
        ):
            await anyio.run_process([str(part) for part in command], check=True)

        restored = await open_store(uri("restored"), model="m")
        found = await restored.search_words(["heron"], where=SearchFilter(), limit=5)
        near = await restored.search_vectors(
            np.array([1.0, 0.0], np.float32), model="m", where=SearchFilter(), limit=1
        )
        later = await restored.put_page(draft("https://a.example/later", "owl"))
        await restored.aclose()
    finally:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("DROP DATABASE kept WITH (FORCE)")
            connection.execute("DROP DATABASE restored WITH (FORCE)")

    assert [hit.chunk_id for hit in found] == [hit.chunk_id for hit in near]
    assert later.source_id > put.source_id


def uri(database: str) -> str:
    return str(running_server().get_uri(database=database))
