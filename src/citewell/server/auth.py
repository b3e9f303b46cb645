"""Who may call the HTTP server: where it may be bound, which names it has, whose request it is."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse

from citewell.core.errors import AccessRefused, SettingsError, TokenMissing
from citewell.core.hosts import is_loopback, is_unspecified

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection
    from starlette.responses import Response

    from citewell.app.parts import OpensParts
    from citewell.core.errors import CitewellError
    from citewell.core.records import Caller
    from citewell.core.settings import Settings

_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_REALM = 'Bearer realm="citewell"'


async def identify(connection: HTTPConnection, app: OpensParts) -> Caller:
    """Return who sent a request, by its Authorization header; `session` is left empty.

    Raises:
        AccessRefused: a bearer token is asked for, and there is none or no valid one.
        BillingDown, StoreError: it cannot be told.
    """
    header = connection.headers.get("authorization")
    if header is not None:
        # Starlette reads headers as Latin-1; names of people may hold any letter.
        header = header.encode("latin-1").decode("utf-8", "replace")
    return await (await app.open("access")).access.gate.identify(header)


@lru_cache(maxsize=1_000)
def session_user(key_hash: str) -> AuthenticatedUser:
    """Return a key as the SDK knows users: a session can be used only by who opened it."""
    # The token itself is left out: nothing in the SDK needs it.
    return AuthenticatedUser(AccessToken(token="", client_id=key_hash, scopes=[]))


def refuse_unidentified(error: CitewellError) -> Response:
    """Return the answer to a request whose sender is not let in, or cannot be told."""
    if not isinstance(error, AccessRefused):
        body = {"error": "unavailable", "error_description": error.message, "code": error.code}
        return JSONResponse(body, status_code=503, headers={"Retry-After": "5"})
    is_missing = isinstance(error, TokenMissing)
    challenge = _REALM if is_missing else f'{_REALM}, error="invalid_token"'
    body = {"error": "unauthorized", "error_description": error.message}
    return JSONResponse(body, status_code=401, headers={"WWW-Authenticate": challenge})


def insufficient_scope(scope: str) -> dict[str, str]:
    """Return the headers of a 403 that say which scope is missing."""
    return {"WWW-Authenticate": f'{_REALM}, error="insufficient_scope", scope="{scope}"'}


def check_binding(settings: Settings, *, has_keys: bool = False) -> None:
    """Refuse to open a port to the network that anyone could use.

    Raises:
        SettingsError: the host is beyond loopback and nothing guards it.
    """
    guarded = settings.mcp_auth_token or settings.billing_url or has_keys
    if is_loopback(settings.mcp_host) or guarded or settings.mcp_allow_anonymous:
        return
    raise SettingsError(
        f"CITEWELL_MCP_HOST={settings.mcp_host} is reachable from the network but no token is "
        "required: set CITEWELL_MCP_AUTH_TOKEN, make a key with `citewell keys create NAME`, "
        "set CITEWELL_BILLING_URL, or set CITEWELL_MCP_ALLOW_ANONYMOUS=true to serve anyone"
    )


def allowed_names(settings: Settings) -> TransportSecuritySettings:
    """Return the Host and Origin headers that are served: loopback and what is configured."""
    own = list(settings.mcp_allowed_hosts)
    if not is_loopback(settings.mcp_host) and not is_unspecified(settings.mcp_host):
        own.append(_in_url(settings.mcp_host))
    names = [*_LOOPBACK_NAMES, *own]
    return TransportSecuritySettings(
        allowed_hosts=[form for name in names for form in (name, f"{name}:*")],
        allowed_origins=[
            *(f"http://{name}{port}" for name in _LOOPBACK_NAMES for port in ("", ":*")),
            # The server's own pages, which it serves under these names.
            *(f"{scheme}://{name}" for name in own for scheme in ("https", "http")),
            *settings.mcp_allowed_origins,
        ],
    )


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
