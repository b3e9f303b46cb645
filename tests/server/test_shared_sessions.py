"""Requests for a session of another process, sent by a stranger."""

from __future__ import annotations

import os
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import pytest
import uvicorn

from citewell.server.shared_sessions import SharedSessions, Worker

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Iterator

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

pytestmark = pytest.mark.anyio


async def not_reached(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise AssertionError("the session is of another process")


@pytest.fixture
def workers() -> Iterator[list[Worker]]:
    # A path in `tmp_path` can be too long for a socket.
    with tempfile.TemporaryDirectory() as folder:
        yield [Worker(number=number, workers=2, folder=Path(folder)) for number in (0, 1)]


def request(**given: Any) -> dict[str, Any]:
    return {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": "/mcp",
        "client": ("127.0.0.1", 5),
        "headers": [(b"mcp-session-id", b"1-abc"), (b"host", b"127.0.0.1")],
        **given,
    }


@asynccontextmanager
async def serving(app: ASGIApp, worker: Worker) -> AsyncIterator[None]:
    """Serve on the private socket of a process."""
    config = uvicorn.Config(SharedSessions(app, worker), log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    with worker.listen() as private:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server._serve, [private])
            yield
            server.should_exit = True


async def forward(worker: Worker, scope: Scope, body: list[Message]) -> list[Message]:
    """Send a request to a process that does not have its session; return what it answers."""
    sent: list[Message] = []
    received = iter(body)

    async def receive() -> Message:
        message = next(received, None)
        if message is None:
            await anyio.sleep_forever()
        assert message is not None
        return message

    async def send(message: Message) -> None:
        sent.append(message)

    with anyio.fail_after(60):
        await SharedSessions(not_reached, worker)(scope, receive, send)
    return sent


WHOLE: Message = {"type": "http.request", "body": b"{}", "more_body": False}


async def test_a_request_that_cannot_be_forwarded_is_refused(workers: list[Worker]) -> None:
    own, other = workers
    # HTTP/1.0 needs no host; what is forwarded does.
    scope = request(http_version="1.0", headers=[(b"mcp-session-id", b"1-abc")])

    with other.listen():
        sent = await forward(own, scope, [WHOLE])

    assert sent[0]["status"] == 400


async def test_a_forwarded_request_is_known_by_its_sender_and_its_version(
    workers: list[Worker],
) -> None:
    own, other = workers
    seen: list[Any] = []

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        seen.append((scope["http_version"], scope["client"], dict(scope["headers"])))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    # A proxy that is known by its version only must not become a program of this machine, and
    # nobody but a process of the server says who sent a request.
    forged = (b"citewell-client", b"1.1 203.0.113.9 7")
    scope = request(http_version="1.0")
    scope["headers"] = [*scope["headers"], forged]
    async with serving(app, other):
        sent = await forward(own, scope, [WHOLE])

    version, client, headers = seen[0]
    assert sent[0]["status"] == 204
    assert (version, client) == ("1.0", ("127.0.0.1", 5))
    assert headers[b"mcp-session-id"] == b"abc"
    assert b"citewell-client" not in headers


async def test_the_process_of_a_session_refuses_a_body_before_anyone_gathers_it(
    workers: list[Worker],
) -> None:
    own, other = workers

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    begun: Message = {"type": "http.request", "body": b"{", "more_body": True}
    async with serving(app, other):
        sent = await forward(own, request(), [begun])

    assert sent[0]["status"] == 401


async def test_a_body_in_pieces_arrives_whole(workers: list[Worker]) -> None:
    own, other = workers
    bodies: list[bytes] = []

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        body = message["body"]
        while message["more_body"]:
            message = await receive()
            body += message["body"]
        bodies.append(body)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    pieces: list[Message] = [
        {"type": "http.request", "body": os.urandom(100_000), "more_body": more}
        for more in (True, True, False)
    ]
    async with serving(app, other):
        sent = await forward(own, request(), pieces)

    assert sent[0]["status"] == 204
    assert bodies == [b"".join(piece["body"] for piece in pieces)]


async def test_a_process_that_dies_before_it_answers_is_named_as_the_reason(
    workers: list[Worker],
) -> None:
    own, other = workers

    def take_and_die(listening: socket.socket) -> None:
        listening.accept()[0].close()

    with other.listen() as private:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, take_and_die, private)
            sent = await forward(own, request(), [WHOLE])

    assert sent[0]["status"] == 503
    assert b"ended" in sent[1]["body"]
