"""Server-sent events that tell an open page when to look again."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

import anyio
from starlette.responses import StreamingResponse
from typing_extensions import override

from citewell.server.console.pages import guard_headers

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.types import Receive, Scope, Send

    from citewell.server.draining import Draining

# Proxies close a stream that is silent for a minute.
_HEARTBEAT_SECONDS = 15.0


class ChangeStream(StreamingResponse):
    """An event now and at every change, until the page is closed or the server stops."""

    def __init__(self, revisions: AsyncGenerator[int], draining: Draining) -> None:
        headers = {**guard_headers(), "X-Accel-Buffering": "no"}
        super().__init__(iter(()), media_type="text/event-stream", headers=headers)
        self._revisions = revisions
        self._draining = draining

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._end_with_client, receive, tasks.cancel_scope)
            tasks.start_soon(self._end_with_server, tasks.cancel_scope)
            tasks.start_soon(_keep_alive, send)
            async with aclosing(self._revisions) as revisions:
                async for revision in revisions:
                    await _send_text(send, f"event: changed\ndata: {revision}\n\n")
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _end_with_client(self, receive: Receive, scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async def _end_with_server(self, scope: anyio.CancelScope) -> None:
        await self._draining.wait_for_stop()
        scope.cancel()


async def _keep_alive(send: Send) -> None:
    while True:
        await anyio.sleep(_HEARTBEAT_SECONDS)
        await _send_text(send, ": still here\n\n")


async def _send_text(send: Send, text: str) -> None:
    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
