"""A sandbox for code that waits in a thread, or where there is no event loop."""

from __future__ import annotations

import logging
import pickle
import signal
import threading
from typing import TYPE_CHECKING, TypeVar

from citewell.core.errors import ExtractionError
from citewell.web.sandbox import (
    ATTEMPTS,
    CPU_SECONDS,
    MEMORY_BYTES,
    QUICK_BYTES,
    QUICK_CPU_SECONDS,
    SLOW_NICENESS,
    fitting_cpu_seconds,
    value_of,
)
from citewell.web.sandbox_process import CPU_LIMIT_SIGNAL
from citewell.web.sandbox_worker import shared_nursery

if TYPE_CHECKING:
    from collections.abc import Callable

    from citewell.web.sandbox_worker import Answer, Worker

logger = logging.getLogger(__name__)

T = TypeVar("T")

_PLACES = 2


class BlockingSandbox:
    """Runs functions in worker processes with the limits of a Sandbox; safe to use from threads.

    `preload` names modules that are imported before there is work.
    """

    def __init__(
        self,
        *,
        preload: tuple[str, ...] = (),
        cpu_seconds: float = CPU_SECONDS,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self._cpu_seconds = cpu_seconds
        self._memory_bytes = memory_bytes
        self._nursery = shared_nursery(preload, memory_bytes)
        self._quick = _Lane(niceness=0, most_idle=1)
        # Its workers have grown; their memory is given back.
        self._slow = _Lane(niceness=SLOW_NICENESS, most_idle=0)

    def run(self, size: int, function: Callable[..., T], *arguments: object) -> T:
        """Return what `function`, which a worker can import, makes of a document of `size` bytes.

        It returns plain data only. What it raises on purpose is raised here too.

        Raises:
            ExtractionError: it took too long or too much memory, or ended its worker.
        """
        request = pickle.dumps((function, arguments), pickle.HIGHEST_PROTOCOL)
        cpu_seconds = min(fitting_cpu_seconds(size), self._cpu_seconds)
        answer = None
        if size <= QUICK_BYTES:
            answer = self._try(request, min(QUICK_CPU_SECONDS, cpu_seconds), self._quick)
        if answer is None:
            answer = self._try(request, cpu_seconds, self._slow)
        if answer is None:
            raise ExtractionError(f"reading the page took more than {cpu_seconds:.0f} seconds")
        value: T = value_of(answer, memory_bytes=self._memory_bytes)
        return value

    def _try(self, request: bytes, cpu_seconds: float, lane: _Lane) -> Answer | None:
        """Return the answer; None where it takes longer.

        Raises:
            ExtractionError: the worker ended for another reason.
        """
        with lane.places:
            for _ in range(ATTEMPTS):
                worker = lane.take() or self._nursery.fork(lane.niceness)
                answer = worker.exchange(request, cpu_seconds)
                if answer is None or answer.is_last or not lane.keep(worker):
                    worker.kill()
                if answer is not None or worker.exit_code == -CPU_LIMIT_SIGNAL:
                    return answer
                logger.warning("a process that was reading a page broke")
                if worker.exit_code != -signal.SIGKILL:
                    break
        raise ExtractionError("the page ends the process that reads it")


class _Lane:
    """The places for workers of one priority, and those workers that have nothing to do."""

    def __init__(self, *, niceness: int, most_idle: int) -> None:
        self.places = threading.BoundedSemaphore(_PLACES)
        self.niceness = niceness
        self._most_idle = most_idle
        self._idle: list[Worker] = []
        self._lock = threading.Lock()

    def take(self) -> Worker | None:
        """Return a worker that has nothing to do, if there is one."""
        with self._lock:
            return self._idle.pop() if self._idle else None

    def keep(self, worker: Worker) -> bool:
        """Keep a worker for later; return False if there are enough."""
        with self._lock:
            if len(self._idle) >= self._most_idle:
                return False
            self._idle.append(worker)
            return True
