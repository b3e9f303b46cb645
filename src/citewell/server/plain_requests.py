"""Plain calls over HTTP: which requests are such calls, and how they are answered."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from citewell.server.calls import session_of_address
from citewell.server.jsonrpc import REQUEST_CANCELLED, VERSION_KEY, Fault, is_modern_envelope
from citewell.server.plain_calls import OLDEST_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import Message, Receive, Scope, Send

    from citewell.core.records import Caller
    from citewell.server.call_messages import PlainCall
    from citewell.server.plain_calls import PlainCalls

SESSION_HEADER = b"mcp-session-id"
# The SDK ends a session of which it has seen nothing for half an hour.
_UNSEEN_SECONDS = 300.0
_MAX_SESSIONS = 10_000
# Watching for the client to go takes longer than most calls.
_BRIEF_SECONDS = 0.5

_MODERN_VERSIONS = frozenset(MODERN_PROTOCOL_VERSIONS)
_HANDSHAKE_VERSIONS = frozenset(
    version.encode() for version in HANDSHAKE_PROTOCOL_VERSIONS if version >= OLDEST_VERSION
)

Json = dict[str, Any]


@dataclass(slots=True)
class _Session:
    """A session of the SDK's, as far as plain calls need to know it."""

    owner: str | None
    seen_at: float
    is_ready: bool = False


@dataclass(frozen=True, slots=True)
class PlainRequest:
    """A plain call and who makes it; `session` is None in the sessionless era."""

    call: PlainCall
    caller: Caller
    session: bytes | None


class PlainRequests:
    """Answers the plain calls of an endpoint, and knows the sessions that the SDK opened there."""

    def __init__(self, calls: PlainCalls) -> None:
        self._calls = calls
        self._sessions: OrderedDict[bytes, _Session] = OrderedDict()
        self._running: dict[tuple[bytes, str | int], anyio.CancelScope] = {}

    def find(self, scope: Scope, message: Json, caller: Caller) -> PlainRequest | None:
        """Return the plain call in a request, if it is one in which the SDK finds no fault."""
        call = self._calls.find(message)
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if call is None or len(headers) < len(scope["headers"]):
            return None
        accepted = headers.get(b"accept", b"")
        if b"application/json" not in accepted or b"text/event-stream" not in accepted:
            return None
        meta = message["params"].get("_meta") or {}
        version = headers.get(b"mcp-protocol-version", b"")
        if version in _HANDSHAKE_VERSIONS:
            session = headers.get(SESSION_HEADER, b"")
            if VERSION_KEY in meta or not self._is_open(session, caller):
                return None
            return PlainRequest(call, replace(caller, session=session.decode("latin-1")), session)
        routed = headers.get(b"mcp-method"), headers.get(b"mcp-name")
        if routed != (b"tools/call", call.name.encode()) or not is_modern_envelope(
            meta, {version.decode("latin-1")} & _MODERN_VERSIONS
        ):
            return None
        if any(name.startswith(b"mcp-param-") for name in headers):
            return None
        return PlainRequest(call, replace(caller, session=session_of_address(scope)), None)

    async def answer(self, request: PlainRequest, receive: Receive, send: Send) -> None:
        """Send the result of a call in one piece; nothing where its client has gone."""
        call, session = request.call, request.session
        body: bytes | None = None
        with _until_client_goes(receive) as scope, self._cancellable(session, call, scope):
            body = await self._calls.answer(call, request.caller, modern=session is None)
        if body is None:
            # As the SDK answers in the handshake era; in the other one the client has left.
            body = Fault(
                code=REQUEST_CANCELLED, message="Request cancelled", request_id=call.request_id
            ).encode()
        headers = [
            (b"content-length", str(len(body)).encode()),
            (b"content-type", b"application/json"),
        ]
        if session is not None:
            headers.append((SESSION_HEADER, session))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def note(self, scope: Scope, message: Json, caller: Caller, send: Send) -> Send:
        """Learn from what the SDK is about to serve; return `send` for its response."""
        if message.get("method") == "initialize":
            return self._noting_session(caller, send)
        name = _session_of(scope)
        session = self._sessions.get(name)
        if session is None or session.owner != caller.key_hash:
            return send
        session.seen_at = time.monotonic()
        match message.get("method"):
            case "notifications/initialized":
                session.is_ready = True
            case "logging/setLevel":
                # From now on its calls send log messages too, which need the SDK.
                del self._sessions[name]
            case "notifications/cancelled":
                cancelled = message.get("params", {}).get("requestId")
                if isinstance(cancelled, str | int) and (name, cancelled) in self._running:
                    self._running[name, cancelled].cancel()
        return send

    def end(self, scope: Scope, caller: Caller) -> None:
        """Cancel the calls of the caller's session that a request is about to end."""
        name = _session_of(scope)
        session = self._sessions.get(name)
        if session is None or session.owner != caller.key_hash:
            return
        del self._sessions[name]
        for (called_in, _), running in self._running.items():
            if called_in == name:
                running.cancel()

    def _is_open(self, name: bytes, caller: Caller) -> bool:
        session = self._sessions.get(name)
        return (
            session is not None
            and session.is_ready
            and session.owner == caller.key_hash
            and time.monotonic() - session.seen_at < _UNSEEN_SECONDS
        )

    def _noting_session(self, caller: Caller, send: Send) -> Send:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                name = dict(message["headers"]).get(SESSION_HEADER)
                if name is not None:
                    self._sessions[name] = _Session(caller.key_hash, time.monotonic())
                if len(self._sessions) > _MAX_SESSIONS:
                    self._sessions.popitem(last=False)
            await send(message)

        return sent

    @contextmanager
    def _cancellable(
        self, session: bytes | None, call: PlainCall, scope: anyio.CancelScope
    ) -> Iterator[None]:
        """Let the client cancel a call in a session by its id; no other request can name it."""
        if session is None:
            yield
            return
        name = session, call.request_id
        self._running[name] = scope
        try:
            yield
        finally:
            self._running.pop(name, None)


@contextmanager
def _until_client_goes(receive: Receive) -> Iterator[anyio.CancelScope]:
    """Cancel what runs inside once the client has gone; only calls that take long are watched."""
    watching: list[asyncio.Task[None]] = []
    with anyio.CancelScope() as scope:

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            scope.cancel()

        loop = asyncio.get_running_loop()
        timer = loop.call_later(_BRIEF_SECONDS, lambda: watching.append(loop.create_task(watch())))
        try:
            yield scope
        finally:
            timer.cancel()
            for task in watching:
                task.cancel()


def _session_of(scope: Scope) -> bytes:
    headers: dict[bytes, bytes] = dict(scope["headers"])
    return headers.get(SESSION_HEADER, b"")
