"""Turns at something that only a few can do at a time, shared fairly between callers."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from citewell.core.records import Caller

_owner: ContextVar[str] = ContextVar("owner", default="")


def share_of(caller: Caller) -> str:
    """Return whose share of the server a caller takes: a checked key, or else its address.

    Programs on this machine, which can do all, have a share for each session.
    """
    return caller.share or caller.key_hash or caller.session


@contextmanager
def working_for(owner: str) -> Iterator[None]:
    """Have all turns that are taken inside count for `owner`: a caller, or a project's jobs."""
    token = _owner.set(owner)
    try:
        yield
    finally:
        _owner.reset(token)


class FairTurns:
    """At most `places` turns at a time, `most_of_one` of them for the same owner.

    Waiting calls are admitted owner by owner, so that the queue of one does not delay others.
    """

    def __init__(self, places: int, *, most_of_one: int) -> None:
        self._free = places
        self._most_of_one = most_of_one
        self._running: Counter[str] = Counter()
        self._waiting: OrderedDict[str, deque[anyio.Event]] = OrderedDict()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn of the current owner, and keep it while inside."""
        owner = _owner.get()
        turn = anyio.Event()
        self._waiting.setdefault(owner, deque()).append(turn)
        self._let_in()
        try:
            await turn.wait()
            yield
        finally:
            if turn.is_set():
                self._free += 1
                self._running[owner] -= 1
                self._running += Counter()  # drops owners without turns
            else:
                self._waiting[owner].remove(turn)
            if owner in self._waiting:
                self._waiting.move_to_end(owner)
            self._let_in()

    def _let_in(self) -> None:
        for owner in list(self._waiting):
            turns = self._waiting[owner]
            if turns and self._free and self._running[owner] < self._most_of_one:
                self._free -= 1
                self._running[owner] += 1
                turns.popleft().set()
                # The next free place is another's.
                self._waiting.move_to_end(owner)
            if not turns:
                del self._waiting[owner]
