"""Limit the requests of an address or a key with a token bucket."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Protocol

from citewell.core.errors import SettingsError
from citewell.core.extras import install_command

if TYPE_CHECKING:
    from collections.abc import Callable

IN_MEMORY = "memory://"
IN_FILE = "file://"
"""Shared by the workers of one server, which creates the file itself."""

MAX_BUCKETS = 50_000
"""Identities kept in memory; beyond that the least recently seen is dropped."""


class RateLimiter:
    """Lets `requests` through in each `window_seconds`, for each identity on its own.

    In memory it is a token bucket: the requests of a whole window can come in a burst, further ones
    as the bucket fills. With a Redis URL several servers count together in a moving window, and a
    check waits for Redis. While Redis does not answer, each server counts for itself: a limit is a
    protection, not a reason to refuse everyone.

    Raises:
        SettingsError: `storage_uri` names nothing that can count.
    """

    def __init__(self, requests: int, window_seconds: int, storage_uri: str = IN_MEMORY) -> None:
        self._own = TokenBuckets(requests, window_seconds)
        self._own_lock = threading.Lock()
        self._counter: RequestCounter = self._own
        if storage_uri.startswith(IN_FILE):
            # Imported late: it needs fcntl, which Windows lacks.
            from citewell.access.shared_buckets import SharedBuckets

            # Keys and addresses have buckets of different sizes, so each has a file.
            own_file = f"{storage_uri.removeprefix(IN_FILE)}-{requests}-{window_seconds}"
            self._counter = SharedBuckets(requests, window_seconds, own_file)
        elif storage_uri != IN_MEMORY:
            self._counter = _open_shared_window(requests, window_seconds, storage_uri)

    def check(self, identity: str) -> float | None:
        """Count a request; return the seconds to wait when it is one too many, else None."""
        try:
            return self._counter.count(identity)
        except ConnectionError:
            # Checks that can wait run in threads, which must not share a bucket unlocked.
            with self._own_lock:
                return self._own.count(identity)


def _open_shared_window(requests: int, window_seconds: int, storage_uri: str) -> RequestCounter:
    # Imported for Redis only: the library is an extra, and takes a fifth of a second.
    try:
        from citewell.access.shared_window import SharedWindow
    except ImportError as error:
        raise SettingsError(
            "CITEWELL_RATE_LIMIT_STORAGE: requests can only be counted in Redis with the extra "
            f"redis: {install_command('redis')}"
        ) from error
    return SharedWindow(requests, window_seconds, storage_uri)


class RequestCounter(Protocol):
    """Counts requests, in this process or with others."""

    def count(self, identity: str) -> float | None:
        """Count a request; return the seconds to wait when it is one too many, else None.

        Raises:
            ConnectionError: the shared counter does not answer.
        """


class TokenBuckets:
    """A bucket for each identity: a request takes a token, time puts them back."""

    def __init__(
        self,
        requests: int,
        window_seconds: int,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._size = float(requests)
        self._per_second = requests / window_seconds
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, identity: str) -> float | None:
        """Count a request; return the seconds to wait when it is one too many, else None."""
        now = self._clock()
        tokens, since = self._buckets.pop(identity, (self._size, now))
        tokens = min(self._size, tokens + (now - since) * self._per_second)
        is_let_through = tokens >= 1
        self._buckets[identity] = (tokens - is_let_through, now)
        if len(self._buckets) > MAX_BUCKETS:
            self._buckets.popitem(last=False)
        return None if is_let_through else (1 - tokens) / self._per_second
