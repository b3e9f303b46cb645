"""MCP over stdio: a first call that only reads the library is answered before the SDK loads."""

from __future__ import annotations

import asyncio
import gc
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from citewell.app.open import open_app
from citewell.server.jsonrpc import Fault, parse_message
from citewell.server.plain_calls import PlainCalls, local_caller
from citewell.server.stop_signals import on_stop_signal
from citewell.tools.early import open_early_registry

if TYPE_CHECKING:
    from citewell.app.open import App
    from citewell.core.settings import Settings
    from citewell.server.stdio_channel import LineChannel
    from citewell.server.stdio_front import Handover

_SDK_MODULES = (
    "citewell.server.line_session",
    "citewell.server.mcp_server",
    "citewell.tools.catalog",
)


async def serve_stdio(settings: Settings, channel: LineChannel, handover: Handover) -> None:
    """Serve the client at the other end of `channel` until it goes or a signal comes."""
    async with open_app(settings, later=("background",)) as app:
        loop = asyncio.get_running_loop()
        # Only what is inside the scope is cancelled: the parts are to close in good order.
        with (
            anyio.CancelScope() as scope,
            on_stop_signal(lambda: loop.call_soon_threadsafe(scope.cancel)),
        ):
            handover = await _answer_early(app, channel, handover)
            await anyio.to_thread.run_sync(load_sdk)
            await _serve_by_sdk(app, channel, handover)


def load_sdk() -> None:
    """Import what the SDK's server and all of its tools are made of."""
    # Hardly anything that modules are made of becomes garbage; looking for some while they load
    # took a tenth of the time.
    gc.disable()
    for module in _SDK_MODULES:
        import_module(module)
    gc.freeze()
    gc.enable()


async def _answer_early(app: App, channel: LineChannel, handover: Handover) -> Handover:
    """Answer the call that was handed over, if it needs no SDK; return what is left to answer."""
    early = handover.early
    if early is None:
        return handover
    message = parse_message(handover.lines[-1])
    assert not isinstance(message, Fault), "the front has parsed it"
    registry = open_early_registry(early.tool, app.settings, listed=early.listed)
    calls = PlainCalls(registry, app)
    # Progress may be left out: the call is over before a client would show any.
    call = calls.find(message, ignores_progress=True)
    if call is None:
        return handover
    caller = local_caller(app.settings.project)
    answer = await calls.answer(call, caller, modern=early.is_modern)
    await anyio.to_thread.run_sync(channel.write_line, answer)
    app.open_later()
    return replace(handover, lines=handover.lines[:-1])


async def _serve_by_sdk(app: App, channel: LineChannel, handover: Handover) -> None:
    # Imported late: a first call may have been answered without it.
    from citewell.server.line_session import serve_channel
    from citewell.server.mcp_server import build_server
    from citewell.tools.catalog import open_registry

    server = build_server(open_registry(app.settings), app, settings=app.settings)
    # Loading what works beside the calls takes longer than answering the first one.
    await serve_channel(server, channel, handover, on_answer=app.open_later)
