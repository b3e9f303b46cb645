"""Calls that a process works on at once, and those that it would keep waiting."""

from __future__ import annotations

import threading
from contextlib import AsyncExitStack

import anyio
import pytest

from citewell.core.errors import Overloaded
from citewell.core.places import Places
from citewell.tools.load import MAX_CALLS, MAX_CALLS_OF_ONE, Load


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def pass_seconds(self, seconds: float) -> None:
        self.now += seconds


async def test_one_caller_leaves_room_for_others() -> None:
    load = Load()

    async with AsyncExitStack() as calls:
        for _ in range(MAX_CALLS_OF_ONE):
            await calls.enter_async_context(load.working("one"))
        with pytest.raises(Overloaded, match="busy with 75 of your own calls"):
            await calls.enter_async_context(load.working("one"))
        for _ in range(MAX_CALLS - MAX_CALLS_OF_ONE):
            await calls.enter_async_context(load.working("another"))
        with pytest.raises(Overloaded, match="busy with 100 calls"):
            await calls.enter_async_context(load.working("another"))
    async with load.working("one"):
        pass


async def test_a_call_that_would_wait_for_long_is_told_when_to_come_again() -> None:
    load, clock = Load(), Clock()
    places = Places(1, clock=clock)
    # A call computes for 90 seconds; one such call moves what is usual to a tenth of it.
    async with load.working("one"):
        await places.run(clock.pass_seconds, 90.0)
    may_end, has_begun = threading.Event(), anyio.Event()

    def compute() -> None:
        anyio.from_thread.run_sync(has_begun.set)
        may_end.wait()

    async def call() -> None:
        async with load.working("one"):
            await places.run(compute)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        await has_begun.wait()
        try:
            # The first of these finds nobody waiting, the second one call, which is 9 seconds.
            for _ in range(2):
                tasks.start_soon(call)
                await _until_queue_stands(places)
            with pytest.raises(Overloaded, match="for which others wait; wait 19 seconds") as told:
                async with load.working("another"):
                    pass
        finally:
            may_end.set()
    assert told.value.details == {"retry_after": 19}
    async with load.working("another"):
        pass


async def test_who_finds_no_place_is_told_when_one_is_likely_to_be_free() -> None:
    clock = Clock()
    load = Load(clock=clock)
    waits = []

    async def try_to_begin() -> None:
        with pytest.raises(Overloaded) as told:
            async with load.working("one"):
                pass
        waits.append(told.value.details["retry_after"])

    async with AsyncExitStack() as calls:
        for _ in range(MAX_CALLS_OF_ONE):
            await calls.enter_async_context(load.working("one"))
        # Nothing is known of such calls: none ended for so long, so none may for as long again.
        for seconds in (0.0, 4.0, 8.0, 600.0):
            clock.pass_seconds(seconds)
            await try_to_begin()
        for _ in range(20):
            # Others come and go, which frees no place of this caller's.
            async with load.working("another"):
                pass
        await try_to_begin()
    assert waits == [1, 4, 12, 60, 60]


async def test_what_calls_usually_take_tells_when_one_will_end() -> None:
    clock = Clock()
    load = Load(clock=clock)
    # A call takes 300 seconds; one such call moves what is usual to a tenth of it.
    async with load.working("one"):
        clock.pass_seconds(300.0)

    async with AsyncExitStack() as calls:
        for _ in range(MAX_CALLS_OF_ONE):
            await calls.enter_async_context(load.working("one"))
        clock.pass_seconds(8.0)
        with pytest.raises(Overloaded, match="75 of your own calls; wait 22 seconds"):
            async with load.working("one"):
                pass


async def test_calls_that_wait_for_something_else_keep_nobody_out() -> None:
    load, clock = Load(), Clock()
    places = Places(1, clock=clock)
    async with load.working("one"):
        await places.run(clock.pass_seconds, 1_000.0)
    page_is_there = anyio.Event()
    waiting = 0

    async def call() -> None:
        nonlocal waiting
        async with load.working("one"):
            waiting += 1
            await page_is_there.wait()

    async with anyio.create_task_group() as tasks:
        for _ in range(MAX_CALLS_OF_ONE - 1):
            tasks.start_soon(call)
        await anyio.wait_all_tasks_blocked()
        async with load.working("one"):
            assert waiting == MAX_CALLS_OF_ONE - 1
        page_is_there.set()


async def _until_queue_stands(places: Places) -> None:
    before = places.queue[0]
    while places.queue[0] == before:
        await anyio.lowlevel.checkpoint()
