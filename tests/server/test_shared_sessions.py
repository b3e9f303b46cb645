"""Requests for a session of another process, sent by a stranger."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from citewell.server.shared_sessions import SharedSessions, Worker

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

pytestmark = pytest.mark.anyio


async def not_reached(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise AssertionError("the session is of another process")


async def test_a_request_that_cannot_be_forwarded_is_refused() -> None:
    sent: list[Message] = []
    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "client": ("127.0.0.1", 5),
        # HTTP/1.0 needs no host; what is forwarded does.
        "headers": [(b"mcp-session-id", b"1-abc")],
    }
    received = iter([{"type": "http.request", "body": b"{}"}])

    async def receive() -> Message:
        return next(received, {"type": "http.disconnect"})

    async def send(message: Message) -> None:
        sent.append(message)

    # A path in `tmp_path` can be too long for a socket.
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        own, other = (Worker(number=number, workers=2, folder=place) for number in (0, 1))
        with other.listen():
            await SharedSessions(not_reached, own)(scope, receive, send)

    assert sent[0]["status"] == 400
