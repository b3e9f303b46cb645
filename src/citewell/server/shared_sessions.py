"""Sessions of several server processes: a request reaches the process that has its session.

A session's id begins with the number of its process. A process that receives a request for a
session of another process forwards it through that one's private socket, and relays the answer
event by event.
"""

from __future__ import annotations

import logging
import socket
from typing import TYPE_CHECKING

import anyio
import h11
from starlette.responses import JSONResponse

from citewell.core.frozen import frozen
from citewell.server.jsonrpc import MAX_REQUEST_BYTES

if TYPE_CHECKING:
    from pathlib import Path

    from anyio.abc import ByteStream
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger(__name__)

_SESSION = b"mcp-session-id"
# The client of a forwarded request; read only on the private socket.
_CLIENT = b"citewell-client"
_OF_CONNECTION = frozenset(
    {b"connection", b"keep-alive", b"transfer-encoding", b"content-length", b"expect", b"upgrade"}
)

Headers = list[tuple[bytes, bytes]]


@frozen
class Worker:
    """One of the processes of a server."""

    number: int
    workers: int
    folder: Path
    """Where the private sockets are."""

    def listen(self) -> socket.socket:
        """Return the private socket of this process, replacing that of a process before it."""
        path = self.path_of(self.number)
        path.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(str(path))
        listening.listen(1024)
        return listening

    def path_of(self, number: int) -> Path:
        """Return where the process with this number listens."""
        return self.folder / f"{number}.sock"

    def owner_of(self, session: bytes) -> int | None:
        """Return the number of the process that has a session; None for a foreign id."""
        number, dash, _ = session.partition(b"-")
        is_number = bool(dash) and number.isdigit() and len(number) <= len(str(self.workers))
        return int(number) if is_number and int(number) < self.workers else None


class SharedSessions:
    """ASGI middleware: serves the sessions of this process and forwards requests for others."""

    def __init__(self, asgi_app: ASGIApp, worker: Worker) -> None:
        self._asgi_app = asgi_app
        self._worker = worker

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._asgi_app(scope, receive, send)
            return
        scope = _with_client(scope)
        session = _find(scope["headers"], _SESSION)
        owner = None if session is None else self._worker.owner_of(session)
        if owner is not None and owner != self._worker.number:
            await self._forward(owner, scope, receive, send)
            return
        if session is not None and owner is not None:
            named = (_SESSION, session.partition(b"-")[2])
            scope = {**scope, "headers": [*_without(scope["headers"], {_SESSION}), named]}
        await self._asgi_app(scope, receive, self._naming_session(send))

    def _naming_session(self, send: Send) -> Send:
        """Wrap `send` so that it prefixes the session id with the number of this process."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    (name, b"%d-%s" % (self._worker.number, value))
                    if name.lower() == _SESSION
                    else (name, value)
                    for name, value in message.get("headers", ())
                ]
            await send(message)

        return sent

    async def _forward(self, owner: int, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _read_body(receive)
        if body is None:
            await _refuse("The request is too large.", 413)(scope, receive, send)
            return
        try:
            stream = await anyio.connect_unix(self._worker.path_of(owner))
        except OSError:
            await _refuse("The process of this session is starting.", 503)(scope, receive, send)
            return
        async with stream, anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_when_gone, receive, tasks.cancel_scope)
            try:
                await _exchange(stream, scope, body, send)
            except h11.LocalProtocolError:
                # HTTP/1.0 without a host, for one; nothing was sent yet.
                await _refuse("The request cannot be forwarded.", 400)(scope, receive, send)
            except (h11.RemoteProtocolError, anyio.BrokenResourceError) as error:
                logger.warning("a forwarded request was cut off: %s", error)
            tasks.cancel_scope.cancel()


async def _exchange(stream: ByteStream, scope: Scope, body: bytes, send: Send) -> None:
    """Send the request to its process and the answer to the client, as it comes."""
    connection = h11.Connection(h11.CLIENT)
    target = scope.get("raw_path") or scope["path"].encode()
    query = scope.get("query_string", b"")
    host, port = scope["client"] or ("unknown", 0)
    headers: Headers = [
        *_without(scope["headers"], _OF_CONNECTION),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        (_CLIENT, f"{host} {port}".encode()),
    ]
    request = h11.Request(
        method=scope["method"], target=target + (b"?" + query if query else b""), headers=headers
    )
    sent = [connection.send(event) for event in (request, h11.Data(body), h11.EndOfMessage())]
    await stream.send(b"".join(filter(None, sent)))
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            try:
                connection.receive_data(await stream.receive())
            except anyio.EndOfStream:
                connection.receive_data(b"")
        elif isinstance(event, h11.Response):
            answered = _without(event.headers.raw_items(), _OF_CONNECTION - {b"content-length"})
            await send(
                {
                    "type": "http.response.start",
                    "status": event.status_code,
                    "headers": answered,
                }
            )
        elif isinstance(event, h11.Data):
            await send({"type": "http.response.body", "body": bytes(event.data), "more_body": True})
        elif isinstance(event, h11.EndOfMessage):
            await send({"type": "http.response.body", "body": b""})
            return
        elif isinstance(event, h11.ConnectionClosed):
            raise anyio.BrokenResourceError


async def _read_body(receive: Receive) -> bytes | None:
    """Return the body of a request; None when it exceeds MAX_REQUEST_BYTES."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MAX_REQUEST_BYTES:
            return None
        if not message.get("more_body"):
            return bytes(body)


async def _cancel_when_gone(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def _with_client(scope: Scope) -> Scope:
    """Return the scope of a forwarded request with the client that sent it."""
    client = _find(scope["headers"], _CLIENT)
    if client is None:
        return scope
    headers = _without(scope["headers"], {_CLIENT})
    if scope.get("client") is not None:
        # It came over the network, where anyone can send this header.
        return {**scope, "headers": headers}
    host, _, port = client.decode("latin-1").rpartition(" ")
    return {**scope, "headers": headers, "client": (host, int(port))}


def _find(headers: Headers, name: bytes) -> bytes | None:
    return next((value for key, value in headers if key.lower() == name), None)


def _without(headers: Headers, names: frozenset[bytes] | set[bytes]) -> Headers:
    return [(name, value) for name, value in headers if name.lower() not in names]


def _refuse(message: str, status: int) -> JSONResponse:
    body = {"error": "unavailable", "error_description": message}
    return JSONResponse(body, status_code=status, headers={"Retry-After": "1"})
