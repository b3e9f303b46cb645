"""`serve`: runs the chosen transport until it is stopped."""

from __future__ import annotations

import logging
import os
import threading
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from citewell.server.logging_setup import configure_logging
from citewell.server.stdio_channel import claimed_stdio
from citewell.server.stdio_front import Handover, answer_until_unknown, load_prepared_answers
from citewell.server.stop_signals import on_stop_signal

if TYPE_CHECKING:
    from citewell.core.settings import Settings
    from citewell.server.stdio_channel import LineChannel

logger = logging.getLogger(__name__)


def serve(settings: Settings) -> None:
    """Serve MCP over the transport that `settings` name until the client goes or a signal comes.

    Raises:
        CitewellError: a setting is wrong, or what it names cannot be opened.
    """
    configure_logging(settings.mcp_log_level, form=settings.mcp_log_format)
    if settings.mcp_transport == "stdio":
        _serve_stdio(settings)
    else:
        _serve_http(settings)


def _serve_stdio(settings: Settings) -> None:
    with claimed_stdio() as channel, on_stop_signal(_leave):
        logger.info("server started: transport stdio")
        handover = _answer_while_loading(settings, channel)
        # Imported late, as is anyio: the client has had its first answers by now.
        import anyio

        from citewell.server.stdio_server import serve_stdio

        anyio.run(serve_stdio, settings, channel, handover)
        logger.info("server stopped")


def _answer_while_loading(settings: Settings, channel: LineChannel) -> Handover:
    prepared = load_prepared_answers(settings)
    if prepared is None:
        return Handover()
    loading = threading.Thread(
        target=import_module, args=("citewell.server.stdio_server",), daemon=True
    )
    loading.start()
    handover = answer_until_unknown(channel, prepared)
    if handover is None:
        _leave()
    loading.join()
    return handover


def _leave() -> NoReturn:
    # Not by sys.exit: the interpreter cannot end in good order while a thread is importing.
    logger.info("server stopped")
    os._exit(0)


def _serve_http(settings: Settings) -> None:
    # Imported late: the stdio transport starts without the web framework.
    import anyio

    from citewell.server.http_server import serve_http

    anyio.run(serve_http, settings)
