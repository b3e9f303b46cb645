"""Who may call the HTTP server: where it may be bound, which names it has, whose request it is."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from starlette.routing import Route

from citewell.core.errors import AccessRefused, GrantTooNarrow, SettingsError, TokenMissing
from citewell.core.hosts import is_loopback, is_unspecified
from citewell.core.issuer import MCP_PATH
from citewell.server.locality import is_local, network_of

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection, Request
    from starlette.responses import Response

    from citewell.app.parts import OpensParts
    from citewell.core.errors import CitewellError
    from citewell.core.issuer import IssuerTerms
    from citewell.core.records import Caller
    from citewell.core.settings import Settings

_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
METADATA_PATH = "/.well-known/oauth-protected-resource"
_REALM = 'Bearer realm="citewell"'


async def identify(connection: HTTPConnection, app: OpensParts) -> Caller:
    """Return who sent a request, by its Authorization header; `session` is left empty.

    Raises:
        AccessRefused: a bearer token is asked for, and there is none or no valid one.
        BillingDown, StoreError: the credentials could not be checked.
    """
    header = connection.headers.get("authorization")
    if header is not None:
        # Starlette reads headers as Latin-1; names of people may hold any letter.
        header = header.encode("latin-1").decode("utf-8", "replace")
    gate = (await app.open("access")).access.gate
    caller = await gate.identify(header, is_local=is_local(connection, app.settings))
    if caller.share is None and not caller.is_local:
        # Sessions and invented tokens cost nothing, an address does.
        return replace(caller, share=f"address {network_of(connection.scope)}")
    return caller


@lru_cache(maxsize=1_000)
def session_user(key_hash: str) -> AuthenticatedUser:
    """Return a key as the SDK knows users: a session can be used only by who opened it."""
    # The token itself is left out: nothing in the SDK needs it.
    return AuthenticatedUser(AccessToken(token="", client_id=key_hash, scopes=[]))


class Challenges:
    """How requests are turned away: what the caller lacks, and where to get it (RFC 6750, 9728)."""

    def __init__(self, issuer: IssuerTerms | None) -> None:
        self._issuer = issuer

    def refuse(self, error: CitewellError) -> Response:
        """Return the answer to a request whose sender is unknown or cannot be checked."""
        if isinstance(error, GrantTooNarrow):
            # The challenge names the required scopes by itself.
            body = {"error": "insufficient_scope", "error_description": error.message}
            headers = self._challenge(error="insufficient_scope")
            return JSONResponse(body, status_code=403, headers=headers)
        if not isinstance(error, AccessRefused):
            body = {"error": "unavailable", "error_description": error.message, "code": error.code}
            return JSONResponse(body, status_code=503, headers={"Retry-After": "5"})
        body = {
            "error": "unauthorized",
            "error_description": error.message,
            "how_to_get_access": self._how_to_get_access(),
        }
        named = {} if isinstance(error, TokenMissing) else {"error": "invalid_token"}
        return JSONResponse(body, status_code=401, headers=self._challenge(**named))

    def lacks_access(self, access: str) -> dict[str, str]:
        """Return the headers of a 403 that name the scope which grants the missing access."""
        if self._issuer is None:
            return self._challenge(error="insufficient_scope", scope=access)
        scopes = self._issuer.scopes_for(access)
        return self._challenge(error="insufficient_scope", scope=" ".join(scopes))

    def _challenge(self, **parameters: str) -> dict[str, str]:
        if self._issuer is not None:
            parameters["resource_metadata"] = metadata_url(self._issuer)
            parameters.setdefault("scope", " ".join(self._issuer.required_scopes))
        named = "".join(f', {name}="{value}"' for name, value in parameters.items() if value)
        return {"WWW-Authenticate": f"{_REALM}{named}"}

    def _how_to_get_access(self) -> str:
        key = (
            "Ask the operator of this server for a key (made with `citewell keys create NAME`) "
            "and send it as `Authorization: Bearer KEY`."
        )
        if self._issuer is None:
            return key
        return f"Sign in with OAuth at {self._issuer.issuer}, or use a key. {key}"


def metadata_url(issuer: IssuerTerms) -> str:
    """Return where the metadata of the MCP endpoint is published (RFC 9728 §3.1)."""
    return f"{issuer.public_url.rstrip('/')}{METADATA_PATH}{MCP_PATH}"


def metadata_routes(issuer: IssuerTerms | None) -> list[Route]:
    """Return the protected resource metadata, at its path and at the root."""
    if issuer is None:
        return []
    document = {
        # Clients refuse metadata that names another resource than the one they called.
        "resource": issuer.resource,
        "authorization_servers": [issuer.issuer],
        "scopes_supported": issuer.scopes,
        "bearer_methods_supported": ["header"],
        "resource_name": "Citewell",
    }

    async def show_metadata(request: Request) -> Response:
        # Any page may read it: it names no secret, and browser clients start here.
        headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600"}
        return JSONResponse(document, headers=headers)

    paths = (f"{METADATA_PATH}{MCP_PATH}", METADATA_PATH)
    return [Route(path, show_metadata, methods=["GET"]) for path in paths]


def check_binding(settings: Settings, *, has_keys: bool = False) -> None:
    """Refuse to open a port to the network that anyone could use.

    Raises:
        SettingsError: the host is beyond loopback and nothing guards it.
    """
    guarded = settings.mcp_auth_token or settings.oauth_issuer or settings.billing_url or has_keys
    if is_loopback(settings.mcp_host) or guarded or settings.mcp_allow_anonymous:
        return
    raise SettingsError(
        f"CITEWELL_MCP_HOST={settings.mcp_host} is reachable from the network but no token is "
        "required: set CITEWELL_MCP_AUTH_TOKEN, make a key with `citewell keys create NAME`, "
        "set CITEWELL_OAUTH_ISSUER or CITEWELL_BILLING_URL, or set "
        "CITEWELL_MCP_ALLOW_ANONYMOUS=true to serve anyone"
    )


def allowed_names(settings: Settings) -> TransportSecuritySettings:
    """Return the Host and Origin headers that are served: loopback and what is configured."""
    public_names = list(settings.mcp_allowed_hosts)
    if not is_loopback(settings.mcp_host) and not is_unspecified(settings.mcp_host):
        public_names.append(_in_url(settings.mcp_host))
    names = [*_LOOPBACK_NAMES, *public_names]
    return TransportSecuritySettings(
        allowed_hosts=[form for name in names for form in (name, f"{name}:*")],
        allowed_origins=[
            *(f"http://{name}{port}" for name in _LOOPBACK_NAMES for port in ("", ":*")),
            # The server's own web pages under its public names.
            *(f"{scheme}://{name}" for name in public_names for scheme in ("https", "http")),
            *settings.mcp_allowed_origins,
        ],
    )


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
