"""MCP over a channel of lines, served by the SDK."""

from __future__ import annotations

import threading
from contextlib import asynccontextmanager, suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import mcp_types as types
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from citewell.server.jsonrpc import INVALID_REQUEST, Fault, parse_message

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from anyio.abc import ObjectReceiveStream, ObjectSendStream
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.lowlevel import Server

    from citewell.server.early_answer import EarlyAnswer
    from citewell.server.stdio_channel import LineChannel
    from citewell.server.stdio_front import Handover

_ANSWERS = (types.JSONRPCResponse, types.JSONRPCError)


async def serve_channel(
    server: Server[Any],
    channel: LineChannel,
    handover: Handover,
    *,
    on_answer: Callable[[], None] = lambda: None,
    early: EarlyAnswer | None = None,
) -> None:
    """Serve `channel` until the client closes it.

    The client can still cancel the call behind the `early` answer.
    """
    async with _open_streams(channel, handover, on_answer, early) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


@asynccontextmanager
async def _open_streams(
    channel: LineChannel,
    handover: Handover,
    on_answer: Callable[[], None],
    early: EarlyAnswer | None,
) -> AsyncIterator[
    tuple[
        MemoryObjectReceiveStream[SessionMessage | Exception],
        MemoryObjectSendStream[SessionMessage],
    ]
]:
    """Yield the channel's incoming and outgoing messages as the streams that the SDK uses."""
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage]()
    faults = outgoing.clone()
    token = anyio.lowlevel.current_token()

    def read_lines() -> None:
        # RuntimeError and closed streams: the server has ended while this thread was waiting.
        with suppress(RuntimeError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            for line in chain(handover.lines, iter(channel.read_line, None)):
                anyio.from_thread.run(_deliver, line, to_server, faults, early, token=token)
            anyio.from_thread.run(to_server.aclose, token=token)

    with to_server, from_server, faults:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(
                _write_lines, channel, from_server, handover, on_answer, tasks.cancel_scope
            )
            # A daemon, for nothing can interrupt a thread that waits for stdin.
            threading.Thread(target=read_lines, name="stdin", daemon=True).start()
            yield incoming, outgoing
            # The writer ends when both senders are closed; the server has closed the other one.
            faults.close()


async def _deliver(
    line: bytes,
    to_server: ObjectSendStream[SessionMessage | Exception],
    faults: ObjectSendStream[SessionMessage],
    early: EarlyAnswer | None,
) -> None:
    """Hand a line to the server, or answer it when it holds no message."""
    message = parse_message(line)
    if not isinstance(message, Fault):
        if early is not None:
            early.cancel_by(message)
        try:
            valid = types.jsonrpc_message_adapter.validate_python(message, by_name=False)
        except ValidationError:
            message = Fault(code=INVALID_REQUEST, message="Invalid request.")
        else:
            await to_server.send(SessionMessage(valid))
            return
    error = types.ErrorData(code=message.code, message=message.message)
    await faults.send(
        SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=message.request_id, error=error))
    )


async def _write_lines(
    channel: LineChannel,
    from_server: ObjectReceiveStream[SessionMessage],
    handover: Handover,
    on_answer: Callable[[], None],
    scope: anyio.CancelScope,
) -> None:
    """Write the server's messages, except the answer that the front has already given."""
    answered = handover.answered_id
    async for item in from_server:
        message = item.message
        if answered is not None and isinstance(message, _ANSWERS) and message.id == answered:
            answered = None
            continue
        line = message.model_dump_json(by_alias=True, exclude_unset=True).encode()
        try:
            await anyio.to_thread.run_sync(channel.write_line, line)
        except OSError:
            scope.cancel()
            return
        if isinstance(message, _ANSWERS):
            on_answer()
