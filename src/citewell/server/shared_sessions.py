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

if TYPE_CHECKING:
    from pathlib import Path

    from anyio.abc import ByteStream
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger(__name__)

_SESSION = b"mcp-session-id"
# The HTTP version and the client of a forwarded request; read only on the private socket.
_CLIENT = b"citewell-client"
_OF_CONNECTION = frozenset(
    {b"connection", b"keep-alive", b"transfer-encoding", b"expect", b"upgrade"}
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
        try:
            stream = await anyio.connect_unix(self._worker.path_of(owner))
        except OSError:
            await _refuse("The process of this session is starting.", 503)(scope, receive, send)
            return
        exchange = _Exchange(stream, send)
        async with stream, anyio.create_task_group() as tasks:
            try:
                await exchange.begin(scope)
                # Streamed: the other process checks how much the caller can send.
                tasks.start_soon(exchange.pass_body, receive, tasks.cancel_scope)
                await exchange.relay_answer()
            except h11.LocalProtocolError:
                # HTTP/1.0 without a host, for one; nothing was sent yet.
                await _refuse("The request cannot be forwarded.", 400)(scope, receive, send)
            except (h11.RemoteProtocolError, anyio.BrokenResourceError) as error:
                logger.warning("a forwarded request was cut off: %s", error)
                if not exchange.is_answered:
                    refusal = _refuse("The process of this session has ended.", 503)
                    await refusal(scope, receive, send)
            tasks.cancel_scope.cancel()


class _Exchange:
    """One request and its answer, over the private socket of another process."""

    def __init__(self, stream: ByteStream, send: Send) -> None:
        self.is_answered = False
        self._stream = stream
        self._send = send
        self._connection = h11.Connection(h11.CLIENT)

    async def begin(self, scope: Scope) -> None:
        """Send the head of the request, and who sent it."""
        target = scope.get("raw_path") or scope["path"].encode()
        query = scope.get("query_string", b"")
        host, port = scope["client"] or ("unknown", 0)
        headers: Headers = [
            *_without(scope["headers"], _OF_CONNECTION),
            (b"connection", b"close"),
            (_CLIENT, f"{scope['http_version']} {host} {port}".encode()),
        ]
        if _find(headers, b"content-length") is None:
            headers.append((b"transfer-encoding", b"chunked"))
        await self._write(
            h11.Request(
                method=scope["method"],
                target=target + (b"?" + query if query else b""),
                headers=headers,
            )
        )

    async def pass_body(self, receive: Receive, scope: anyio.CancelScope) -> None:
        """Send the body as it comes, and cancel `scope` when the client goes."""
        while (message := await receive())["type"] != "http.disconnect":
            try:
                await self._write(h11.Data(message.get("body", b"")))
                if not message.get("more_body"):
                    await self._write(h11.EndOfMessage())
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                # The other process answered early or ended; `relay_answer` notices which.
                return
        scope.cancel()

    async def relay_answer(self) -> None:
        """Send the answer to the client, as it comes."""
        while True:
            event = self._connection.next_event()
            if event is h11.NEED_DATA:
                try:
                    self._connection.receive_data(await self._stream.receive())
                except anyio.EndOfStream:
                    self._connection.receive_data(b"")
            elif isinstance(event, h11.Response):
                self.is_answered = True
                await self._send(
                    {
                        "type": "http.response.start",
                        "status": event.status_code,
                        "headers": _without(event.headers.raw_items(), _OF_CONNECTION),
                    }
                )
            elif isinstance(event, h11.Data):
                body = bytes(event.data)
                await self._send({"type": "http.response.body", "body": body, "more_body": True})
            elif isinstance(event, h11.EndOfMessage):
                await self._send({"type": "http.response.body", "body": b""})
                return
            elif isinstance(event, h11.ConnectionClosed):
                raise anyio.BrokenResourceError

    async def _write(self, event: h11.Event) -> None:
        data = self._connection.send(event)
        if data:
            await self._stream.send(data)


def _with_client(scope: Scope) -> Scope:
    """Return the scope of a forwarded request with the client that sent it, and how."""
    client = _find(scope["headers"], _CLIENT)
    if client is None:
        return scope
    headers = _without(scope["headers"], {_CLIENT})
    if scope.get("client") is not None:
        # It came over the network, where anyone can send this header.
        return {**scope, "headers": headers}
    version, _, sender = client.decode("latin-1").partition(" ")
    host, _, port = sender.rpartition(" ")
    return {**scope, "headers": headers, "http_version": version, "client": (host, int(port))}


def _find(headers: Headers, name: bytes) -> bytes | None:
    return next((value for key, value in headers if key.lower() == name), None)


def _without(headers: Headers, names: frozenset[bytes] | set[bytes]) -> Headers:
    return [(name, value) for name, value in headers if name.lower() not in names]


def _refuse(message: str, status: int) -> JSONResponse:
    body = {"error": "unavailable", "error_description": message}
    return JSONResponse(body, status_code=status, headers={"Retry-After": "1"})
