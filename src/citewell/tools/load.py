"""Limit the calls that a process takes on; callers beyond the limit should come again later."""

from __future__ import annotations

import math
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio.lowlevel

from citewell.core.errors import Overloaded
from citewell.core.frozen import frozen
from citewell.core.places import counting_use, queue_of_all

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from citewell.core.places import Use

MAX_CALLS = 100
"""Most calls that a process works on at the same time."""
MAX_CALLS_OF_ONE = 75
"""Most calls of one caller (see `share_of`), so that others still get in."""
MOST_WAIT_SECONDS = 10.0
"""How long a new call may have to wait for its turns, all of them together."""

# Weight of the latest call in what calls usually need.
_LATEST = 0.1
_LONGEST_RETRY_SECONDS = 60
# The event loop turns to a call once to begin a step, and once to take what it brought.
_PASSES_PER_VISIT = 2


@frozen
class _Running:
    """A call that is worked on."""

    owner: str
    began: float


class Load:
    """Counts running calls, and knows what calls need.

    The processes of one server (`--workers`) each look at their own queue: what the others take of
    the machine shows in how long places are held.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._running: list[_Running] = []
        """The longest-running call comes first."""
        self._usual_seconds = 0.0
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
                wait for too long; in `retry_after` seconds those that wait now have had their turn,
                or one of those that run has probably ended.
        """
        seconds = self._expected_wait(await _measure_lag())
        self._refuse_beyond(owner, seconds)
        call = _Running(owner=owner, began=self._clock())
        self._running.append(call)
        try:
            with counting_use() as use:
                yield
        finally:
            self._running.remove(call)
            self._learn(use, self._clock() - call.began)

    def _refuse_beyond(self, owner: str, seconds: float) -> None:
        running = self._running
        of_owner = [call for call in running if call.owner == owner]
        if len(running) >= MAX_CALLS:
            busy_with = f"{len(running)} calls"
            seconds = max(seconds, self._until_one_ends(running))
        elif len(of_owner) >= MAX_CALLS_OF_ONE:
            busy_with = f"{len(of_owner)} of your own calls"
            seconds = max(seconds, self._until_one_ends(of_owner))
        elif seconds > MOST_WAIT_SECONDS:
            busy_with = f"{len(running)} calls, for which others wait"
        else:
            return
        retry_after = min(_LONGEST_RETRY_SECONDS, max(1, math.ceil(seconds)))
        raise Overloaded(
            f"The server is busy with {busy_with}; wait {retry_after} seconds.",
            retry_after=retry_after,
        )

    def _until_one_ends(self, calls: Sequence[_Running]) -> float:
        """Return how many seconds it probably takes until one of these calls ends."""
        now = self._clock()
        # Since the latest began, none has ended, or its place would be free: what stood for so
        # long may stand as long again.
        return max(self._usual_seconds - (now - calls[0].began), now - calls[-1].began)

    def _expected_wait(self, lag: float) -> float:
        """Return how many seconds a new call would wait for places and for the event loop."""
        waiting, taken = queue_of_all()
        for_places = waiting * self._held_seconds / max(taken, 1)
        # One slow turn says little: it must be slow now, and usually.
        is_slow = min(lag, self._usual_lag)
        self._usual_lag += _LATEST * (lag - self._usual_lag)
        return for_places + is_slow * _PASSES_PER_VISIT * self._visits

    def _learn(self, use: Use, seconds: float) -> None:
        self._usual_seconds += _LATEST * (seconds - self._usual_seconds)
        self._held_seconds += _LATEST * (use.seconds - self._held_seconds)
        self._visits += _LATEST * (use.visits - self._visits)


async def _measure_lag() -> float:
    """Return how long the event loop takes to come round."""
    began = time.monotonic()
    await anyio.lowlevel.checkpoint()
    return time.monotonic() - began
