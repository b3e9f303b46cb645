from __future__ import annotations

import anyio
import pytest

from citewell.web.host_limiter import MAX_DELAY_SECONDS, HostLimiter

pytestmark = pytest.mark.anyio


async def starts(
    limiter: HostLimiter, *hosts: str, delay_seconds: float | None = None
) -> list[float]:
    begun: list[float] = []

    async def visit(host: str) -> None:
        async with limiter.turn(host, delay_seconds=delay_seconds):
            begun.append(anyio.current_time())

    async with anyio.create_task_group() as tasks:
        for host in hosts:
            tasks.start_soon(visit, host)
    return [start - begun[0] for start in begun]


async def test_only_so_many_are_on_a_host_at_once() -> None:
    limiter = HostLimiter(concurrency=2)
    present = most = 0

    async def visit() -> None:
        nonlocal present, most
        async with limiter.turn("heron.test"):
            present += 1
            most = max(most, present)
            await anyio.lowlevel.checkpoint()
            present -= 1

    async with anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(visit)

    assert most == 2


async def test_two_visits_to_a_host_start_apart() -> None:
    first, second, third = await starts(HostLimiter(concurrency=4, delay_seconds=0.1), *["a"] * 3)

    assert second - first >= 0.09
    assert third - second >= 0.09


async def test_other_hosts_do_not_wait() -> None:
    assert max(await starts(HostLimiter(concurrency=1, delay_seconds=20), "a", "b", "c")) < 5


async def test_a_site_may_ask_for_a_longer_pause_but_not_for_any() -> None:
    limiter = HostLimiter(concurrency=1)
    async with limiter.turn("a", delay_seconds=0.2):
        started = anyio.current_time()
    async with limiter.turn("a", delay_seconds=10_000):
        assert anyio.current_time() - started >= 0.19

    with anyio.move_on_after(0.05) as waiting:
        async with limiter.turn("a"):
            pass

    assert waiting.cancelled_caught
    assert MAX_DELAY_SECONDS == 30


async def test_a_visitor_that_gives_up_does_not_keep_its_place() -> None:
    limiter = HostLimiter(concurrency=1)
    async with limiter.turn("a"):
        with anyio.move_on_after(0.02) as impatient:
            async with limiter.turn("a"):
                pass

    with anyio.fail_after(60):
        async with limiter.turn("a"):
            assert impatient.cancelled_caught
