"""Limit the concurrent calls of a process; callers beyond the limit should retry."""

from __future__ import annotations

import math
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from citewell.core.errors import Overloaded

if TYPE_CHECKING:
    from collections.abc import Iterator

# Weight of the latest call in the average duration.
_LATEST = 0.1
# One caller can take this share of the places, so that others still get in.
_SHARE_OF_ONE = 0.75
_LONGEST_WAIT_SECONDS = 60


class Load:
    """Counts running calls."""

    def __init__(self) -> None:
        self._running: Counter[str] = Counter()
        self._usual_seconds = 1.0

    @contextmanager
    def working(self, owner: str, *, max_calls: int) -> Iterator[None]:
        """Count a call of `owner` while inside; `max_calls` 0 means no limit.

        Raises:
            Overloaded: `max_calls` are running, or this owner has its share of them;
                `retry_after` is the average duration of a call.
        """
        running, of_owner = self._running.total(), self._running[owner]
        if max_calls and (running >= max_calls or of_owner >= math.ceil(_SHARE_OF_ONE * max_calls)):
            seconds = min(_LONGEST_WAIT_SECONDS, math.ceil(self._usual_seconds))
            whose = f"{running}" if running >= max_calls else f"{of_owner} of your own"
            raise Overloaded(
                f"The server is busy with {whose} calls; wait {seconds} seconds.",
                retry_after=seconds,
            )
        self._running[owner] += 1
        started = time.monotonic()
        try:
            yield
        finally:
            self._running[owner] -= 1
            self._running += Counter()  # drops owners without calls
            spent = time.monotonic() - started
            self._usual_seconds += _LATEST * (spent - self._usual_seconds)
