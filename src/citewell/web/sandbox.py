"""Processes that read foreign bytes, so that none of them can hold up or bring down this one.

A worker is a Python that has imported what reading needs. It has a limit on memory and, for each
piece of work, one on CPU time that fits its size; when its caller gives up, it is killed. One is
kept warm. Work that is large, or is not done in half a second, has workers of its own, so that
whoever wants a small page read does not wait for it.
"""

from __future__ import annotations

import logging
import marshal
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import anyio
from anyio import to_thread

from citewell.core.error_kinds import error_of_kind
from citewell.core.errors import ExtractionError
from citewell.web import sandbox_process

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
_QUICK_BYTES = 100_000
_QUICK_CPU_SECONDS = 0.5
_SLOW_NICENESS = 5
MEMORY_BYTES = 2 * 1024**3
# The system kills a worker when others have filled the memory, so being killed once says little;
# a worker that fails by itself would fail again.
_ATTEMPTS = 2
_IDLE_SECONDS = 60.0
_PIECE_BYTES = 1 << 20
_LENGTH = struct.Struct("!Q")


class Sandbox:
    """Runs functions in worker processes; use it as an async context manager or close it.

    `preload` names modules that a worker imports before there is work.
    """

    def __init__(
        self,
        *,
        preload: tuple[str, ...] = (),
        workers: int | None = None,
        cpu_seconds: int = CPU_SECONDS,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self._cpu_seconds = cpu_seconds
        self._memory_bytes = memory_bytes
        places = workers or max(os.cpu_count() or 1, 2)
        greeting = (sys.path, preload, memory_bytes)
        self._quick = _Lane(marshal.dumps((*greeting, 0)), places)
        self._slow = _Lane(marshal.dumps((*greeting, _SLOW_NICENESS)), places)
        self._threads = anyio.CapacityLimiter(2 * places)
        self._is_closed = False

    def warm_up(self) -> None:
        """Have a worker ready; returns before it is."""
        if not self._quick.idle and not self._is_closed:
            self._quick.idle.append(_Worker(self._quick.greeting))

    async def aclose(self) -> None:
        """End the workers; whatever they are doing is lost."""
        self._is_closed = True
        for worker in (*self._quick.idle, *self._slow.idle):
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
        fitting = _BASE_CPU_SECONDS + _CPU_SECONDS_PER_MEGABYTE * len(request) / 1e6
        cpu_seconds = min(fitting, self._cpu_seconds)
        answer = None
        if len(request) <= _QUICK_BYTES:
            # Starting again costs little; going on would hold up all who wait for a place.
            answer = await self._try(request, _QUICK_CPU_SECONDS, self._quick)
        if answer is None:
            answer = await self._try(request, cpu_seconds, self._slow)
        if answer is None:
            raise ExtractionError(f"reading the page took more than {cpu_seconds:.0f} seconds")
        value: T = self._value_of(answer)
        return value

    async def _try(self, request: bytes, cpu_seconds: float, lane: _Lane) -> _Answer | None:
        """Return the answer; None where it takes longer.

        Raises:
            ExtractionError: the worker ended for another reason.
        """
        async with lane.places:
            for _ in range(_ATTEMPTS):
                worker = lane.idle.pop() if lane.idle else None
                if worker is None or worker.has_ended:
                    worker = await to_thread.run_sync(_Worker, lane.greeting)
                # CPU time passes more slowly than time itself where the machine is busy.
                with anyio.move_on_after(4 * cpu_seconds + 30) as patience:
                    answer = await self._ask(worker, request, cpu_seconds, lane)
                if patience.cancelled_caught:
                    return None
                if answer is not None or worker.was_ended_by(sandbox_process.CPU_LIMIT_SIGNAL):
                    return answer
                logger.warning("a process that was reading a page broke")
                if not worker.was_ended_by(signal.SIGKILL):
                    break
        raise ExtractionError("the page ends the process that reads it")

    async def _ask(
        self, worker: _Worker, request: bytes, cpu_seconds: float, lane: _Lane
    ) -> _Answer | None:
        answer = None
        try:
            answer = await to_thread.run_sync(
                worker.exchange, request, cpu_seconds, abandon_on_cancel=True, limiter=self._threads
            )
        finally:
            if answer is not None and not answer.is_last and not self._is_closed:
                lane.keep(worker)
            else:
                worker.kill()
        return answer

    def _value_of(self, answer: _Answer) -> Any:  # noqa: ANN401 - as the function returned it
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
            limit = self._memory_bytes // 1024**2
            raise ExtractionError(f"reading the page takes more than {limit} MB of memory")
        logger.error("a page could not be read:\n%s", values[0])
        raise ExtractionError("an unexpected fault while the page was read; the log has it")


class _Lane:
    """Some workers that start with the same greeting, and the places for those that are busy."""

    def __init__(self, greeting: bytes, places: int) -> None:
        self.greeting = greeting
        self.places = anyio.CapacityLimiter(places)
        self.idle: list[_Worker] = []

    def keep(self, worker: _Worker) -> None:
        worker.idle_since = time.monotonic()
        self.idle.append(worker)
        while len(self.idle) > 1 and worker.idle_since - self.idle[0].idle_since > _IDLE_SECONDS:
            self.idle.pop(0).kill()


class _Answer(NamedTuple):
    """What a worker answered."""

    is_last: bool
    """The worker has ended after it."""
    status: str
    values: tuple[Any, ...]


class _Worker:
    """One process, and the pipes to it."""

    def __init__(self, greeting: bytes) -> None:
        self.idle_since = time.monotonic()
        self._is_killed = False
        # Without our environment: a page that takes a parser over finds no keys there.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", sandbox_process.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={},
        )
        self._exchanging = threading.Lock()
        self._send(greeting)

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def was_ended_by(self, number: signal.Signals) -> bool:
        return self._process.returncode == -number

    def exchange(self, request: bytes, cpu_seconds: float) -> _Answer | None:
        """Return the answer to a request; None where the process has ended."""
        with self._exchanging:
            try:
                self._send(marshal.dumps(cpu_seconds))
                self._send(request)
                header = self._receive(_LENGTH.size)
                answer = self._receive(_LENGTH.unpack(header)[0]) if header else None
            except OSError:
                answer = None
            if answer is None:
                self._process.wait()
                return None
        # Millions of values may be made of it, so it is done in this thread.
        status, *values = marshal.loads(memoryview(answer)[1:])
        return _Answer(answer[:1] == sandbox_process.LAST, status, tuple(values))

    def kill(self) -> None:
        """End the process; whoever waits for its answer gets None."""
        self._is_killed = True
        self._process.kill()
        # The system takes its time to give a gigabyte back: nobody waits for that.
        threading.Thread(target=self._clear_up, name="sandbox-clear-up").start()

    def _clear_up(self) -> None:
        self._process.wait()
        # A thread may still be at the pipes; now that they lead nowhere, it is done in no time.
        with self._exchanging:
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()

    def __del__(self) -> None:
        if hasattr(self, "_process") and not self._is_killed:
            self._process.kill()
            self._clear_up()

    def _send(self, frame: bytes) -> None:
        assert self._process.stdin is not None
        rest = memoryview(_LENGTH.pack(len(frame)) + frame)
        while rest:
            rest = rest[self._process.stdin.write(rest) :]

    def _receive(self, length: int) -> bytes | None:
        """Return so many bytes; None where there are fewer."""
        assert self._process.stdout is not None
        received = bytearray()
        while len(received) < length:
            piece = self._process.stdout.read(min(length - len(received), _PIECE_BYTES))
            if not piece:
                return None
            received += piece
        return bytes(received)
