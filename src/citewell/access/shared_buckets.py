"""Token buckets that the processes of one server share in a memory-mapped file."""

from __future__ import annotations

import fcntl
import hashlib
import mmap
import os
import struct
import threading
import time

# Fingerprint of the identity, tokens, and the time (of the system's monotonic clock) of the count.
_SLOT = struct.Struct("<Qdd")
_SLOTS = 65_536
# Slots that an identity can take; the least recently used of them is replaced.
_NEIGHBOURS = 8


class SharedBuckets:
    """A bucket for each identity, like `TokenBuckets`; all who open the file count together."""

    def __init__(self, requests: int, window_seconds: int, path: str) -> None:
        self._size = float(requests)
        self._per_second = requests / window_seconds
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(self._file, _SLOTS * _SLOT.size)
        self._slots = mmap.mmap(self._file, _SLOTS * _SLOT.size)
        # A lock of the file is the process's; two of its threads would both have it.
        self._lock = threading.Lock()

    def count(self, identity: str) -> float | None:
        """Count a request; return the seconds to wait when it is one too many, else None."""
        digest = hashlib.blake2b(identity.encode(), digest_size=8).digest()
        fingerprint = int.from_bytes(digest, "little") or 1
        with self._lock:
            fcntl.lockf(self._file, fcntl.LOCK_EX)
            try:
                return self._count(fingerprint, time.monotonic())
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN)

    def _count(self, fingerprint: int, now: float) -> float | None:
        first = fingerprint % (_SLOTS - _NEIGHBOURS)
        places = [(first + step) * _SLOT.size for step in range(_NEIGHBOURS)]
        slots = {place: _SLOT.unpack_from(self._slots, place) for place in places}
        place = next(
            (place for place, slot in slots.items() if slot[0] == fingerprint),
            min(slots, key=lambda place: slots[place][2]),
        )
        known, tokens, since = slots[place]
        if known != fingerprint:
            tokens, since = self._size, now
        tokens = min(self._size, tokens + (now - since) * self._per_second)
        is_let_through = tokens >= 1
        _SLOT.pack_into(self._slots, place, fingerprint, tokens - is_let_through, now)
        return None if is_let_through else (1 - tokens) / self._per_second
