"""Who may call the HTTP server: where it may be bound, and the bearer token."""

from __future__ import annotations

import hmac
import ipaddress
from typing import TYPE_CHECKING

from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse

from citewell.core.errors import SettingsError
from citewell.core.ids import content_hash

if TYPE_CHECKING:
    from starlette.datastructures import Headers
    from starlette.responses import Response

    from citewell.core.settings import Settings

_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


class BearerAuth:
    """Compares the bearer token of a request with the one configured; None lets all in."""

    def __init__(self, token: str | None) -> None:
        self._token = None if token is None else token.encode()
        self.key_hash = None if token is None else content_hash(token)
        """What the caller's data is kept under; the token itself is kept nowhere."""

    def refuse(self, headers: Headers) -> Response | None:
        """Return the answer to a request that may not pass, None when it may."""
        if self._token is None:
            return None
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not given.strip():
            return _unauthorized('Bearer realm="citewell"', "A bearer token is required.")
        # Starlette reads headers as Latin-1; compare_digest takes the same time for any guess.
        if hmac.compare_digest(given.strip().encode("latin-1"), self._token):
            return None
        challenge = 'Bearer realm="citewell", error="invalid_token"'
        return _unauthorized(challenge, "The bearer token is not valid.")


def _unauthorized(challenge: str, description: str) -> Response:
    body = {"error": "unauthorized", "error_description": description}
    return JSONResponse(body, status_code=401, headers={"WWW-Authenticate": challenge})


def check_binding(settings: Settings) -> None:
    """Refuse to open a port to the network that anyone could use.

    Raises:
        SettingsError: the host is beyond loopback and nothing guards it.
    """
    if is_loopback(settings.mcp_host) or settings.mcp_auth_token or settings.mcp_allow_anonymous:
        return
    raise SettingsError(
        f"MCP_HOST={settings.mcp_host} is reachable from the network but no token is set: "
        "set MCP_AUTH_TOKEN, or MCP_ALLOW_ANONYMOUS=true to serve anyone"
    )


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a server bound to `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def allowed_names(settings: Settings) -> TransportSecuritySettings:
    """Return the Host and Origin headers that are served: loopback and what is configured."""
    names = [*_LOOPBACK_NAMES, *settings.mcp_allowed_hosts]
    if not is_loopback(settings.mcp_host) and not is_unspecified(settings.mcp_host):
        names.append(_in_url(settings.mcp_host))
    return TransportSecuritySettings(
        allowed_hosts=[form for name in names for form in (name, f"{name}:*")],
        allowed_origins=[
            *(f"http://{name}{port}" for name in _LOOPBACK_NAMES for port in ("", ":*")),
            *settings.mcp_allowed_origins,
        ],
    )


def is_unspecified(host: str) -> bool:
    """Tell whether `host` means every address of the machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return host == ""


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
