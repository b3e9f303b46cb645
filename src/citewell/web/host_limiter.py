"""Keeps the load on each host low: few requests at once, and a pause between them."""

from __future__ import annotations

import logging
from collections import OrderedDict
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import anyio

from citewell.core.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AbstractAsyncContextManager

logger = logging.getLogger(__name__)

# Some sites ask for minutes between pages; a caller who waits for an answer cannot.
MAX_DELAY_SECONDS = 30.0
_MAX_HOSTS = 1_000


class SharedTurns(Protocol):
    """Turns that many processes take together; each method may raise StoreError."""

    async def reserve_start(self, host: str, *, delay_seconds: float) -> float:
        """Return how many seconds from now a request may start; the next one is so much later."""

    def hold_slot(self, host: str, *, limit: int) -> AbstractAsyncContextManager[None]:
        """Wait for one of the host's `limit` slots and hold it while inside."""


@dataclass(slots=True)
class _Host:
    turns: anyio.Semaphore
    next_start: float = 0.0
    users: int = 0


class HostLimiter:
    """Gives turns: at most `concurrency` at once for a host, `delay_seconds` between two starts.

    With `shared` that holds for all processes together; when it fails, for this one alone.
    """

    def __init__(
        self, *, concurrency: int, delay_seconds: float = 0.0, shared: SharedTurns | None = None
    ) -> None:
        self._concurrency = concurrency
        self._delay_seconds = delay_seconds
        self._shared = shared
        self._hosts: OrderedDict[str, _Host] = OrderedDict()

    @asynccontextmanager
    async def turn(self, host: str, *, delay_seconds: float | None = None) -> AsyncIterator[None]:
        """Wait for a turn on `host` and hold it; the larger of the two delays counts."""
        state = self._state_of(host)
        state.users += 1
        try:
            async with state.turns, AsyncExitStack() as stack:
                await self._share_slot(host, stack)
                delay = min(max(self._delay_seconds, delay_seconds or 0.0), MAX_DELAY_SECONDS)
                await self._wait_for_start(host, state, delay)
                yield
        finally:
            state.users -= 1

    async def _share_slot(self, host: str, stack: AsyncExitStack) -> None:
        if self._shared is None:
            return
        try:
            slot = self._shared.hold_slot(host, limit=self._concurrency)
            await stack.enter_async_context(slot)
        except StoreError as error:
            logger.warning("turns on %s are not shared: %s", host, error.message)

    async def _wait_for_start(self, host: str, state: _Host, delay_seconds: float) -> None:
        start = max(anyio.current_time(), state.next_start)
        # Taken before the wait, so that the next in line waits for the start after this one.
        state.next_start = start + delay_seconds
        if self._shared is not None and delay_seconds > 0:
            try:
                wait = await self._shared.reserve_start(host, delay_seconds=delay_seconds)
                start = max(start, anyio.current_time() + wait)
            except StoreError as error:
                logger.warning("pauses of %s are not shared: %s", host, error.message)
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
