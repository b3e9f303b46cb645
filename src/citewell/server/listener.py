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
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        message = f"cannot listen on MCP_HOST={host} MCP_PORT={port}: {error.strerror}"
        raise SettingsError(message) from error
