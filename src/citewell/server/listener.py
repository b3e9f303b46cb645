"""The socket that an HTTP server listens on."""

from __future__ import annotations

import socket

from citewell.core.errors import SettingsError


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes any that is free.

    Raises:
        SettingsError: the address cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        # asyncio's own words on where it tried to bind say the address once more.
        reason = str(error.strerror).partition(" (while")[0]
        raise SettingsError(
            f"cannot listen on {host} port {port}: {reason}; change CITEWELL_MCP_HOST or "
            "CITEWELL_MCP_PORT"
        ) from error
    # Connections inherit it; asyncio sets it only on sockets that name their protocol. Without it
    # every answer on a kept connection waits 40 ms for the headers to be acknowledged.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
