"""Graceful stop: running requests finish, and streams that never end are closed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import Message, Receive, Send


# Time for requests that were sent before the server stopped listening to arrive.
_QUIET_SECONDS = 0.25


class Draining:
    """Counts the requests that run, and knows whether the server is about to stop.

    While it is stopping, requests on open connections are still served, and each connection
    closes with its answer. Once it is over, no request is begun.
    """

    def __init__(self) -> None:
        self.running = 0
        self.is_over = False
        self._begun = 0
        self._stopping = anyio.Event()
        self._idle = anyio.Event()

    @property
    def is_stopping(self) -> bool:
        """Whether clients should go elsewhere."""
        return self._stopping.is_set()

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Keep the server from stopping while inside."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def begin(self) -> None:
        """Count a request that runs, until `end`."""
        self.running += 1
        self._begun += 1

    def end(self) -> None:
        """Count one that ended."""
        self.running -= 1
        if self.running == 0:
            self._idle.set()

    async def drain(self) -> None:
        """Announce the stop, and return when nothing has run for a moment."""
        self._stopping.set()
        begun = -1
        try:
            while self.running or begun != self._begun:
                begun = self._begun
                if self.running:
                    self._idle = anyio.Event()
                    await self._idle.wait()
                await anyio.sleep(_QUIET_SECONDS)
        finally:
            # Set even if the caller stops waiting.
            self.is_over = True

    def closing(self, send: Send) -> Send:
        """Wrap `send` so that the connection closes with the answer while stopping."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and self.is_stopping:
                message["headers"] = [*message.get("headers", ()), (b"connection", b"close")]
            await send(message)

        return sent

    async def wait_for_stop(self) -> None:
        """Return when the server is about to stop."""
        await self._stopping.wait()

    def until_stop(self, receive: Receive) -> Receive:
        """Wrap `receive` so that it also reports a disconnect when the server stops."""

        async def received() -> Message:
            message: Message = {"type": "http.disconnect"}
            async with anyio.create_task_group() as tasks:

                async def wait_for_client() -> None:
                    nonlocal message
                    message = await receive()
                    tasks.cancel_scope.cancel()

                tasks.start_soon(wait_for_client)
                await self._stopping.wait()
                tasks.cancel_scope.cancel()
            return message

        return received
