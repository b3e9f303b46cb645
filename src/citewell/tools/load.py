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

MAX_CALLS = 100
"""Most calls that a process works on at the same time."""
MAX_CALLS_OF_ONE = 75
"""Most calls of one caller, so that others still get in."""

# Weight of the latest call in the average duration.
_LATEST = 0.1
_LONGEST_WAIT_SECONDS = 60


class Load:
    """Counts running calls."""

    def __init__(self) -> None:
        self._running: Counter[str] = Counter()
        self._usual_seconds = 1.0

    @contextmanager
    def working(self, owner: str) -> Iterator[None]:
        """Count a call of `owner` while inside.

        Raises:
            Overloaded: too many calls are running, or too many of this owner; `retry_after` is
                the average duration of a call.
        """
        running, of_owner = self._running.total(), self._running[owner]
        if running >= MAX_CALLS or of_owner >= MAX_CALLS_OF_ONE:
            seconds = min(_LONGEST_WAIT_SECONDS, math.ceil(self._usual_seconds))
            whose = f"{running}" if running >= MAX_CALLS else f"{of_owner} of your own"
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
