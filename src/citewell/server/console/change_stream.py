"""Server-sent events that tell an open page when to look again."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

import anyio
from starlette.responses import StreamingResponse
from typing_extensions import override

from citewell.server.console.pages import guard_headers

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from starlette.types import Receive, Scope, Send

    from citewell.server.draining import Draining

# Proxies close a stream that is silent for a minute. A key that was revoked or has ended is
# noticed after as long, and the two seconds for which the gate remembers keys.
HEARTBEAT_SECONDS = 15.0


class ChangeStream(StreamingResponse):
    """An event now and at every change, until the page is closed or the server stops.

    It also ends at the first heartbeat at which `is_let_in` says no: whoever listens may do so no
    longer, and is told why when the page asks anew.
    """

    def __init__(
        self,
        revisions: AsyncGenerator[int],
        draining: Draining,
        *,
        is_let_in: Callable[[], Awaitable[bool]],
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ) -> None:
        headers = {**guard_headers(), "X-Accel-Buffering": "no"}
        super().__init__(iter(()), media_type="text/event-stream", headers=headers)
        self._revisions = revisions
        self._draining = draining
        self._is_let_in = is_let_in
        self._heartbeat_seconds = heartbeat_seconds

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        if scope["method"] != "HEAD":
            await self._stream(receive, send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _stream(self, receive: Receive, send: Send) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._end_with_client, receive, tasks.cancel_scope)
            tasks.start_soon(self._end_with_server, tasks.cancel_scope)
            tasks.start_soon(self._end_with_key, send, tasks.cancel_scope)
            async with aclosing(self._revisions) as revisions:
                async for revision in revisions:
                    await _send_text(send, f"event: changed\ndata: {revision}\n\n")

    async def _end_with_client(self, receive: Receive, scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async def _end_with_server(self, scope: anyio.CancelScope) -> None:
        await self._draining.wait_for_stop()
        scope.cancel()

    async def _end_with_key(self, send: Send, scope: anyio.CancelScope) -> None:
        await anyio.sleep(self._heartbeat_seconds)
        while await self._is_let_in():
            await _send_text(send, ": still here\n\n")
            await anyio.sleep(self._heartbeat_seconds)
        scope.cancel()


async def _send_text(send: Send, text: str) -> None:
    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
