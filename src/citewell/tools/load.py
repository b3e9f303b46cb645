"""Limits the calls that a process handles at a time; callers beyond the limit should retry."""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from citewell.core.errors import Overloaded

if TYPE_CHECKING:
    from collections.abc import Iterator

# The share that the latest call has in what a call usually takes.
_LATEST = 0.1
_LONGEST_WAIT_SECONDS = 60


class Load:
    """Counts the calls under way."""

    def __init__(self) -> None:
        self._running = 0
        self._usual_seconds = 1.0

    @contextmanager
    def working(self, *, max_calls: int) -> Iterator[None]:
        """Count a call while inside; 0 lets any number in.

        Raises:
            Overloaded: there are `max_calls` already; `retry_after` is what one usually takes.
        """
        if max_calls and self._running >= max_calls:
            seconds = min(_LONGEST_WAIT_SECONDS, math.ceil(self._usual_seconds))
            raise Overloaded(
                f"The server is busy with {self._running} calls; wait {seconds} seconds.",
                retry_after=seconds,
            )
        self._running += 1
        started = time.monotonic()
        try:
            yield
        finally:
            self._running -= 1
            spent = time.monotonic() - started
            self._usual_seconds += _LATEST * (spent - self._usual_seconds)
