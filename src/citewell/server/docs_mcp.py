"""`/mcp` of a docs server: the docs tools answer here, everything else in the full application.

The docs tools need only a folder of Markdown. Answering them before the SDK, the database and the
models are loaded lets the first question be answered in a fraction of a second.
"""

from __future__ import annotations

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
from citewell.server.departure import Departure
from citewell.server.fault_response import fault_response
from citewell.server.jsonrpc import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    MAX_REQUEST_BYTES,
    RATE_LIMITED,
    Fault,
    parse_message,
)
from citewell.server.locality import network_of
from citewell.tools.docs.front import DOCS_INSTRUCTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Receive, Scope, Send

    from citewell.core.settings import Settings
    from citewell.server.call_messages import PlainCall
    from citewell.server.docs_late_app import LateApp
    from citewell.tools.docs.front import DocsFront

logger = logging.getLogger(__name__)

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
        address = network_of(scope)
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
        await self._hand_over(scope, Departure().noticing(body, receive), send)

    async def _answer(self, request: Request, body: bytes, *, address: str) -> Response | None:
        """Return the answer to a message that needs no more than the docs, else None."""
        if len(body) > MAX_REQUEST_BYTES:
            text = f"Invalid request: at most {MAX_REQUEST_BYTES:,} bytes are taken."
            return fault_response(Fault(code=INVALID_REQUEST, message=text, status=413))
        message = parse_message(body)
        if isinstance(message, Fault):
            return fault_response(message)
        if not _is_plain(request):
            return None
        call = find_call(message, self._front.registry, ignores_progress=True)
        if call is not None:
            return await self._call_tool(call, address=address)
        match message.get("method"):
            case str() if "id" not in message and "mcp-session-id" not in request.headers:
                # Without a session there is nobody to notify.
                return Response(status_code=202)
            case "initialize" if "id" in message and "text/event-stream" not in request.headers.get(
                "accept", ""
            ):
                return _respond(message["id"], _initialize(message.get("params", {})))
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
            # The message may name paths or hosts, so it goes to the log only.
            logger.exception("the MCP server cannot start: %s", error.message)
            text = "Internal error: only the docs tools are available."
            response = fault_response(Fault(code=INTERNAL_ERROR, message=text, status=503))
            await response(scope, receive, send)
            return
        await whole.app(_accepting(scope), receive, send)


def _accepting(scope: Scope) -> Scope:
    """Return the scope with an Accept header; a request without one accepts anything."""
    headers = scope["headers"]
    if any(name == b"accept" for name, _ in headers):
        return scope
    return {**scope, "headers": [*headers, (b"accept", b"*/*")]}


def _is_plain(request: Request) -> bool:
    """Return whether the request is of the handshake era and was not sent by a browser page."""
    version = request.headers.get("mcp-protocol-version", _HANDSHAKE_VERSIONS[-1])
    return version <= _HANDSHAKE_VERSIONS[-1] and "origin" not in request.headers


def _initialize(params: Json) -> Json:
    version = params.get("protocolVersion")
    return {
        "protocolVersion": version if version in _HANDSHAKE_VERSIONS else _HANDSHAKE_VERSIONS[-1],
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": SERVER_NAME, "title": SERVER_TITLE, "version": __version__},
        "instructions": DOCS_INSTRUCTIONS,
    }


async def _read_body(request: Request) -> bytes:
    """Return the body, cut once it exceeds MAX_REQUEST_BYTES."""
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
    return fault_response(
        Fault(
            code=RATE_LIMITED,
            message="Rate limit exceeded",
            request_id=request_id,
            data={"retryAfter": retry_after},
            status=429,
            headers={"Retry-After": str(retry_after)},
        )
    )


def _respond(request_id: str | int, result: Json) -> Response:
    return Response(encode_result(request_id, result), media_type="application/json")
