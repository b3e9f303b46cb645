"""Request counts that several servers share in Redis."""

from __future__ import annotations

import logging
import time

from limits import RateLimitItemPerSecond
from limits.errors import ConfigurationError, StorageError
from limits.storage import MovingWindowSupport, Storage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

from citewell.core.errors import SettingsError

logger = logging.getLogger(__name__)

_TIMEOUT_SECONDS = 0.5
"""A request waits no longer than this to be counted."""

_REST_SECONDS = 1.0
"""How long Redis is not asked after it failed, so that not every request waits for it."""


class SharedWindow:
    """A moving window for each identity, kept where all servers see it."""

    def __init__(self, requests: int, window_seconds: int, storage_uri: str) -> None:
        self._limiter = MovingWindowRateLimiter(_open_storage(storage_uri))
        self._item = RateLimitItemPerSecond(requests, window_seconds)
        self._is_down = False
        self._rests_until = 0.0

    def count(self, identity: str) -> float | None:
        """Count a request; return the seconds to wait when it is one too many, else None.

        Raises:
            ConnectionError: Redis does not answer, or did not a moment ago.
        """
        if self._is_down:
            self._refuse_while_resting()
        try:
            waiting = self._ask(identity)
        except StorageError as error:
            self._note_silence()
            raise ConnectionError("the counter of requests does not answer") from error
        if self._is_down:
            self._is_down = False
            logger.info("CITEWELL_RATE_LIMIT_STORAGE answers again: servers share their counts")
        return waiting

    def _ask(self, identity: str) -> float | None:
        if self._limiter.hit(self._item, identity):
            return None
        reset_at = self._limiter.get_window_stats(self._item, identity).reset_time
        return max(reset_at - time.time(), 0.0)

    def _refuse_while_resting(self) -> None:
        now = time.monotonic()
        if now < self._rests_until:
            raise ConnectionError("the counter of requests did not answer a moment ago")
        # The first request after the pause tries Redis; the others do not wait for it.
        self._rests_until = now + _REST_SECONDS

    def _note_silence(self) -> None:
        self._rests_until = time.monotonic() + _REST_SECONDS
        if not self._is_down:
            self._is_down = True
            logger.warning(
                "CITEWELL_RATE_LIMIT_STORAGE does not answer: until it does, "
                "this server counts requests for itself"
            )


def _open_storage(uri: str) -> Storage:
    # Not the whole URL, which can contain a password.
    complaint = (
        f"CITEWELL_RATE_LIMIT_STORAGE: nothing counts at {uri.partition(':')[0]}:; "
        "it is memory:// or, with the extra citewell[redis], redis://host:port"
    )
    seconds = {"socket_timeout": _TIMEOUT_SECONDS, "socket_connect_timeout": _TIMEOUT_SECONDS}
    try:
        storage = storage_from_string(uri, wrap_exceptions=True, **seconds)
    except (ConfigurationError, ImportError, ValueError) as error:
        raise SettingsError(complaint) from error
    if not isinstance(storage, Storage) or not isinstance(storage, MovingWindowSupport):
        raise SettingsError(complaint)
    return storage
