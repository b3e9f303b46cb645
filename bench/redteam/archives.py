"""Archives made to break `citewell import`: each is refused in one line, or taken in unharmed.

Whole files go through the command, whose memory and time are measured; records with one wrong value
go into a store of each kind, which must hold nothing afterwards that it cannot give back.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.redteam.archive_files import PAGE, bombs, broken_files, write_library, wrong_records
from bench.redteam.attempt import Attempt, is_quick
from tests.e2e.processes import environment
from tests.store.backends import empty_store

from citewell.core.errors import ArchiveRefused, CitewellError
from citewell.core.records import SearchFilter
from citewell.ingest.archive.read import import_archive

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.store.protocol import Store

NAME = "archives"
_BACKENDS = ("sqlite-file", "postgres")
_MAX_MEMORY_BYTES = 1_000_000_000
_MAX_SECONDS = 120
_MAX_LINES = 2

_ANNOUNCED = "citewell: making a new library"


async def attack() -> AsyncIterator[Attempt]:
    """Import every file and every record."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for what, path in broken_files(folder):
            yield _import_by_command(what, path, folder)
        if not is_quick():
            for what, path in bombs(folder):
                yield _import_by_command(what, path, folder)
        for backend in _BACKENDS:
            async with _opened(backend, folder) as store:
                for what, records in wrong_records():
                    path = write_library(folder / "records.zip", **records)
                    yield await _import_records(f"{backend}: {what}", path, store)


def _import_by_command(what: str, path: Path, folder: Path) -> Attempt:
    started = time.monotonic()
    with (folder / "stderr").open("w+") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "citewell", "import", str(path)],
            env=environment(folder, CITEWELL_EMBEDDER="none"),
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            preexec_fn=_limit_memory,
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        stderr.seek(0)
        # The first command of a folder announces the library that it makes.
        said = [line for line in stderr.read().splitlines() if not line.startswith(_ANNOUNCED)]
    seconds, memory = time.monotonic() - started, usage.ru_maxrss * 1024
    # The error, and what to do about it.
    is_clear = process.returncode == 1 and 1 <= len(said) <= _MAX_LINES
    return Attempt(
        what=what,
        held=is_clear and seconds < _MAX_SECONDS and memory < _MAX_MEMORY_BYTES,
        outcome=f"exit {process.returncode}, {seconds:.0f} s, {memory / 1e6:.0f} MB: {said}",
    )


def _limit_memory() -> None:
    # What gets through must not take the machine with it.
    resource.setrlimit(resource.RLIMIT_AS, (4 * _MAX_MEMORY_BYTES,) * 2)


@asynccontextmanager
async def _opened(backend: str, folder: Path) -> AsyncIterator[Store]:
    async with empty_store(backend, folder) as store:
        await import_archive(write_library(folder / "right.zip"), store=store, project="right")
        yield store


async def _import_records(what: str, path: Path, store: Store) -> Attempt:
    try:
        await import_archive(path, store=store, project="wrong", response_max_bytes=10_000)
        outcome, held = "taken in", True
    except ArchiveRefused as error:
        outcome, held = error.message, "\n" not in error.message
    except CitewellError as error:
        outcome, held = f"{type(error).__name__}: {error.message}", False
    try:
        for info in await store.list_pages(SearchFilter(project="wrong"), limit=10):
            page = await store.get_page(info.source_id)
            assert page is not None
            assert await store.chunks_of_page(info.source_id) is not None
            await store.delete_page(info.source_id)
        assert await store.find_page(PAGE["url"], project="right")
    except CitewellError as error:
        outcome, held = f"what was taken in cannot be read: {error.message}", False
    return Attempt(what=what, held=held, outcome=outcome)
