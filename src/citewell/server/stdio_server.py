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
from citewell.server.early_answer import EarlyAnswer
from citewell.server.jsonrpc import Fault, parse_message
from citewell.server.memory import keep_giving_memory_back, share_memory_between_threads
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
# The client's other messages, such as a cancellation, are read after this time at the latest.
_UNHEARD_SECONDS = 2.0


async def serve_stdio(settings: Settings, channel: LineChannel, handover: Handover) -> None:
    """Serve the client at the other end of `channel` until it goes or a signal comes."""
    async with open_app(settings, later=("background",)) as app:
        loop = asyncio.get_running_loop()
        # Only what is inside the scope is cancelled: the parts are to close in good order.
        with (
            anyio.CancelScope() as scope,
            on_stop_signal(lambda: loop.call_soon_threadsafe(scope.cancel)),
        ):
            async with anyio.create_task_group() as tasks:
                early = _find_early_answer(app, handover)
                if early is not None:
                    handover = replace(handover, lines=handover.lines[:-1])
                    tasks.start_soon(early.give, channel)
                    with anyio.move_on_after(_UNHEARD_SECONDS):
                        await early.is_over.wait()
                    app.open_later()
                await anyio.to_thread.run_sync(load_sdk)
                tasks.start_soon(keep_giving_memory_back)
                await _serve_by_sdk(app, channel, handover, early)
                tasks.cancel_scope.cancel()


def load_sdk() -> None:
    """Import what the SDK's server and all of its tools are made of."""
    share_memory_between_threads()
    # Hardly anything that modules are made of becomes garbage; looking for some while they load
    # took a tenth of the time.
    gc.disable()
    for module in _SDK_MODULES:
        import_module(module)
    gc.freeze()
    gc.enable()


def _find_early_answer(app: App, handover: Handover) -> EarlyAnswer | None:
    """Return the answer to the call that was handed over, if it needs no SDK."""
    early = handover.early
    if early is None:
        return None
    message = parse_message(handover.lines[-1])
    assert not isinstance(message, Fault), "the front has parsed it"
    calls = PlainCalls(open_early_registry(early.tool, app.settings, listed=early.listed), app)
    # Progress may be left out: the call is over before a client would show any.
    call = calls.find(message, ignores_progress=True)
    if call is None:
        return None
    caller = local_caller(app.settings.project)
    return EarlyAnswer(calls, call, caller, modern=early.is_modern)


async def _serve_by_sdk(
    app: App, channel: LineChannel, handover: Handover, early: EarlyAnswer | None
) -> None:
    # Imported late: a first call may have been answered without it.
    from citewell.server.line_session import serve_channel
    from citewell.server.mcp_server import build_server
    from citewell.tools.catalog import open_registry

    server = build_server(open_registry(app.settings), app, settings=app.settings)
    # Loading what works beside the calls takes longer than answering the first one.
    await serve_channel(server, channel, handover, on_answer=app.open_later, early=early)
