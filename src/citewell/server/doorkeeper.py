"""Admission to `/mcp`: allowed host names, valid credentials, and rate limits."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp.server.transport_security import TransportSecurityMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from citewell.core.errors import AccessRefused, CitewellError, ScopeViolation
from citewell.server.auth import allowed_names, identify
from citewell.server.fault_response import fault_response
from citewell.server.jsonrpc import INVALID_REQUEST, RATE_LIMITED, Fault
from citewell.server.locality import network_of

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection
    from starlette.types import ASGIApp, Receive, Scope, Send

    from citewell.app.parts import OpensParts
    from citewell.core.records import Caller
    from citewell.core.settings import Settings
    from citewell.server.auth import Challenges
    from citewell.server.draining import Draining
    from citewell.server.metrics import Metrics
    from citewell.tools.registry import Registry


class Doorkeeper:
    """Decides on requests and messages before the protocol sees them."""

    def __init__(
        self,
        registry: Registry,
        app: OpensParts,
        *,
        settings: Settings,
        challenges: Challenges,
        metrics: Metrics,
        draining: Draining,
    ) -> None:
        self._registry = registry
        self._app = app
        self._names = TransportSecurityMiddleware(allowed_names(settings))
        self._challenges = challenges
        self._metrics = metrics
        self._draining = draining

    async def admit(self, connection: HTTPConnection) -> Caller | Response:
        """Return who sent the request, or the response that rejects it."""
        if self._draining.is_over:
            self._metrics.count_refusal("stopping")
            body = {"error": "unavailable", "error_description": "The server is stopping."}
            return JSONResponse(body, status_code=503, headers={"Retry-After": "1"})
        request = connection
        if not isinstance(request, Request):
            # Only headers are read, and a WebSocket handshake has those too.
            request = Request({**connection.scope, "type": "http"})
        is_post = request.scope.get("method") == "POST"
        refusal = await self._names.validate_request(request, is_post=is_post)
        if refusal is not None:
            self._metrics.count_refusal("forbidden")
            return refusal
        try:
            return await identify(connection, self._app)
        except CitewellError as error:
            is_refused = isinstance(error, AccessRefused)
            self._metrics.count_refusal("unauthorized" if is_refused else "unavailable")
            return self._challenges.refuse(error)

    async def recognise(self, connection: HTTPConnection) -> Caller | None:
        """Return who sent a further message of an admitted connection; None if no longer admitted.

        Raises:
            CitewellError: the credentials could not be checked.
        """
        try:
            return await identify(connection, self._app)
        except AccessRefused:
            return None

    async def limit_address(
        self, connection: HTTPConnection, message: dict[str, Any]
    ) -> Fault | None:
        """Return why a message of an open connection is one too many of its address."""
        rates = (await self._app.open("access")).access.rates
        wait_seconds = await rates.check_address(network_of(connection.scope))
        if wait_seconds is None:
            return None
        self._metrics.count_refusal("rate_limited")
        return _too_many(wait_seconds, message.get("id"))

    async def find_fault(self, message: dict[str, Any], caller: Caller) -> Fault | None:
        """Return why a message is not served: a stop, a rate limit, or the key's scope."""
        if "method" not in message or "id" not in message:
            return None
        if self._draining.is_over:
            self._metrics.count_refusal("stopping")
            return Fault(
                code=RATE_LIMITED,
                message="The server is stopping.",
                request_id=message["id"],
                data={"retryAfter": 1},
                status=503,
            )
        wait_seconds = await (await self._app.open("access")).access.rates.check_key(caller)
        if wait_seconds is not None:
            self._metrics.count_refusal("rate_limited")
            return _too_many(wait_seconds, message["id"])
        if message["method"] != "tools/call":
            return None
        tool = self._registry.find(str(message.get("params", {}).get("name")))
        if tool is None:
            return None
        try:
            tool.refuse_others(caller)
        except ScopeViolation as error:
            self._metrics.count_refusal("forbidden")
            return Fault(
                code=INVALID_REQUEST,
                message=f"{error.message} {error.suggestion}",
                request_id=message["id"],
                status=403,
                headers=self._challenges.lacks_access(tool.needed_scope),
            )
        return None


class AddressLimit:
    """ASGI middleware: answers 429 to an address that sends too many requests."""

    def __init__(
        self, asgi_app: ASGIApp, app: OpensParts, metrics: Metrics, *, exempt: frozenset[str]
    ) -> None:
        self._asgi_app = asgi_app
        self._app = app
        self._metrics = metrics
        self._exempt = exempt

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or reject it."""
        if scope["type"] not in ("http", "websocket") or scope["path"] in self._exempt:
            await self._asgi_app(scope, receive, send)
            return
        wait_seconds = await self._check(scope)
        if wait_seconds is None:
            await self._asgi_app(scope, receive, send)
            return
        self._metrics.count_refusal("rate_limited")
        headers = {"Retry-After": str(math.ceil(wait_seconds))}
        fault = replace(_too_many(wait_seconds, None), status=429, headers=headers)
        await fault_response(fault)(scope, receive, send)

    async def _check(self, scope: Scope) -> float | None:
        try:
            rates = (await self._app.open("access")).access.rates
        except CitewellError:
            # The endpoint fails for the same reason and reports it.
            return None
        return await rates.check_address(network_of(scope))


def _too_many(wait_seconds: float, request_id: str | int | None) -> Fault:
    seconds = math.ceil(wait_seconds)
    return Fault(
        code=RATE_LIMITED,
        message=f"Too many requests; wait {seconds} seconds.",
        request_id=request_id,
        data={"retryAfter": seconds},
        status=200,
    )
