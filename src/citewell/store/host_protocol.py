"""HostStore: what a database must promise so that its processes together spare a website's host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager


class HostStore(Protocol):
    """Turns on hosts, given to every process of one database. Every method may raise StoreError."""

    async def reserve_start(self, host: str, *, delay_seconds: float) -> float:
        """Return how many seconds from now a request may start; the next one is so much later."""

    def hold_slot(self, host: str, *, limit: int) -> AbstractAsyncContextManager[None]:
        """Wait for one of the host's `limit` slots and hold it while inside.

        The slots of a process that is gone are free.
        """
