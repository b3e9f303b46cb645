"""Cancelling the work for a client that disconnects before it has its answer."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import Message, Receive

DEPARTURE_KEY = "citewell.departure"
"""Key of the Departure in the scope of an HTTP request."""


class Departure:
    """Whether the client of one request has gone."""

    def __init__(self) -> None:
        self._gone = anyio.Event()
        self._scopes: list[anyio.CancelScope] = []

    @contextmanager
    def ends_this(self) -> Iterator[None]:
        """Cancel what runs inside when the client goes, without a task that waits for it."""
        with anyio.CancelScope() as scope:
            self._scopes.append(scope)
            if self._gone.is_set():
                scope.cancel()
            try:
                yield
            finally:
                # Cancelling a finished scope is not free: anyio formats a message for it.
                self._scopes.remove(scope)

    async def watch(self, receive: Receive) -> None:
        """Read what the client still sends until it goes; for answers that nobody else reads on."""
        while not self._gone.is_set():
            self._notice(await receive())

    def noticing(self, body: bytes, receive: Receive | None = None) -> Receive:
        """Return the request again for the next reader: the body, then the client going away.

        The next reader's own waiting notices that on `receive`, or else someone must `watch`.
        """
        unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def received() -> Message:
            if unread:
                return unread.pop()
            if receive is None:
                await self._gone.wait()
                return {"type": "http.disconnect"}
            message = await receive()
            self._notice(message)
            return message

        return received

    def _notice(self, message: Message) -> None:
        if message["type"] != "http.disconnect":
            return
        self._gone.set()
        for scope in self._scopes:
            scope.cancel()
