"""Server-sent events that end with their work, with the client, or with the server."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio
from starlette.responses import StreamingResponse
from typing_extensions import override

from citewell.server.console.pages import guard_headers

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from citewell.server.draining import Draining

# Proxies close a stream that is silent for a minute.
HEARTBEAT_SECONDS = 15.0

SendEvent = Callable[[str, object], Awaitable[None]]
"""Sends an event: its name, and its data, which becomes JSON."""


class EventStream(StreamingResponse):
    """The events that `work` sends.

    It also ends at the first heartbeat at which `is_let_in` says no.
    """

    def __init__(
        self,
        work: Callable[[SendEvent], Awaitable[None]],
        draining: Draining,
        *,
        is_let_in: Callable[[], Awaitable[bool]] | None = None,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ) -> None:
        headers = {**guard_headers(), "X-Accel-Buffering": "no"}
        super().__init__(iter(()), media_type="text/event-stream", headers=headers)
        self._work = work
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
        async def send_event(name: str, data: object) -> None:
            text = json.dumps(data, ensure_ascii=False)
            await _send_text(send, f"event: {name}\ndata: {text}\n\n")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._end_with_client, receive, tasks.cancel_scope)
            tasks.start_soon(self._end_with_server, tasks.cancel_scope)
            tasks.start_soon(self._end_with_key, send, tasks.cancel_scope)
            await self._work(send_event)
            tasks.cancel_scope.cancel()

    async def _end_with_client(self, receive: Receive, scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async def _end_with_server(self, scope: anyio.CancelScope) -> None:
        await self._draining.wait_for_stop()
        scope.cancel()

    async def _end_with_key(self, send: Send, scope: anyio.CancelScope) -> None:
        await anyio.sleep(self._heartbeat_seconds)
        while self._is_let_in is None or await self._is_let_in():
            await _send_text(send, ": still here\n\n")
            await anyio.sleep(self._heartbeat_seconds)
        scope.cancel()


async def _send_text(send: Send, text: str) -> None:
    await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
