"""The program behind a sandbox: a process that imports once, and forks a worker on request.

The parent of the workers never meets foreign bytes, so a worker that is killed can be replaced in
milliseconds. It is run as a file, and imports nothing from the package before it knows the
package's path.
"""

from __future__ import annotations

import gc
import marshal
import os
import pickle
import resource
import select
import signal
import socket
import struct
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path

# The first byte of an answer: whether the worker goes on, or ends to give its memory back.
MORE, LAST = b"m", b"l"
DONE, REFUSED, NO_MEMORY, TOO_DEEP, BROKEN = "done", "refused", "no memory", "too deep", "broken"
# What is freed is kept for the next page; so much of it is given back instead.
_MAX_RESIDENT_BYTES = 300 * 1024**2
# What ends a worker whose time is over: unlike that of a resource limit, its clock knows fractions
# of a second.
CPU_LIMIT_SIGNAL = signal.SIGPROF
_PIECE_BYTES = 1 << 20
LENGTH = struct.Struct("!Q")
EXIT_CODE = struct.Struct("!i")
"""The last bytes of a connection to a worker; negative for the signal that ended it."""


def main() -> None:
    """Fork a worker for every connection that arrives on the standard input."""
    control = socket.socket(fileno=0)
    # What a library prints goes to the log.
    os.dup2(2, 1)
    greeting = receive_frame(control)
    if greeting is None:
        return
    path, preload, memory_bytes = marshal.loads(greeting)
    sys.path[:] = path
    for name in preload:
        import_module(name)
    gc.freeze()
    _Nursery(control, memory_bytes).run()


class _Nursery:
    """The workers that were forked and have not ended, with their connections."""

    def __init__(self, control: socket.socket, memory_bytes: int) -> None:
        self._control = control
        self._memory_bytes = memory_bytes
        self._workers: dict[int, socket.socket | None] = {}
        self._ended, ended_writer = socket.socketpair()
        self._own = (control, self._ended, ended_writer)
        for end in (self._ended, ended_writer):
            end.setblocking(False)
        signal.set_wakeup_fd(ended_writer.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)

    def run(self) -> None:
        """Fork, kill and reap until the other side is gone; the workers end with it."""
        is_open = True
        while is_open:
            ready = self._wait()
            for pid, connection in self._workers.items():
                if connection is not None and connection.fileno() in ready:
                    os.kill(pid, signal.SIGKILL)
                    connection.close()
                    self._workers[pid] = None
            if self._ended.fileno() in ready:
                self._reap()
            if self._control.fileno() in ready:
                is_open = self._take_request()
        # The workers end after the sockets are closed, and Python would complain on stderr.
        signal.set_wakeup_fd(-1)
        for pid in self._workers:
            os.kill(pid, signal.SIGKILL)

    def _wait(self) -> set[int]:
        """Return what is ready: a request, the end of a worker, connections that were closed."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._ended, select.POLLIN)
        for connection in self._workers.values():
            if connection is not None:
                # Without events, only the end of the connection is reported.
                poll.register(connection, 0)
        return {number for number, _ in poll.poll()}

    def _take_request(self) -> bool:
        niceness, numbers, _, _ = socket.recv_fds(self._control, 1, 1)
        if not niceness:
            return False
        connection = socket.socket(fileno=numbers[0])
        pid = os.fork()
        if pid:
            self._workers[pid] = connection
            return True
        signal.set_wakeup_fd(-1)
        for end in (*self._own, *self._workers.values()):
            if end is not None:
                end.close()
        try:
            _work(connection, niceness[0], self._memory_bytes)
        finally:
            os._exit(0)

    def _reap(self) -> None:
        """Write to the connections of workers that have ended how they did."""
        with suppress(BlockingIOError):
            self._ended.recv(4096)
        while self._workers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            connection = self._workers.pop(pid)
            if connection is None:
                continue
            # Nobody reads it where the connection is closed, or full.
            with connection, suppress(OSError):
                code = EXIT_CODE.pack(os.waitstatus_to_exitcode(status))
                connection.send(code, socket.MSG_DONTWAIT)


def _work(connection: socket.socket, niceness: int, memory_bytes: int) -> None:
    """Answer requests until there are none."""
    # The terminal interrupts all of its processes; this one ends when its requests do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(CPU_LIMIT_SIGNAL, signal.SIG_DFL)
    os.nice(niceness)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Nearly all that reading makes lives until it ends: looking for garbage meanwhile finds none
    # and takes a tenth of the time.
    gc.disable()
    is_last = False
    while not is_last and (limit := receive_frame(connection)) is not None:
        request = receive_frame(connection)
        if request is None:
            return
        answer = _answer(request, marshal.loads(limit))
        signal.setitimer(signal.ITIMER_PROF, 0)
        is_last = _resident_bytes() > _MAX_RESIDENT_BYTES
        connection.sendall(LENGTH.pack(len(answer) + 1) + (LAST if is_last else MORE))
        connection.sendall(answer)
        del request, answer
        gc.collect()


def _answer(request: bytes, cpu_seconds: float) -> bytes:
    try:
        # What the function's module imports is not the page's fault.
        function, arguments = pickle.loads(request)
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
        value = function(*arguments)
        # Named tuples cannot be written as such.
        return marshal.dumps((DONE, tuple(value) if isinstance(value, tuple) else value))
    except MemoryError:
        return marshal.dumps((NO_MEMORY,))
    except RecursionError:
        return marshal.dumps((TOO_DEEP,))
    except Exception as error:  # noqa: BLE001 - the other side of the connection raises or logs it
        if hasattr(error, "suggestion") and hasattr(error, "details"):
            name, details = type(error).__name__, dict(error.details)
            return marshal.dumps((REFUSED, name, str(error), error.suggestion, details))
        return marshal.dumps((BROKEN, traceback.format_exc(limit=-12)))


def _resident_bytes() -> int:
    try:
        pages = Path("/proc/self/statm").read_text("ascii").split()
        return int(pages[1]) * resource.getpagesize()
    except OSError:
        # Without /proc, what it was at most has to do: kilobytes, or bytes on a Mac.
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def send_frame(connection: socket.socket, frame: bytes) -> None:
    """Send bytes with their length before them."""
    connection.sendall(LENGTH.pack(len(frame)))
    connection.sendall(frame)


def receive_frame(connection: socket.socket) -> bytes | None:
    """Return what `send_frame` sent; None where the connection has ended."""
    header = receive(connection, LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    length = LENGTH.unpack(header)[0]
    frame = receive(connection, length)
    return frame if len(frame) == length else None


def receive(connection: socket.socket, length: int) -> bytes:
    """Return so many bytes; fewer where the connection has ended."""
    received = bytearray()
    while len(received) < length:
        try:
            piece = connection.recv(min(length - len(received), _PIECE_BYTES))
        except ConnectionError:
            piece = b""
        if not piece:
            break
        received += piece
    return bytes(received)


if __name__ == "__main__":
    main()
