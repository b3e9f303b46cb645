"""Limits of CPU time that a hostile input must not reach."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio

# Of the inputs here, none takes half a second alone; a quadratic one takes minutes.
CPU_SECONDS = 4.0
# In CPU time of the loop's own thread, so that other work on the machine does not count.
_LONGEST_STEP_SECONDS = 0.1


@contextmanager
def little_cpu() -> Iterator[None]:
    """Fail when more CPU is used than a moment's: other work on the machine hardly counts."""
    before = time.process_time()
    yield
    assert time.process_time() - before < CPU_SECONDS


@asynccontextmanager
async def short_steps(
    longest_seconds: float = _LONGEST_STEP_SECONDS,
) -> AsyncIterator[None]:
    """Fail when the event loop does one thing for so long that its other callers notice."""
    longest = 0.0

    async def beat() -> None:
        nonlocal longest
        while True:
            before = time.thread_time()
            try:
                await anyio.sleep(0.001)
            finally:
                longest = max(longest, time.thread_time() - before)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(beat)
        yield
        tasks.cancel_scope.cancel()

    assert longest < longest_seconds, f"a step of the event loop took {longest:.2f} s"
