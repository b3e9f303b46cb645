"""`/mcp` over WebSocket (subprotocol `mcp`): one JSON-RPC message a frame, both ways."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from pydantic import ValidationError
from starlette.responses import PlainTextResponse, Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from citewell.core.fair_turns import share_of
from citewell.core.frozen import frozen
from citewell.server.calls import CALLER_KEY, SESSION_KEY
from citewell.server.jsonrpc import INVALID_REQUEST, Fault, parse_message
from citewell.server.open_sessions import TOO_MANY_SESSIONS, OpenSessions

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.lowlevel import Server
    from starlette.types import Receive, Scope, Send

    from citewell.server.doorkeeper import Doorkeeper
    from citewell.server.draining import Draining

SUBPROTOCOL = "mcp"

# RFC 6455, 7.4.1.
_UNSUPPORTED_DATA = 1003
_POLICY_VIOLATION = 1008

_ANSWERS = (types.JSONRPCResponse, types.JSONRPCError)


@frozen
class McpWebSocket:
    """The WebSocket endpoint; the checks are those of HTTP, repeated for every message."""

    server: Server[Any]
    doorkeeper: Doorkeeper
    draining: Draining
    sessions: OpenSessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection until the client or the server goes."""
        websocket = WebSocket(scope, receive, send)
        admitted = await self.doorkeeper.admit(websocket)
        offered = scope.get("subprotocols", [])
        if not isinstance(admitted, Response) and offered and SUBPROTOCOL not in offered:
            admitted = PlainTextResponse("The subprotocol is mcp.", status_code=400)
        if not isinstance(admitted, Response) and not self.sessions.has_room(share_of(admitted)):
            admitted = PlainTextResponse(TOO_MANY_SESSIONS, status_code=429)
        if isinstance(admitted, Response):
            await websocket.send_denial_response(admitted)
            return
        scope[CALLER_KEY] = admitted
        scope[SESSION_KEY] = secrets.token_hex(16)
        share = share_of(admitted)
        self.sessions.begin(share)
        try:
            await websocket.accept(subprotocol=SUBPROTOCOL if offered else None)
            await _Connection(websocket, self.doorkeeper, self.draining).serve(self.server)
        finally:
            self.sessions.end(share)


class _Connection:
    """One open WebSocket between its client and the SDK's server."""

    def __init__(self, websocket: WebSocket, doorkeeper: Doorkeeper, draining: Draining) -> None:
        self._websocket = websocket
        self._doorkeeper = doorkeeper
        self._draining = draining
        self._unanswered: set[str | int] = set()

    async def serve(self, server: Server[Any]) -> None:
        """Carry messages until either side ends."""
        to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
        outgoing, from_server = anyio.create_memory_object_stream[SessionMessage]()
        options = server.create_initialization_options()
        try:
            with to_server, from_server, outgoing.clone() as faults:
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._write, from_server, tasks.cancel_scope)
                    tasks.start_soon(self._read, to_server, faults, tasks.cancel_scope)
                    await server.run(incoming, outgoing, options)
                    tasks.cancel_scope.cancel()
        finally:
            for number in tuple(self._unanswered):
                self._settle(number)

    async def _read(
        self,
        to_server: MemoryObjectSendStream[SessionMessage | Exception],
        faults: MemoryObjectSendStream[SessionMessage],
        scope: anyio.CancelScope,
    ) -> None:
        """Hand messages to the server, and answer those that are not for it."""
        while (frame := await self._receive()) is not None:
            message = await self._check(frame)
            if message is None:
                await self._close(_POLICY_VIOLATION, "the token is no longer valid")
                break
            if isinstance(message, Fault):
                await faults.send(SessionMessage(_error(message)))
                continue
            await to_server.send(SessionMessage(message, metadata=self._metadata(message)))
        scope.cancel()

    async def _receive(self) -> str | None:
        """Return the next frame; None when there will be no other."""
        received = await self._websocket.receive()
        if received["type"] == "websocket.disconnect":
            return None
        text: str | None = received.get("text")
        if text is None:
            await self._close(_UNSUPPORTED_DATA, "messages are text")
        return text

    async def _check(self, frame: str) -> types.JSONRPCMessage | Fault | None:
        """Return the message of a frame, what is wrong with it, or None if the caller must go."""
        caller = await self._doorkeeper.recognise(self._websocket)
        if caller is None:
            return None
        self._websocket.scope[CALLER_KEY] = caller
        parsed = parse_message(frame.encode("utf-8", "surrogatepass"))
        if isinstance(parsed, Fault):
            return parsed
        fault = await self._doorkeeper.limit_address(self._websocket, parsed)
        fault = fault or await self._doorkeeper.find_fault(parsed, caller)
        if fault is not None:
            return fault
        try:
            message = types.jsonrpc_message_adapter.validate_python(parsed, by_name=False)
        except ValidationError:
            return Fault(code=INVALID_REQUEST, message="Invalid request.")
        return message

    def _metadata(self, message: types.JSONRPCMessage) -> ServerMessageMetadata:
        if not isinstance(message, types.JSONRPCRequest):
            return ServerMessageMetadata(request_context=self._websocket)
        number = message.id
        if number not in self._unanswered:
            self._unanswered.add(number)
            self._draining.begin()

        async def settle() -> None:
            self._settle(number)

        return ServerMessageMetadata(request_context=self._websocket, on_request_unanswered=settle)

    def _settle(self, number: str | int) -> None:
        """Note that a request is over, so that the server may stop."""
        if number in self._unanswered:
            self._unanswered.remove(number)
            self._draining.end()

    async def _write(
        self, from_server: MemoryObjectReceiveStream[SessionMessage], scope: anyio.CancelScope
    ) -> None:
        async for item in from_server:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await self._websocket.send_text(text)
            except (WebSocketDisconnect, RuntimeError):
                scope.cancel()
                return
            if isinstance(item.message, _ANSWERS) and item.message.id is not None:
                self._settle(item.message.id)

    async def _close(self, code: int, reason: str) -> None:
        try:
            await self._websocket.close(code, reason)
        except (WebSocketDisconnect, RuntimeError):
            # The client was quicker.
            return


def _error(fault: Fault) -> types.JSONRPCError:
    error = types.ErrorData(code=fault.code, message=fault.message, data=fault.data)
    return types.JSONRPCError(jsonrpc="2.0", id=fault.request_id, error=error)
