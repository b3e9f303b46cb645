"""The workers of a sandbox as seen by the process that gives them work."""

from __future__ import annotations

import marshal
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from citewell.web import sandbox_process as process

if TYPE_CHECKING:
    from collections.abc import Sequence


class Answer(NamedTuple):
    """What a worker answered."""

    is_last: bool
    """The worker has ended after it."""
    status: str
    values: tuple[Any, ...]


@cache
def shared_nursery(preload: tuple[str, ...], memory_bytes: int) -> Nursery:
    """Return the process that forks the workers of every sandbox with these limits.

    It lives as long as this process: importing what reading pages needs takes 0.4 s.
    """
    return Nursery(preload, memory_bytes)


class Nursery:
    """The process that forks workers; started on first use, and again if it has ended.

    It ends, with its workers, when the process that started it does.
    """

    def __init__(self, preload: Sequence[str], memory_bytes: int) -> None:
        self._greeting = marshal.dumps((sys.path, tuple(preload), memory_bytes))
        self._starting = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def fork(self, niceness: int) -> Worker:
        """Return a worker; returns before it is ready."""
        ours, theirs = socket.socketpair()
        worker = Worker(ours)
        with self._starting, theirs:
            try:
                self._hand_over(theirs, niceness)
            except OSError:
                # The process has ended without being noticed yet; another takes its place.
                if self._process is not None:
                    self._process.kill()
                    self._process.wait()
                self._hand_over(theirs, niceness)
        return worker

    def _hand_over(self, connection: socket.socket, niceness: int) -> None:
        control = self._open_control()
        socket.send_fds(control, [bytes([niceness])], [connection.fileno()])

    def _open_control(self) -> socket.socket:
        if self._process is not None and self._process.poll() is None:
            assert self._control is not None
            return self._control
        if self._control is not None:
            self._control.close()
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-X", "utf8", process.__file__],
                stdin=theirs.fileno(),
                # Without our environment: a page that takes a parser over finds no keys there. A
                # process with threads of its own should not fork.
                env={"OPENBLAS_NUM_THREADS": "1"},
                # So that one signal ends it with its workers.
                process_group=0,
            )
        # Not in `__del__`, which may run when the interpreter has taken its modules apart.
        weakref.finalize(self, _end, self._process, self._control)
        process.send_frame(self._control, self._greeting)
        return self._control


def _end(nursery: subprocess.Popen[bytes], control: socket.socket) -> None:
    """End a process with its workers."""
    if nursery.poll() is None:
        os.killpg(nursery.pid, signal.SIGKILL)
        nursery.wait()
    control.close()


class Worker:
    """The connection to one worker."""

    def __init__(self, connection: socket.socket) -> None:
        self.idle_since = time.monotonic()
        self.exit_code: int | None = None
        """Negative for the signal that ended it; None while it runs."""
        self._connection = connection
        # Not in `__del__`: of a sandbox that nobody closed the socket could be collected first.
        weakref.finalize(self, connection.close)
        self._exchanging = threading.Lock()
        self._is_killed = False

    def exchange(self, request: bytes, cpu_seconds: float) -> Answer | None:
        """Return the answer to a request; None where the worker has ended."""
        try:
            with self._exchanging:
                answer = self._exchange(request, cpu_seconds)
        finally:
            if self._is_killed:
                self._connection.close()
        if answer is None:
            return None
        # Millions of values may be made of it, so it is done in this thread.
        status, *values = marshal.loads(memoryview(answer)[1:])
        return Answer(answer[:1] == process.LAST, status, tuple(values))

    def kill(self) -> None:
        """End the worker; whoever waits for its answer gets None."""
        self._is_killed = True
        if self._exchanging.acquire(blocking=False):
            self._connection.close()
            self._exchanging.release()
            return
        # Wakes the thread that waits for the answer, which then closes the connection; unless the
        # worker has ended before.
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def _exchange(self, request: bytes, cpu_seconds: float) -> bytes | None:
        # A worker that has ended takes nothing, but how it ended can still be received.
        with suppress(OSError):
            process.send_frame(self._connection, marshal.dumps(cpu_seconds))
            process.send_frame(self._connection, request)
        received = process.receive(self._connection, process.LENGTH.size)
        if len(received) == process.LENGTH.size:
            length = process.LENGTH.unpack(received)[0]
            received = process.receive(self._connection, length)
            if len(received) == length:
                return received
        last = received[-process.EXIT_CODE.size :]
        is_whole = len(last) == process.EXIT_CODE.size
        self.exit_code = process.EXIT_CODE.unpack(last)[0] if is_whole else -signal.SIGKILL
        return None
