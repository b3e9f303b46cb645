"""The OAuth issuer that a server trusts, as the settings describe it."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from citewell.core.errors import SettingsError
from citewell.core.frozen import frozen
from citewell.core.identity import ALL_SCOPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.settings import Settings

MCP_PATH = "/mcp"
CALLBACK_PATH = "/auth/callback"


@frozen
class IssuerTerms:
    """The OAuth authorization server whose tokens are accepted, and Citewell's place with it."""

    issuer: str
    public_url: str
    """Where clients and browsers reach this server, without a path."""
    audience: str | None = None
    """What tokens may also be issued for, besides the MCP endpoint's address."""
    required_scopes: Sequence[str] = ()
    access_claim: str = "scope"
    access_values: Sequence[str] = ()
    """`value=scope` pairs; empty means the claim holds `read`, `write` or `admin` themselves."""
    default_access: str = "read"
    client_id: str | None = None
    """None means that nobody signs in to the consoles."""
    client_secret: str | None = field(default=None, repr=False)

    @property
    def resource(self) -> str:
        """The identifier of the MCP endpoint (RFC 8707)."""
        return f"{self.public_url.rstrip('/')}{MCP_PATH}"

    @property
    def requested_resource(self) -> str:
        """What Citewell's own sign-in asks a token for; an audience that is no URI cannot be."""
        if self.audience is not None and "://" in self.audience:
            return self.audience
        return self.resource

    @property
    def scopes(self) -> list[str]:
        """The scopes that clients ask the issuer for."""
        return list(dict.fromkeys([*self.required_scopes, *self._granting]))

    def scopes_for(self, access: str) -> list[str]:
        """Return the scopes that a client asks the issuer for to get `access` here."""
        named = [scope for scope, granted in self._granting.items() if granted == access]
        return list(dict.fromkeys([*self.required_scopes, *named]))

    @property
    def _granting(self) -> dict[str, str]:
        """What each scope of the issuer grants here; none where another claim does."""
        if self.access_claim != "scope":
            return {}
        itself = {access: access for access in ("read", "write", "admin")}
        return parse_access_values(self.access_values) or itself


def issuer_terms(settings: Settings) -> IssuerTerms | None:
    """Return the OAuth settings; None when no issuer is set."""
    if settings.oauth_issuer is None:
        return None
    return IssuerTerms(
        issuer=settings.oauth_issuer,
        public_url=settings.public_url or f"http://{settings.mcp_host}:{settings.mcp_port}",
        audience=settings.oauth_audience,
        required_scopes=settings.oauth_required_scopes,
        access_claim=settings.oauth_access_claim,
        access_values=settings.oauth_access_values,
        default_access=settings.oauth_default_access,
        client_id=settings.oauth_client_id,
        client_secret=settings.oauth_client_secret,
    )


def parse_access_values(pairs: Sequence[str]) -> dict[str, str]:
    """Return the scope of Citewell for each `value=scope` pair.

    Raises:
        SettingsError: a pair has another form.
    """
    values: dict[str, str] = {}
    for pair in pairs:
        value, _, scope = pair.rpartition("=")
        if not value or scope not in ALL_SCOPES:
            raise SettingsError(
                f"CITEWELL_OAUTH_ACCESS_VALUES: {pair!r} is not VALUE=read, VALUE=write "
                "or VALUE=admin"
            )
        values[value] = scope
    return values
