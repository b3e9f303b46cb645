"""Requests counted by several servers together, in Redis."""

from __future__ import annotations

import time

from limits import RateLimitItemPerSecond
from limits.errors import ConfigurationError, StorageError
from limits.storage import MovingWindowSupport, Storage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

from citewell.core.errors import SettingsError


class SharedWindow:
    """A moving window for each identity, kept where all servers see it."""

    def __init__(self, requests: int, window_seconds: int, storage_uri: str) -> None:
        self._limiter = MovingWindowRateLimiter(_open_storage(storage_uri))
        self._item = RateLimitItemPerSecond(requests, window_seconds)

    def count(self, identity: str) -> float | None:
        """Count a request; return the seconds to wait when it is one too many, else None.

        Raises:
            ConnectionError: Redis does not answer.
        """
        try:
            if self._limiter.hit(self._item, identity):
                return None
            reset_at = self._limiter.get_window_stats(self._item, identity).reset_time
        except StorageError as error:
            raise ConnectionError("the counter of requests does not answer") from error
        return max(reset_at - time.time(), 0.0)


def _open_storage(uri: str) -> Storage:
    try:
        storage = storage_from_string(uri, wrap_exceptions=True)
    except (ConfigurationError, ImportError) as error:
        raise SettingsError(
            f"RATE_LIMIT_STORAGE: nothing counts at {uri.partition(':')[0]}:"
        ) from error
    if not isinstance(storage, Storage) or not isinstance(storage, MovingWindowSupport):
        raise SettingsError(f"RATE_LIMIT_STORAGE: nothing counts at {uri.partition(':')[0]}:")
    return storage
