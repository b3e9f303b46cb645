"""MCP over streamable HTTP, served by uvicorn."""

from __future__ import annotations

import logging
import socket
from typing import TYPE_CHECKING

import uvicorn

from citewell.core.errors import CitewellError, SettingsError
from citewell.server.auth import check_binding, is_unspecified
from citewell.server.http_app import build_http_app
from citewell.server.late_services import late_services
from citewell.server.mcp_server import build_server
from citewell.server.stop_signals import on_stop_signal
from citewell.tools.catalog import open_registry

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from citewell.core.settings import Settings

logger = logging.getLogger(__name__)

_SHUTDOWN_SECONDS = 3


async def serve_http(settings: Settings) -> None:
    """Serve on the configured host and port until a signal comes.

    Unlike stdio, the services are opened at once: nobody waits for a first list of tools, and
    what is set wrong shows before the port is open.

    Raises:
        SettingsError: the port cannot be bound, or would be open to anyone.
        CitewellError: the services cannot be opened.
    """
    check_binding(settings)
    registry = open_registry(settings)
    failure: CitewellError | None = None
    with _bind(settings.mcp_host, settings.mcp_port) as listener:
        async with late_services(settings) as services:
            try:
                await services.get()
            except CitewellError as error:
                # Raised below: what leaves a task group leaves it wrapped in an ExceptionGroup.
                failure = error
            else:
                server = build_server(registry, services, settings=settings)
                app = build_http_app(server, settings=settings)
                await _run_uvicorn(app, listener, settings=settings)
    if failure is not None:
        raise failure


async def _run_uvicorn(app: Starlette, listener: socket.socket, *, settings: Settings) -> None:
    host, port = listener.getsockname()[:2]
    logger.info("server started: transport streamable-http, host %s, port %d", host, port)
    if is_unspecified(settings.mcp_host) and not settings.mcp_allowed_hosts:
        logger.warning(
            "MCP_ALLOWED_HOSTS is empty: requests that name this host other than as localhost "
            "are refused"
        )
    config = uvicorn.Config(
        app,
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        ws="none",
    )
    # uvicorn handles the signals itself and raises them again when it is done: the one we set
    # makes that a return instead of a death by signal.
    with on_stop_signal(lambda: None):
        await uvicorn.Server(config).serve(sockets=[listener])
    logger.info("server stopped")


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        message = f"cannot listen on MCP_HOST={host} MCP_PORT={port}: {error.strerror}"
        raise SettingsError(message) from error
