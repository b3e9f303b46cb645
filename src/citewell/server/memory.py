"""How the C library keeps the memory of a long-running server, and when it gives it back."""

from __future__ import annotations

import gc
import resource
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    import ctypes

# Of malloc.h. Python runs one thread at a time, so two pools are enough for it and the models.
_M_ARENA_MAX = -8
_ARENAS = 2
# Pages come in such blocks, and models compute in smaller ones. The limit of glibc itself grows to
# 32 MB once large blocks were freed.
_M_MMAP_THRESHOLD = -3
_LARGE_BLOCK_BYTES = 4 * 1024**2
# It takes some 10 ms where there is something to look through.
_LOOKS_EVERY_SECONDS = 10.0
_TRIES = 30
_WORTHWHILE_BYTES = 32 * 1024**2


def share_memory_between_threads() -> None:
    """Let all threads take memory from two pools of glibc's malloc; elsewhere do nothing.

    By default every thread has a pool of its own, which keeps the most that the thread ever needed:
    after an hour of mixed calls, 275 of 510 MB lay in ten of them. Large blocks are in no pool, so
    that the system has them back when they are freed.
    """
    mallopt = getattr(_c_library(), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _ARENAS)
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK_BYTES)


async def keep_giving_memory_back() -> None:
    """Give the system back what calls no longer need, until cancelled.

    A call that is cancelled leaves its page in cycles of exceptions and frames, which an idle
    server would not look for, and pools keep what lies below a block in use
    (`python -m bench.redteam memory`).
    """
    expected = resident_bytes()
    tries = 0
    while True:
        await anyio.sleep(_LOOKS_EVERY_SECONDS)
        if resident_bytes() <= expected + _WORTHWHILE_BYTES:
            expected, tries = min(expected, resident_bytes()), 0
            continue
        await anyio.to_thread.run_sync(give_memory_back)
        tries += 1
        if tries == _TRIES:
            # Longer than any call may take: models and caches, which stay.
            expected, tries = resident_bytes(), 0


def give_memory_back() -> None:
    """Collect garbage, and give the system the free pages of glibc's pools."""
    gc.collect()
    trim = getattr(_c_library(), "malloc_trim", None)
    if trim is not None:
        trim(0)


def resident_bytes() -> int:
    """Return how much memory this process has; 0 where the system does not say."""
    try:
        pages = Path("/proc/self/statm").read_text("ascii").split()
    except OSError:
        return 0
    return int(pages[1]) * resource.getpagesize()


@cache
def _c_library() -> ctypes.CDLL | None:
    if sys.platform != "linux":
        return None
    # Imported here: a first answer over stdio does not wait for it.
    import ctypes

    return ctypes.CDLL(None)
