"""The ASGI application: `/mcp` for MCP clients of both eras and plain POSTs, `/healthz`."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware, TransportSecurityMiddleware
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from citewell import __version__
from citewell.server.auth import BearerAuth, allowed_names
from citewell.server.calls import KEY_HASH_KEY
from citewell.server.jsonrpc import Fault, parse_message
from citewell.server.mcp_server import GONE_KEY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.server.lowlevel import Server
    from starlette.types import Message, Receive, Scope, Send

    from citewell.core.settings import Settings

MAX_REQUEST_BYTES = 4_000_000


def build_http_app(server: Server[Any], *, settings: Settings) -> Starlette:
    """Return the application that serves `server`; it works while its lifespan is on."""
    endpoint = McpEndpoint(server, settings=settings)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with endpoint.running():
            yield

    app = Starlette(
        routes=[
            # Both spellings are served: a redirect would lose the body of a POST in some clients.
            Route("/mcp", endpoint),
            Route("/mcp/", endpoint),
            Route("/healthz", _healthz, methods=["GET"]),
        ],
        middleware=[_cors(settings)],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


class McpEndpoint:
    """One URL for every kind of client; see `_choose_manager`."""

    def __init__(self, server: Server[Any], *, settings: Settings) -> None:
        self._names = TransportSecurityMiddleware(allowed_names(settings))
        self._auth = BearerAuth(settings.mcp_auth_token)
        self._stateful = StreamableHTTPSessionManager(
            server, max_request_body_size=MAX_REQUEST_BYTES
        )
        self._stateless = StreamableHTTPSessionManager(
            server, stateless=True, json_response=True, max_request_body_size=MAX_REQUEST_BYTES
        )
        self._bounded_post = RequestBodyLimitMiddleware(self._answer_post, MAX_REQUEST_BYTES)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep sessions while inside; all of them end on leaving."""
        async with self._stateful.run(), self._stateless.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        request = Request(scope, receive)
        is_post = request.method == "POST"
        refusal = await self._names.validate_request(request, is_post=is_post)
        refusal = refusal or self._auth.refuse(request.headers)
        if refusal is not None:
            await refusal(scope, receive, send)
        elif is_post:
            await self._bounded_post(scope, receive, send)
        else:
            await self._stateful.handle_request(scope, receive, send)

    async def _answer_post(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await Request(scope, receive).body()
        except ClientDisconnect:
            return
        message = parse_message(body)
        if isinstance(message, Fault):
            response = Response(message.encode(), status_code=400, media_type="application/json")
            await response(scope, receive, send)
            return
        manager = self._choose_manager(Request(scope), message)
        gone = anyio.Event()
        known = {GONE_KEY: gone, KEY_HASH_KEY: self._auth.key_hash}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_watch_for_disconnect, receive, gone)
            await manager.handle_request({**scope, **known}, _replay(body, gone), send)
            tasks.cancel_scope.cancel()

    def _choose_manager(
        self, request: Request, message: dict[str, Any]
    ) -> StreamableHTTPSessionManager:
        """Return who serves the message.

        A client of the handshake era that neither opens nor names a session, such as curl, is
        answered at once and in plain JSON. All else is stateful, the sessionless era of 2026 too:
        a JSON answer has no room for progress, and cannot be cancelled.
        """
        version = request.headers.get("mcp-protocol-version")
        is_modern = version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS
        in_session = "mcp-session-id" in request.headers or message.get("method") == "initialize"
        return self._stateful if is_modern or in_session else self._stateless


async def _watch_for_disconnect(receive: Receive, gone: anyio.Event) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    gone.set()


def _replay(body: bytes, gone: anyio.Event) -> Receive:
    """Return the request again for the next reader: the body, then the client going away."""
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if unread:
            return unread.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    return receive


async def _healthz(request: Request) -> Response:
    return JSONResponse({"status": "ok", "version": __version__})


def _cors(settings: Settings) -> Middleware:
    """Let the browser pages that may call the server also read its answers."""
    return Middleware(
        CORSMiddleware,
        allow_origins=settings.mcp_allowed_origins,
        allow_origin_regex=r"http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?",
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["*"],
        expose_headers=["Mcp-Session-Id", "WWW-Authenticate"],
    )
