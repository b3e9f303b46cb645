"""Keeps the load on each host low: few requests at once, and a pause between them."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# Some sites ask for minutes between pages; a caller who waits for an answer cannot.
MAX_DELAY_SECONDS = 30.0
_MAX_HOSTS = 1_000


@dataclass(slots=True)
class _Host:
    turns: anyio.Semaphore
    next_start: float = 0.0
    users: int = 0


class HostLimiter:
    """Gives turns: at most `concurrency` at once for a host, `delay_seconds` between two starts."""

    def __init__(self, *, concurrency: int, delay_seconds: float = 0.0) -> None:
        self._concurrency = concurrency
        self._delay_seconds = delay_seconds
        self._hosts: OrderedDict[str, _Host] = OrderedDict()

    @asynccontextmanager
    async def turn(self, host: str, *, delay_seconds: float | None = None) -> AsyncIterator[None]:
        """Wait for a turn on `host` and hold it; the larger of the two delays counts."""
        state = self._state_of(host)
        state.users += 1
        try:
            async with state.turns:
                await self._wait_for_start(state, max(self._delay_seconds, delay_seconds or 0.0))
                yield
        finally:
            state.users -= 1

    async def _wait_for_start(self, state: _Host, delay_seconds: float) -> None:
        start = max(anyio.current_time(), state.next_start)
        # Taken before the wait, so that the next in line waits for the start after this one.
        state.next_start = start + min(delay_seconds, MAX_DELAY_SECONDS)
        await anyio.sleep_until(start)

    def _state_of(self, host: str) -> _Host:
        if host not in self._hosts:
            self._drop_unused()
            self._hosts[host] = _Host(turns=anyio.Semaphore(self._concurrency))
        self._hosts.move_to_end(host)
        return self._hosts[host]

    def _drop_unused(self) -> None:
        now = anyio.current_time()
        while len(self._hosts) >= _MAX_HOSTS:
            oldest = next(iter(self._hosts.values()))
            if oldest.users or oldest.next_start > now:
                return
            self._hosts.popitem(last=False)
