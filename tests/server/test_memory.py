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


GARBAGE = """
import gc
from citewell.server.memory import give_memory_back, resident_bytes, share_memory_between_threads

share_memory_between_threads()
gc.disable()
before = resident_bytes()
blocks = [[bytearray(100_000)] for _ in range(1_000)]
for block in blocks:
    block.append(block)
last = bytearray(100_000)
del blocks, block
full = resident_bytes()
give_memory_back()
print(full - before, resident_bytes() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's malloc")
def test_what_cycles_held_below_a_block_in_use_is_given_back() -> None:
    command = [sys.executable, "-c", GARBAGE]
    shown = subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout

    full, left = map(int, shown.split())
    assert full > 90_000_000
    assert left < 20_000_000
