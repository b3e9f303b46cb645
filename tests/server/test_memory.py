"""The memory of a server's threads."""

from __future__ import annotations

import subprocess
import sys

import pytest

THREADS_THAT_TAKE_MEMORY = """
import ctypes, threading
from citewell.server.memory import share_memory_between_threads

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
share_memory_between_threads()
taken = threading.Barrier(8)

def take():
    libc.malloc(1000)
    taken.wait()

threads = [threading.Thread(target=take) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's malloc")
def test_threads_share_two_pools_of_memory() -> None:
    command = [sys.executable, "-c", THREADS_THAT_TAKE_MEMORY]
    shown = subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout

    assert 1 <= shown.count("<heap nr=") <= 2
