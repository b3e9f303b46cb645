"""Processes that read foreign bytes, so that none of them can hold up or bring down this one.

A worker has a limit on memory and, for each piece of work, one on CPU time that fits its size; when
its caller gives up, it is killed. Another one is forked in milliseconds, from a process that has
imported what reading needs.

Work is done in two lanes. What is small starts in the quick lane, where it has a fraction of a
second. What is large, or is not done by then, goes to the slow lane, whose workers have a lower
priority. In both, the places are shared fairly between callers, and none can take them all: who
wants a page read does not wait for the slow documents of another.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import time
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from anyio import to_thread

from citewell.core.error_kinds import error_of_kind
from citewell.core.errors import ExtractionError
from citewell.core.fair_turns import FairTurns
from citewell.web import sandbox_process
from citewell.web.sandbox_worker import Answer, Worker, shared_nursery

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

T = TypeVar("T")

# A manual as PDF takes 5 to 10 seconds a megabyte, one of 2,000 pages 45 seconds; a table as HTML
# takes 2 seconds a megabyte.
CPU_SECONDS = 90
_BASE_CPU_SECONDS = 5.0
_CPU_SECONDS_PER_MEGABYTE = 20.0
# Of what is up to so large, nearly all is read in so short a time.
QUICK_BYTES = 100_000
QUICK_CPU_SECONDS = 0.2
SLOW_NICENESS = 10
MEMORY_BYTES = 2 * 1024**3
# The system kills a worker when others have filled the memory, so being killed once says little;
# a worker that fails by itself would fail again.
ATTEMPTS = 2
_IDLE_SECONDS = 60.0


class Sandbox:
    """Runs functions in worker processes; use it as an async context manager or close it.

    `preload` names modules that are imported before there is work. One caller has at most `workers`
    in each lane.
    """

    def __init__(
        self,
        *,
        preload: tuple[str, ...] = (),
        workers: int | None = None,
        cpu_seconds: float = CPU_SECONDS,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self._cpu_seconds = cpu_seconds
        self._memory_bytes = memory_bytes
        places = workers or max(os.cpu_count() or 1, 2)
        self._nursery = shared_nursery(preload, memory_bytes)
        self._quick = _Lane(2 * places, most_of_one=places, niceness=0)
        self._slow = _Lane(2 * places, most_of_one=places, niceness=SLOW_NICENESS)
        self._threads = anyio.CapacityLimiter(4 * places)
        self._busy: set[Worker] = set()
        self._is_closed = False

    def warm_up(self) -> None:
        """Have a worker ready; returns before it is."""
        if not self._quick.idle and not self._is_closed:
            self._quick.idle.append(self._nursery.fork(self._quick.niceness))

    async def aclose(self) -> None:
        """End the workers; whatever they are doing is lost."""
        self._is_closed = True
        for worker in (*self._quick.idle, *self._slow.idle, *self._busy):
            worker.kill()
        self._quick.idle.clear()
        self._slow.idle.clear()

    async def run(self, function: Callable[..., T], *arguments: object) -> T:
        """Return what `function`, which a worker can import, returns: plain data only.

        Cancelling ends the worker. What the function raises on purpose is raised here too.

        Raises:
            ExtractionError: it took too long or too much memory, or ended its worker.
        """
        request = pickle.dumps((function, arguments), pickle.HIGHEST_PROTOCOL)
        cpu_seconds = min(fitting_cpu_seconds(len(request)), self._cpu_seconds)
        answer = None
        if len(request) <= QUICK_BYTES:
            # Starting again costs little; going on would hold up those who wait for a place.
            answer = await self._try(request, QUICK_CPU_SECONDS, self._quick)
        if answer is None:
            answer = await self._try(request, cpu_seconds, self._slow)
        if answer is None:
            raise ExtractionError(f"reading the page took more than {cpu_seconds:.0f} seconds")
        value: T = value_of(answer, memory_bytes=self._memory_bytes)
        return value

    async def _try(self, request: bytes, cpu_seconds: float, lane: _Lane) -> Answer | None:
        """Return the answer; None where it takes longer.

        Raises:
            ExtractionError: the worker ended for another reason.
        """
        async with lane.turns.turn():
            for _ in range(ATTEMPTS):
                worker = lane.idle.pop() if lane.idle else None
                if worker is None:
                    worker = await to_thread.run_sync(self._nursery.fork, lane.niceness)
                # CPU time passes more slowly than time itself where the machine is busy.
                with anyio.move_on_after(4 * cpu_seconds + 30) as patience:
                    answer = await self._ask(worker, request, cpu_seconds, lane)
                if patience.cancelled_caught:
                    return None
                if answer is not None or worker.exit_code == -sandbox_process.CPU_LIMIT_SIGNAL:
                    return answer
                if self._is_closed:
                    break
                logger.warning("a process that was reading a page broke")
                if worker.exit_code != -signal.SIGKILL:
                    break
        raise ExtractionError("the page ends the process that reads it")

    async def _ask(
        self, worker: Worker, request: bytes, cpu_seconds: float, lane: _Lane
    ) -> Answer | None:
        answer = None
        self._busy.add(worker)
        try:
            answer = await to_thread.run_sync(
                worker.exchange, request, cpu_seconds, abandon_on_cancel=True, limiter=self._threads
            )
        finally:
            self._busy.discard(worker)
            if answer is not None and not answer.is_last and not self._is_closed:
                lane.keep(worker)
            else:
                worker.kill()
        return answer


def fitting_cpu_seconds(size: int) -> float:
    """Return how long reading so many bytes can take."""
    return _BASE_CPU_SECONDS + _CPU_SECONDS_PER_MEGABYTE * size / 1e6


def value_of(answer: Answer, *, memory_bytes: int) -> Any:  # noqa: ANN401 - as the function returned it
    """Return the value of an answer, or raise its error."""
    status, values = answer.status, answer.values
    if status == sandbox_process.DONE:
        return values[0]
    if status == sandbox_process.REFUSED:
        kind, message, suggestion, details = values
        error = error_of_kind(kind, message)
        error.suggestion, error.details = suggestion, details
        raise error
    if status == sandbox_process.NO_MEMORY:
        limit = memory_bytes // 1024**2
        raise ExtractionError(f"reading the page takes more than {limit} MB of memory")
    if status == sandbox_process.TOO_DEEP:
        raise ExtractionError("the page is nested too deeply to be read")
    logger.error("a page could not be read:\n%s", values[0])
    raise ExtractionError("an unexpected fault while the page was read; the log has it")


class _Lane:
    """The places for workers of one priority, and those workers that have nothing to do."""

    def __init__(self, places: int, *, most_of_one: int, niceness: int) -> None:
        self.turns = FairTurns(places, most_of_one=most_of_one)
        self.niceness = niceness
        self.idle: list[Worker] = []

    def keep(self, worker: Worker) -> None:
        worker.idle_since = time.monotonic()
        self.idle.append(worker)
        while len(self.idle) > 1 and worker.idle_since - self.idle[0].idle_since > _IDLE_SECONDS:
            self.idle.pop(0).kill()
