"""The program of a worker process: reads requests from its input, answers them on its output.

It is run as a file, and imports nothing from the package before it knows the package's path.
"""

from __future__ import annotations

import gc
import marshal
import os
import pickle
import resource
import signal
import struct
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

# The first byte of an answer: whether the worker goes on, or ends to give its memory back.
MORE, LAST = b"m", b"l"
DONE, REFUSED, NO_MEMORY, BROKEN = "done", "refused", "no memory", "broken"
# What is freed is kept for the next page; so much of it is given back instead.
_MAX_RESIDENT_BYTES = 300 * 1024**2
# What ends a worker whose time is over: unlike that of a resource limit, its clock knows fractions
# of a second.
CPU_LIMIT_SIGNAL = signal.SIGPROF
_LENGTH = struct.Struct("!Q")


def main() -> None:
    """Answer requests until there are none."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    # What a library prints must not stand between our answers.
    os.dup2(2, 1)
    # The terminal interrupts all of its processes; this one ends when its requests do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(CPU_LIMIT_SIGNAL, signal.SIG_DFL)
    greeting = _receive(requests)
    if greeting is None:
        return
    path, preload, memory_bytes, niceness = marshal.loads(greeting)
    sys.path[:] = path
    os.nice(niceness)
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name in preload:
        import_module(name)
    gc.freeze()
    # Nearly all that reading makes lives until it ends: looking for garbage meanwhile finds none
    # and takes a tenth of the time.
    gc.disable()
    while (limit := _receive(requests)) is not None and (request := _receive(requests)) is not None:
        answer = _answer(request, marshal.loads(limit))
        signal.setitimer(signal.ITIMER_PROF, 0)
        is_last = _resident_bytes() > _MAX_RESIDENT_BYTES
        answers.write(_LENGTH.pack(len(answer) + 1) + (LAST if is_last else MORE))
        answers.write(answer)
        answers.flush()
        if is_last:
            return
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
    except Exception as error:  # noqa: BLE001 - the other side of the pipe raises or logs it
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


def _receive(requests: BinaryIO) -> bytes | None:
    header = requests.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    length = _LENGTH.unpack(header)[0]
    request = requests.read(length)
    return request if len(request) == length else None


if __name__ == "__main__":
    main()
