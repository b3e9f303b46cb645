"""Processes that read foreign bytes, so that none of them can hold up or bring down this one.

A worker is a Python that has imported what reading needs. It has a limit on memory and, for each
piece of work, one on CPU time; when its caller gives up, it is killed. One is kept warm.
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

# A page of the largest size that is fetched takes a few seconds, and some hundred megabytes.
CPU_SECONDS = 45
MEMORY_BYTES = 2 * 1024**3
# A worker may be killed for what others do, such as filling the memory: once says little.
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
        self._greeting = marshal.dumps((sys.path, preload, cpu_seconds, memory_bytes))
        self._cpu_seconds = cpu_seconds
        self._memory_bytes = memory_bytes
        self._limiter = anyio.CapacityLimiter(workers or max(os.cpu_count() or 1, 2))
        self._threads = anyio.CapacityLimiter(self._limiter.total_tokens)
        self._idle: list[_Worker] = []
        self._is_closed = False

    def warm_up(self) -> None:
        """Have a worker ready; returns before it is."""
        if not self._idle and not self._is_closed:
            self._idle.append(_Worker(self._greeting))

    async def aclose(self) -> None:
        """End the workers; whatever they are doing is lost."""
        self._is_closed = True
        while self._idle:
            self._idle.pop().kill()

    async def run(self, function: Callable[..., T], *arguments: object) -> T:
        """Return what `function`, which a worker can import, returns: plain data only.

        Cancelling ends the worker. What the function raises on purpose is raised here too.

        Raises:
            ExtractionError: it took too long or too much memory, or ended its worker twice.
        """
        request = pickle.dumps((function, arguments), pickle.HIGHEST_PROTOCOL)
        async with self._limiter:
            for _ in range(_ATTEMPTS):
                answer = await self._ask(request)
                if answer is not None:
                    value: T = self._value_of(answer)
                    return value
                logger.warning("a process that was reading a page broke")
        raise ExtractionError("the page ends the process that reads it")

    async def _ask(self, request: bytes) -> _Answer | None:
        worker = self._idle.pop() if self._idle else None
        if worker is None or worker.has_ended:
            worker = await to_thread.run_sync(_Worker, self._greeting)
        answer = None
        try:
            # CPU time passes more slowly than time itself where the machine is busy.
            with anyio.move_on_after(4 * self._cpu_seconds + 30) as patience:
                answer = await to_thread.run_sync(
                    worker.exchange, request, abandon_on_cancel=True, limiter=self._threads
                )
        finally:
            if answer is not None and not answer.is_last and not self._is_closed:
                self._keep(worker)
            else:
                worker.kill()
        if answer is None and (patience.cancelled_caught or worker.ended_by_cpu_limit):
            raise ExtractionError(f"reading the page took more than {self._cpu_seconds} seconds")
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

    def _keep(self, worker: _Worker) -> None:
        worker.idle_since = time.monotonic()
        self._idle.append(worker)
        while len(self._idle) > 1 and worker.idle_since - self._idle[0].idle_since > _IDLE_SECONDS:
            self._idle.pop(0).kill()


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

    @property
    def ended_by_cpu_limit(self) -> bool:
        return self._process.returncode == -signal.SIGXCPU

    def exchange(self, request: bytes) -> _Answer | None:
        """Return the answer to a request; None where the process has ended."""
        with self._exchanging:
            try:
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
