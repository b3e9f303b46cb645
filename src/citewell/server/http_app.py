"""The ASGI application: `/mcp` over HTTP and WebSocket, health, metrics and metadata."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route, WebSocketRoute

from citewell.core.issuer import issuer_terms
from citewell.server.auth import Challenges, metadata_routes
from citewell.server.console.routes import build_console
from citewell.server.doorkeeper import AddressLimit, Doorkeeper
from citewell.server.draining import Draining
from citewell.server.mcp_endpoint import McpEndpoint
from citewell.server.metrics import Metrics
from citewell.server.open_sessions import OpenSessions
from citewell.server.operation import HEALTH_PATHS, Operation
from citewell.server.plain_calls import PlainCalls
from citewell.server.plain_requests import PlainRequests
from citewell.server.request_ids import RequestIds
from citewell.server.websocket import McpWebSocket

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.server.lowlevel import Server

    from citewell.app.parts import OpensParts
    from citewell.core.settings import Settings
    from citewell.tools.registry import Registry


def build_http_app(
    server: Server[Any],
    registry: Registry,
    app: OpensParts,
    *,
    settings: Settings,
    metrics: Metrics | None = None,
    draining: Draining | None = None,
) -> Starlette:
    """Return the application that serves `server`; it works while its lifespan is on.

    `metrics` are those that `server` counts its calls in. Whoever stops the application drains
    `draining` first.
    """
    metrics, draining = metrics or Metrics(), draining or Draining()
    issuer = issuer_terms(settings)
    challenges = Challenges(issuer)
    doorkeeper = Doorkeeper(
        registry,
        app,
        settings=settings,
        challenges=challenges,
        metrics=metrics,
        draining=draining,
    )
    plain = PlainRequests(PlainCalls(registry, app, metrics=metrics))
    endpoint = McpEndpoint(
        server, doorkeeper, plain, draining=draining, has_sessions=settings.mcp_sessions
    )
    websocket = McpWebSocket(
        server=server, doorkeeper=doorkeeper, draining=draining, sessions=OpenSessions()
    )
    operation = Operation(app=app, challenges=challenges, metrics=metrics, draining=draining)
    console = build_console(app, settings=settings, draining=draining)

    @asynccontextmanager
    async def lifespan(asgi_app: Starlette) -> AsyncIterator[None]:
        async with endpoint.running():
            yield

    asgi_app = Starlette(
        routes=[
            # Both spellings are served: a redirect would lose the body of a POST in some clients.
            Route("/mcp", endpoint),
            Route("/mcp/", endpoint),
            WebSocketRoute("/mcp", websocket),
            WebSocketRoute("/mcp/", websocket),
            *metadata_routes(issuer),
            *operation.routes(),
            *console.routes,
        ],
        middleware=[
            Middleware(RequestIds),
            Middleware(AddressLimit, app, metrics, exempt=HEALTH_PATHS),
            _cors(settings),
        ],
        exception_handlers={HTTPException: console.refuse_unserved},
        lifespan=lifespan,
    )
    asgi_app.router.redirect_slashes = False
    return asgi_app


def _cors(settings: Settings) -> Middleware:
    """Let the browser pages that may call the server also read its answers."""
    return Middleware(
        CORSMiddleware,
        allow_origins=settings.mcp_allowed_origins,
        allow_origin_regex=r"http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?",
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["*"],
        expose_headers=["Mcp-Session-Id", "WWW-Authenticate", "X-Request-Id", "Retry-After"],
    )
