"""Limit the calls that a process takes on; callers beyond the limit should come again later."""

from __future__ import annotations

import math
import time
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio.lowlevel

from citewell.core.errors import Overloaded
from citewell.core.places import counting_use, queue_of_all

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.core.places import Use

MAX_CALLS = 100
"""Most calls that a process works on at the same time."""
MAX_CALLS_OF_ONE = 75
"""Most calls of one caller, so that others still get in."""
MOST_WAIT_SECONDS = 10.0
"""How long a new call may have to wait for its turns, all of them together."""

# Weight of the latest call in what calls usually need.
_LATEST = 0.1
_LONGEST_RETRY_SECONDS = 60
# The event loop turns to a call once to begin a step, and once to take what it brought.
_PASSES_PER_VISIT = 2


class Load:
    """Counts running calls, and knows what calls need.

    The processes of one server (`--workers`) each look at their own queue: what the others take of
    the machine shows in how long places are held.
    """

    def __init__(self) -> None:
        self._running: Counter[str] = Counter()
        # How long a call usually holds places in all, how often it takes one, and how long the
        # event loop takes to come round.
        self._held_seconds = 0.0
        self._visits = 0.0
        self._usual_lag = 0.0

    @asynccontextmanager
    async def working(self, owner: str) -> AsyncIterator[None]:
        """Count a call of `owner` while inside.

        Raises:
            Overloaded: too many calls are running, or too many of this owner, or this one would
                wait for too long; in `retry_after` seconds those that wait now have had their turn.
        """
        seconds = self._expected_wait(await _measure_lag())
        self._refuse_beyond(owner, seconds)
        self._running[owner] += 1
        try:
            with counting_use() as use:
                yield
        finally:
            self._running[owner] -= 1
            self._running += Counter()  # drops owners without calls
            self._learn(use)

    def _refuse_beyond(self, owner: str, seconds: float) -> None:
        running, of_owner = self._running.total(), self._running[owner]
        if running >= MAX_CALLS:
            busy_with = f"{running} calls"
        elif of_owner >= MAX_CALLS_OF_ONE:
            busy_with = f"{of_owner} of your own calls"
        elif seconds > MOST_WAIT_SECONDS:
            busy_with = f"{running} calls, for which others wait"
        else:
            return
        retry_after = min(_LONGEST_RETRY_SECONDS, max(1, math.ceil(seconds)))
        raise Overloaded(
            f"The server is busy with {busy_with}; wait {retry_after} seconds.",
            retry_after=retry_after,
        )

    def _expected_wait(self, lag: float) -> float:
        """Return how many seconds a new call would wait for places and for the event loop."""
        waiting, taken = queue_of_all()
        for_places = waiting * self._held_seconds / max(taken, 1)
        # One slow turn says little: it must be slow now, and usually.
        is_slow = min(lag, self._usual_lag)
        self._usual_lag += _LATEST * (lag - self._usual_lag)
        return for_places + is_slow * _PASSES_PER_VISIT * self._visits

    def _learn(self, use: Use) -> None:
        self._held_seconds += _LATEST * (use.seconds - self._held_seconds)
        self._visits += _LATEST * (use.visits - self._visits)


async def _measure_lag() -> float:
    """Return how long the event loop takes to come round."""
    began = time.monotonic()
    await anyio.lowlevel.checkpoint()
    return time.monotonic() - began
