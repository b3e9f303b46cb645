"""`/mcp` of a docs server: the docs tools at once, all else by the whole MCP application.

What the docs tools need is a folder of Markdown. Answering them here, before the SDK, the database
and the models are loaded, is what lets the first question be answered in a fraction of a second.
"""

from __future__ import annotations

import ipaddress
import logging
import math
from typing import TYPE_CHECKING, Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from citewell import __version__
from citewell.core.errors import CitewellError
from citewell.core.records import Caller
from citewell.server.call_messages import (
    SERVER_NAME,
    SERVER_TITLE,
    encode_result,
    find_call,
    shape_result,
)
from citewell.server.jsonrpc import INVALID_REQUEST, Fault, parse_message
from citewell.tools.docs.front import DOCS_INSTRUCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Message, Receive, Scope, Send

    from citewell.core.settings import Settings
    from citewell.server.call_messages import PlainCall
    from citewell.server.docs_late_app import LateApp
    from citewell.tools.docs.front import DocsFront

logger = logging.getLogger(__name__)

MAX_REQUEST_BYTES = 4_000_000

RATE_LIMITED = -32000
INTERNAL_ERROR = -32603

# Versions of the protocol that open with `initialize`, oldest first.
_HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

Json = dict[str, Any]


class DocsMcpEndpoint:
    """One URL for every kind of client."""

    def __init__(
        self,
        front: DocsFront,
        late_app: LateApp,
        *,
        check_rate: Callable[[str], float | None],
        settings: Settings,
    ) -> None:
        self._front = front
        self._late_app = late_app
        self._check_rate = check_rate
        self._project = settings.project
        self._structured = settings.mcp_structured_output_enabled

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        request = Request(scope, receive)
        address = _address_of(request)
        wait_seconds = self._check_rate(address)
        body = b""
        if request.method == "POST":
            try:
                body = await _read_body(request)
            except ClientDisconnect:
                return
        if wait_seconds is not None:
            response: Response | None = _rate_limited(body, wait_seconds)
        elif request.method == "POST":
            response = await self._answer(request, body, address=address)
        else:
            response = None
        if response is not None:
            await response(scope, receive, send)
            return
        await self._hand_over(scope, _replay(body, receive), send)

    async def _answer(self, request: Request, body: bytes, *, address: str) -> Response | None:
        """Return the answer to a message that needs no more than the docs, else None."""
        if len(body) > MAX_REQUEST_BYTES:
            text = f"Invalid request: at most {MAX_REQUEST_BYTES:,} bytes are taken."
            return _fault(Fault(code=INVALID_REQUEST, message=text, status=413))
        message = parse_message(body)
        if isinstance(message, Fault):
            return _fault(message)
        if not _is_plain(request):
            return None
        call = find_call(message, self._front.registry, ignores_progress=True)
        if call is not None:
            return await self._call_tool(call, address=address)
        match message.get("method"):
            case "initialize" if "text/event-stream" not in request.headers.get("accept", ""):
                return _respond(message["id"], _initialize(message.get("params", {})))
            case str() if "id" not in message and "mcp-session-id" not in request.headers:
                # A notification of a client that has no session concerns nobody.
                return Response(status_code=202)
        return None

    async def _call_tool(self, call: PlainCall, *, address: str) -> Response:
        caller = Caller(session=f"docs {address}", project=self._project)
        result = await self._front.call(call.name, call.arguments, caller=caller)
        self._late_app.load_soon()
        return _respond(call.request_id, shape_result(result, (), structured=self._structured))

    async def _hand_over(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            whole = await self._late_app.get()
        except CitewellError as error:
            # Its words may tell of paths or hosts; whoever runs the server has them in the log.
            logger.exception("the MCP server cannot start: %s", error.message)
            text = "Internal error: only the docs tools are available."
            response = _fault(Fault(code=INTERNAL_ERROR, message=text, status=503))
            await response(scope, receive, send)
            return
        await whole.app(_accepting(scope), receive, send)


def _accepting(scope: Scope) -> Scope:
    """Return the scope of a request that says what it accepts: without a word, anything."""
    headers = scope["headers"]
    if any(name == b"accept" for name, _ in headers):
        return scope
    return {**scope, "headers": [*headers, (b"accept", b"*/*")]}


def _is_plain(request: Request) -> bool:
    """Tell whether the request is of the handshake era, and not sent by a page in a browser."""
    version = request.headers.get("mcp-protocol-version", _HANDSHAKE_VERSIONS[-1])
    return version <= _HANDSHAKE_VERSIONS[-1] and "origin" not in request.headers


def _initialize(params: Json) -> Json:
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in _HANDSHAKE_VERSIONS else _HANDSHAKE_VERSIONS[-1],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": SERVER_NAME, "title": SERVER_TITLE, "version": __version__},
        "instructions": DOCS_INSTRUCTIONS,
    }


def _address_of(request: Request) -> str:
    """Return who is counted: an IPv4 address, or the network a household of IPv6 has."""
    host = request.client.host if request.client is not None else "unknown"
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.version == 6:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return host


async def _read_body(request: Request) -> bytes:
    """Return the body, or as much of it as shows that it is too long."""
    parts = bytearray()
    async for part in request.stream():
        parts += part
        if len(parts) > MAX_REQUEST_BYTES:
            break
    return bytes(parts)


def _rate_limited(body: bytes, wait_seconds: float) -> Response:
    message = parse_message(body) if body else Fault(code=INVALID_REQUEST, message="")
    request_id = message.request_id if isinstance(message, Fault) else message.get("id")
    retry_after = math.ceil(wait_seconds) or 1
    return _fault(
        Fault(
            code=RATE_LIMITED,
            message="Rate limit exceeded",
            request_id=request_id,
            data={"retryAfter": retry_after},
            status=429,
            headers={"Retry-After": str(retry_after)},
        )
    )


def _fault(fault: Fault) -> Response:
    return Response(
        fault.encode(),
        status_code=fault.status,
        headers=dict(fault.headers),
        media_type="application/json",
    )


def _respond(request_id: str | int, result: Json) -> Response:
    return Response(encode_result(request_id, result), media_type="application/json")


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return the request again for the next reader: the body, then whatever comes after it."""
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return unread.pop() if unread else await receive()

    return replay
