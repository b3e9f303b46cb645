"""MCP over HTTP, served by uvicorn until a signal comes and what runs has ended."""

from __future__ import annotations

import gc
import logging
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import uvicorn
from typing_extensions import override

from citewell.app.open import open_app
from citewell.app.parts import PART_NAMES
from citewell.core.hosts import is_unspecified
from citewell.core.tokens import count_tokens
from citewell.server.auth import check_binding
from citewell.server.draining import Draining
from citewell.server.http_app import build_http_app
from citewell.server.jsonrpc import MAX_REQUEST_BYTES
from citewell.server.listener import bind
from citewell.server.mcp_server import build_server
from citewell.server.memory import keep_giving_memory_back, share_memory_between_threads
from citewell.server.metrics import Metrics
from citewell.server.paced_connections import PacedHttp
from citewell.server.paced_web_socket import PacedWebSocket
from citewell.server.shared_sessions import SharedSessions
from citewell.server.stop_signals import on_stop_signal
from citewell.tools.catalog import open_registry

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable, Iterator

    from starlette.applications import Starlette
    from starlette.types import ASGIApp

    from citewell.app.open import App
    from citewell.core.settings import Settings
    from citewell.server.shared_sessions import Worker

logger = logging.getLogger(__name__)

DRAIN_SECONDS = 20.0
"""For running calls to end after a stop signal."""
# For connections to close once nothing runs on them; streams without an end are cut after it.
_CLOSING_SECONDS = 3
# Longer than proxies keep a connection, so that none sends a request into one just closed.
_KEEP_ALIVE_SECONDS = 75


async def serve_http(
    settings: Settings,
    *,
    listener: socket.socket | None = None,
    worker: Worker | None = None,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve on the configured host and port, or on `listener`, until a signal comes.

    Unlike stdio, all parts are opened at start: nobody waits for a first list of tools, and a
    wrong setting is reported before the port opens.

    Raises:
        SettingsError: the port cannot be bound, or would be open to anyone.
        CitewellError: a part cannot be opened.
    """
    share_memory_between_threads()
    with listener or bind(settings.mcp_host, settings.mcp_port) as bound:
        # Port 0 takes any free port; the log and progress messages name the real one.
        settings = replace(settings, mcp_port=bound.getsockname()[1])
        async with open_app(settings) as app:
            parts = await app.open(*PART_NAMES)
            check_binding(settings, has_keys=await parts.access.gate.is_guarded())
            on_stop = parts.desk.stop_waiting
            asgi_app, draining = await _build(app, settings)
            if worker is None:
                await _run_uvicorn(asgi_app, [bound], draining, settings=settings, on_stop=on_stop)
                return
            with worker.listen() as private:
                on_ready()
                shared = SharedSessions(asgi_app, worker)
                sockets = [bound, private]
                await _run_uvicorn(shared, sockets, draining, settings=settings, on_stop=on_stop)


async def _build(app: App, settings: Settings) -> tuple[Starlette, Draining]:
    """Return the application, and the count of its running requests."""
    registry = open_registry(settings)
    metrics, draining = Metrics(), Draining()
    server = build_server(registry, app, settings=settings, metrics=metrics)
    asgi_app = build_http_app(
        server, registry, app, settings=settings, metrics=metrics, draining=draining
    )
    await settle()
    return asgi_app, draining


async def settle() -> None:
    """Load what the first call would wait for, and exempt it from garbage collection.

    Scanning all loaded objects took a fifth of a call's time (bench/http_calls.py).
    """
    await anyio.to_thread.run_sync(count_tokens, "The table of tokens takes a second to load.")
    gc.collect()
    gc.freeze()


async def _run_uvicorn(
    app: ASGIApp,
    sockets: list[socket.socket],
    draining: Draining,
    *,
    settings: Settings,
    on_stop: Callable[[], None],
) -> None:
    host, port = sockets[0].getsockname()[:2]
    logger.info("server started: transport streamable-http, host %s, port %d", host, port)
    # Terminals make links of addresses, but not of hosts and ports.
    shown = "127.0.0.1" if is_unspecified(host) else f"[{host}]" if ":" in host else host
    logger.info("web app http://%s:%d/ · MCP http://%s:%d/mcp", shown, port, shown, port)
    if is_unspecified(settings.mcp_host) and not settings.mcp_allowed_hosts:
        logger.warning(
            "CITEWELL_MCP_ALLOWED_HOSTS is empty: requests that name this host other than as "
            "localhost are refused"
        )
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_CLOSING_SECONDS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        http=PacedHttp,
        ws=PacedWebSocket,
        ws_max_size=MAX_REQUEST_BYTES,
    )
    server = PatientServer(config)
    signalled = anyio.Event()
    # uvicorn wakes up ten times a second, so it sees the event soon.
    with on_stop_signal(signalled.set):
        async with anyio.create_task_group() as tasks:
            stop = partial(_stop, server, draining, seconds=DRAIN_SECONDS, on_stop=on_stop)
            tasks.start_soon(_do_when_set, signalled, stop)
            tasks.start_soon(keep_giving_memory_back)
            await server.serve(sockets=sockets)
            tasks.cancel_scope.cancel()
    logger.info("server stopped")


class PatientServer(uvicorn.Server):
    """A uvicorn server that leaves signals to us.

    uvicorn itself would cut every event stream at a signal, and with them the results of running
    calls.
    """

    @override
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop_listening(self) -> None:
        """Take no new connections."""
        for server in self.servers:
            server.close()


async def _do_when_set(event: anyio.Event, action: Callable[[], Awaitable[None]]) -> None:
    await event.wait()
    await action()


async def _stop(
    server: PatientServer, draining: Draining, *, seconds: float, on_stop: Callable[[], None]
) -> None:
    server.stop_listening()
    on_stop()
    with anyio.move_on_after(seconds):
        await draining.drain()
    if draining.running:
        logger.warning("%d calls did not end within %g seconds", draining.running, seconds)
    server.should_exit = True
