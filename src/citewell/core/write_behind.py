"""A queue whose items are written behind the callers' backs: adding neither waits nor fails."""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

import anyio

from citewell.core.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

logger = logging.getLogger(__name__)

T = TypeVar("T")

_GATHER_SECONDS = 0.5
_RETRY_SECONDS = 5.0


class WriteBehind(Generic[T]):
    """Gathers items and has `write` store them, many at a time and in their order.

    `what` names the items in the log. When the store fails for so long that more than `most`
    wait, the oldest are dropped.
    """

    def __init__(
        self, write: Callable[[list[T]], Awaitable[None]], *, what: str, most: int
    ) -> None:
        self._write = write
        self._what = what
        self._waiting: deque[T] = deque(maxlen=most)
        self._something_waits = anyio.Event()
        self.lock = anyio.Lock()
        """Held while items are being written."""

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, items: Iterable[T]) -> None:
        """Have `items` written soon."""
        for item in items:
            if len(self._waiting) == self._waiting.maxlen:
                logger.error("the store has failed for too long: dropping %s", self._what)
            self._waiting.append(item)
            self._something_waits.set()

    async def keep_writing(self) -> None:
        """Write what has gathered, again and again, until cancelled."""
        while True:
            await self._something_waits.wait()
            await anyio.sleep(_GATHER_SECONDS)
            if not await self.write_out():
                await anyio.sleep(_RETRY_SECONDS)

    async def write_out(self) -> bool:
        """Write every item; return False if the store failed, and they still wait."""
        async with self.lock:
            items = list(self._waiting)
            self._waiting.clear()
            # `keep_writing` may be waiting for an event that is not set: it must stay the one.
            if self._something_waits.is_set():
                self._something_waits = anyio.Event()
            if not items:
                return True
            try:
                await self._write(items)
            except BaseException as error:
                self._waiting.extendleft(reversed(items))
                self._something_waits.set()
                if not isinstance(error, StoreError):
                    raise
                logger.warning("%d %s not written yet: %s", len(items), self._what, error.message)
                return False
            return True
