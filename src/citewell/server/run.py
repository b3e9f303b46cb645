"""`serve`: runs the chosen transport until it is stopped."""

from __future__ import annotations

import gc
import logging
import os
import threading
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from citewell.core.settings import BARE_NAMES
from citewell.server.logging_setup import configure_logging
from citewell.server.stdio_channel import claimed_stdio
from citewell.server.stdio_front import Handover, answer_until_unknown, load_prepared_answers
from citewell.server.stop_signals import on_stop_signal

if TYPE_CHECKING:
    from citewell.core.settings import Settings
    from citewell.server.stdio_channel import LineChannel
    from citewell.server.stdio_front import Json

logger = logging.getLogger(__name__)

# A client that has not called a tool by then is not about to.
_QUIET_SECONDS = 0.3


def serve(settings: Settings) -> None:
    """Serve MCP over the transport that `settings` name until the client goes or a signal comes.

    Raises:
        CitewellError: a setting is wrong, or what it names cannot be opened.
    """
    configure_logging(settings.mcp_log_level, form=settings.mcp_log_format)
    settings.refuse_problems({"mcp_transport"} if settings.mcp_transport == "stdio" else BARE_NAMES)
    if settings.mcp_transport == "stdio":
        _serve_stdio(settings)
    else:
        _serve_http(settings)


def _serve_stdio(settings: Settings) -> None:
    # First, because it refuses unknown toolsets.
    prepared = load_prepared_answers(settings)
    if prepared is None:
        _refuse_unknown_tools(settings)
    with claimed_stdio() as channel, on_stop_signal(_leave):
        logger.info("server started: transport stdio")
        handover = Handover() if prepared is None else _answer_while_loading(channel, prepared)
        # Nor is there garbage in what a first call imports; `load_sdk` has the collector begin.
        gc.disable()
        # Imported late, as is anyio: the client has had its first answers by now.
        import anyio

        from citewell.server.stdio_server import serve_stdio

        anyio.run(serve_stdio, settings, channel, handover)
        logger.info("server stopped")


def _refuse_unknown_tools(settings: Settings) -> None:
    # Imported late: only a checkout without the prepared front needs it at this point.
    from citewell.tools.catalog import ALL_TOOLS
    from citewell.tools.toolsets import list_tools

    list_tools(ALL_TOOLS, settings)


def _answer_while_loading(channel: LineChannel, prepared: Json) -> Handover:
    # A client that calls immediately is served sooner while nothing else is loading.
    loading = threading.Timer(_QUIET_SECONDS, _load_server)
    loading.daemon = True
    loading.start()
    handover = answer_until_unknown(channel, prepared)
    if handover is None:
        _leave()
    loading.cancel()
    return handover


def _load_server() -> None:
    import_module("citewell.server.stdio_server").load_sdk()


def _leave() -> NoReturn:
    # Not by sys.exit: the interpreter cannot end in good order while a thread is importing.
    logger.info("server stopped")
    os._exit(0)


def _serve_http(settings: Settings) -> None:
    # Imported late: the stdio transport starts without the web framework.
    if settings.mcp_workers > 1:
        from citewell.server.workers import serve_workers

        serve_workers(settings)
        return
    import anyio

    from citewell.server.http_server import serve_http

    anyio.run(serve_http, settings)
