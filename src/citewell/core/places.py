"""Places at work that computes: calls take one for each step, and queue for it when all are taken.

What a newcomer would wait can be read from the queue: how many wait, times how long a call holds
places in all, shared by the places that are taken (Little's law). Whoever waits for the network
holds no place and stands in no queue, and what else the machine does makes places be held longer.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakSet

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import TypeVarTuple, Unpack

    Arguments = TypeVarTuple("Arguments")

Result = TypeVar("Result")


@dataclass(slots=True)
class Use:
    """How often a call took a place, and for how long in all."""

    visits: int = 0
    seconds: float = 0.0


_use: ContextVar[Use | None] = ContextVar("use of places", default=None)


class Places:
    """So many threads at a time for one kind of work; the others queue."""

    def __init__(self, count: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._limiter = anyio.CapacityLimiter(count)
        self._clock = clock
        _every.add(self)

    async def run(
        self, function: Callable[[Unpack[Arguments]], Result], *arguments: *Arguments
    ) -> Result:
        """Return what `function` returns in a thread, once there is a place."""
        use = _use.get()
        if use is None:
            return await anyio.to_thread.run_sync(function, *arguments, limiter=self._limiter)

        def run_timed() -> Result:
            began = self._clock()
            try:
                return function(*arguments)
            finally:
                # Two threads of a call may lose a visit here, which changes no decision.
                use.visits += 1
                use.seconds += self._clock() - began

        return await anyio.to_thread.run_sync(run_timed, limiter=self._limiter)

    @property
    def queue(self) -> tuple[int, int]:
        """How many wait for a place, and how many have one."""
        now = self._limiter.statistics()
        return now.tasks_waiting, now.borrowed_tokens


_every: WeakSet[Places] = WeakSet()


@contextmanager
def counting_use() -> Iterator[Use]:
    """Count the places that are taken inside."""
    use = Use()
    token = _use.set(use)
    try:
        yield use
    finally:
        _use.reset(token)


def queue_of_all() -> tuple[int, int]:
    """Return how many wait for a place of any kind in this process, and how many have one."""
    queues = [places.queue for places in _every]
    return sum(waiting for waiting, _ in queues), sum(taken for _, taken in queues)
