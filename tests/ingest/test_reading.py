"""Reading pages in other processes, and what happens when such a process ends."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import anyio
import pytest
from tests.ingest.fetched import fetched
from tests.process_tree import processes_below

from citewell.core.errors import EmptyPage, ExtractionError
from citewell.ingest.reading import PageReader, read_page
from citewell.ingest.site_learning import Repeats
from citewell.web.sandbox import MEMORY_BYTES, Sandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from citewell.core.records import FetchedPage
    from citewell.ingest.packed_page import ReadPage

pytestmark = pytest.mark.anyio


def read_or_end_process(page: FetchedPage, repeats: Repeats) -> ReadPage:
    if "deadly" in page.text:
        os.kill(os.getpid(), signal.SIGKILL)
    return read_page(page, repeats)


def read_for_ever(page: FetchedPage, repeats: Repeats) -> ReadPage:
    while "endless" in page.text:
        pass
    return read_page(page, repeats)


def read_into_memory(page: FetchedPage, repeats: Repeats) -> ReadPage:
    if "huge" in page.text:
        bytearray(3 * 1024**3)
    return read_page(page, repeats)


async def wait_for_processes(count: int, *, beside: set[int]) -> None:
    with anyio.fail_after(60):
        while len(set(processes_below()) - beside) != count:  # noqa: ASYNC110 - no event announces it
            await anyio.sleep(0.01)


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    sandbox = Sandbox(preload=("citewell.ingest.reading",), cpu_seconds=1)
    yield sandbox
    await sandbox.aclose()


@pytest.mark.parametrize(
    ("read", "problem"),
    [
        (read_or_end_process, "ends the process that reads it"),
        (read_for_ever, "took more than 1 seconds"),
    ],
)
async def test_a_page_that_cannot_be_read_fails_and_others_are_read(
    read: Callable[[FetchedPage, Repeats], ReadPage], problem: str, sandbox: Sandbox
) -> None:
    reader = PageReader(sandbox, read)

    with pytest.raises(ExtractionError, match=problem):
        await reader.read(fetched("<p>A deadly, endless page.</p>"))
    extracted, _, _ = await reader.read(fetched("<p>A harmless page.</p>"))

    assert extracted.text == "A harmless page.\n"


async def test_a_page_that_takes_too_much_memory_fails(sandbox: Sandbox) -> None:
    with pytest.raises(ExtractionError, match="more than 2048 MB of memory"):
        await PageReader(sandbox, read_into_memory).read(fetched("<p>A huge page.</p>"))


async def test_a_caller_who_gives_up_ends_the_process() -> None:
    others = set(processes_below())
    patient = Sandbox(memory_bytes=MEMORY_BYTES - 3, cpu_seconds=600)
    reader = PageReader(patient, read_for_ever)

    with pytest.raises(TimeoutError), anyio.fail_after(1):
        await reader.read(fetched("<p>An endless page.</p>"))

    # The process that forks the next one stays.
    await wait_for_processes(1, beside=others)
    await patient.aclose()


async def test_closing_ends_what_is_still_running() -> None:
    others = set(processes_below())
    # A limit of its own, so that no other test has started the process that forks.
    sandbox = Sandbox(memory_bytes=MEMORY_BYTES - 1)

    async def read_in_vain() -> None:
        with pytest.raises(ExtractionError):
            await PageReader(sandbox, read_for_ever).read(fetched("<p>An endless page.</p>"))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read_in_vain)
        await wait_for_processes(2, beside=others)
        await sandbox.aclose()

    await wait_for_processes(1, beside=others)


async def test_what_is_imported_for_one_sandbox_serves_the_next() -> None:
    others = set(processes_below())
    page = fetched("<p>A harmless page.</p>")

    for _ in range(2):
        sandbox = Sandbox(memory_bytes=MEMORY_BYTES - 2)
        await PageReader(sandbox).read(page)
        await sandbox.aclose()

    await wait_for_processes(1, beside=others)


async def test_what_reading_refuses_is_raised_as_it_is_in_one_process(sandbox: Sandbox) -> None:
    with pytest.raises(EmptyPage, match="no readable text") as caught:
        await PageReader(sandbox).read(fetched("<p></p>"))

    assert caught.value.suggestion == EmptyPage.suggestion


async def test_a_page_is_the_same_wherever_it_is_read(sandbox: Sandbox) -> None:
    page = fetched("<main><h1>Herons</h1><p>They <a href=/w>wade</a> in rivers.</p></main>")

    assert await PageReader(sandbox).read(page) == read_page(page)
