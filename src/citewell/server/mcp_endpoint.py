"""`/mcp` over HTTP: one URL for MCP clients of both eras and for plain POSTs."""

from __future__ import annotations

from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import override

from citewell.core.fair_turns import share_of
from citewell.server.auth import session_user
from citewell.server.calls import CALLER_KEY
from citewell.server.departure import DEPARTURE_KEY, Departure
from citewell.server.event_store import RETRY_MILLISECONDS, KeptEvents
from citewell.server.fault_response import fault_response
from citewell.server.jsonrpc import MAX_REQUEST_BYTES, RATE_LIMITED, Fault, parse_message
from citewell.server.open_sessions import TOO_MANY_SESSIONS, OpenSessions
from citewell.server.subscriptions import LISTEN_METHOD

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.server.auth.middleware.bearer_auth import AuthorizationContext
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http import StreamableHTTPServerTransport
    from starlette.types import Receive, Scope, Send

    from citewell.core.records import Caller
    from citewell.server.doorkeeper import Doorkeeper
    from citewell.server.draining import Draining
    from citewell.server.plain_requests import PlainRequests


class McpEndpoint:
    """One URL for every kind of client; see `_choose_manager`."""

    def __init__(
        self,
        server: Server[Any],
        doorkeeper: Doorkeeper,
        plain: PlainRequests,
        *,
        draining: Draining,
        has_sessions: bool = True,
    ) -> None:
        self._doorkeeper = doorkeeper
        self._plain = plain
        self._draining = draining
        self._has_sessions = has_sessions
        self._stateful = _SessionManager(
            server,
            retry_interval=RETRY_MILLISECONDS,
            max_request_body_size=MAX_REQUEST_BYTES,
        )
        self._stateless = StreamableHTTPSessionManager(
            server, stateless=True, json_response=True, max_request_body_size=MAX_REQUEST_BYTES
        )
        self._streaming = StreamableHTTPSessionManager(
            server, stateless=True, max_request_body_size=MAX_REQUEST_BYTES
        )
        self._bounded_post = RequestBodyLimitMiddleware(self._answer_post, MAX_REQUEST_BYTES)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep sessions while inside; all of them end on leaving."""
        async with self._stateful.run(), self._stateless.run(), self._streaming.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        request = Request(scope, receive)
        admitted = await self._doorkeeper.admit(request)
        if isinstance(admitted, Response):
            await admitted(scope, receive, send)
            return
        scope = _with_caller(scope, admitted)
        if request.method == "POST":
            with self._draining.busy():
                await self._bounded_post(scope, receive, self._draining.closing(send))
        elif not self._has_sessions:
            # GET opens a session's event stream; DELETE ends the session.
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
        else:
            if request.method == "DELETE":
                self._plain.end(scope, admitted)
            # The stream of a GET does not end by itself.
            until_stop = self._draining.until_stop(receive)
            await self._stateful.handle_request(scope, until_stop, send)

    async def _answer_post(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The body limit passes the body on in one piece, unless the client left before its end.
        request = await receive()
        if request["type"] != "http.request" or request["more_body"]:
            return
        body: bytes = request["body"]
        message = parse_message(body)
        if not isinstance(message, Fault):
            fault = await self._doorkeeper.find_fault(message, scope[CALLER_KEY])
            message = message if fault is None else fault
        if isinstance(message, Fault):
            await fault_response(message)(scope, receive, send)
            return
        caller: Caller = scope[CALLER_KEY]
        plain = self._plain.find(scope, message, caller)
        if plain is not None:
            await self._plain.answer(plain, receive, send)
            return
        send = self._plain.note(scope, message, caller, send)
        if message.get("method") == LISTEN_METHOD:
            # This stream does not end by itself either.
            receive = self._draining.until_stop(receive)
        departure = Departure()
        scope = {**scope, DEPARTURE_KEY: departure}
        manager = self._choose_manager(Headers(scope=scope), message)
        if manager is not self._stateless:
            # Its responses watch for the client to leave by themselves.
            await manager.handle_request(scope, departure.noticing(body, receive), send)
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(departure.watch, receive)
            await manager.handle_request(scope, departure.noticing(body), send)
            tasks.cancel_scope.cancel()

    def _choose_manager(
        self, headers: Headers, message: dict[str, Any]
    ) -> StreamableHTTPSessionManager:
        """Return who serves the message.

        A client of the handshake era that neither opens nor names a session, such as curl, gets
        one answer in plain JSON. Everything else is stateful, including the sessionless era of
        2026: a JSON answer has no room for progress and cannot be cancelled. Where sessions are
        off, clients of the handshake era that accept event streams still get progress.
        """
        version = headers.get("mcp-protocol-version")
        is_modern = version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS
        if is_modern:
            return self._stateful
        if not self._has_sessions:
            streams = "text/event-stream" in headers.get("accept", "")
            return self._streaming if streams else self._stateless
        in_session = "mcp-session-id" in headers or message.get("method") == "initialize"
        return self._stateful if in_session else self._stateless


# Who sent the request that is being served.
_share: ContextVar[str] = ContextVar("share")


class _SessionManager(StreamableHTTPSessionManager):
    """Gives each session an event store of its own, and no caller the sessions of all others."""

    def __init__(self, server: Server[Any], **options: Any) -> None:  # noqa: ANN401 - as the SDK's
        super().__init__(server, **options)
        self._kept_events = KeptEvents()
        self._open = OpenSessions()
        self._shares: dict[str, str] = {}

    @override
    async def _handle_stateful_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        share = share_of(scope[CALLER_KEY])
        if "mcp-session-id" not in Headers(scope=scope) and not self._open.has_room(share):
            fault = Fault(code=RATE_LIMITED, message=TOO_MANY_SESSIONS, status=429)
            await fault_response(fault)(scope, receive, send)
            return
        _share.set(share)
        await super()._handle_stateful_request(scope, receive, send)

    @override
    def _admit_session(
        self, requestor: AuthorizationContext | None
    ) -> StreamableHTTPServerTransport | None:
        share = _share.get()
        # Others of this caller may have been opened while this request waited for its turn.
        if not self._open.has_room(share):
            return None
        self.event_store = self._kept_events.of_new_session()
        transport = super()._admit_session(requestor)
        if transport is not None and transport.mcp_session_id is not None:
            self._open.begin(share)
            self._shares[transport.mcp_session_id] = share
        return transport

    @override
    async def _discard_session(
        self, session_id: str, transport: StreamableHTTPServerTransport
    ) -> None:
        share = self._shares.pop(session_id, None)
        if share is not None:
            self._open.end(share)
        await super()._discard_session(session_id, transport)


def _with_caller(scope: Scope, caller: Caller) -> Scope:
    known: dict[str, Any] = {CALLER_KEY: caller}
    if caller.key_hash is not None:
        known["user"] = session_user(caller.key_hash)
    return {**scope, **known}
