"""Open the gate, the meter and the rate limits from the access policy."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from citewell.access.gate import AnonymousAccess, Gate
from citewell.access.meter import Meter, open_meter
from citewell.access.prices import PriceList
from citewell.access.rate_limit import IN_MEMORY
from citewell.access.rates import Rates
from citewell.core.errors import SettingsError
from citewell.core.frozen import frozen
from citewell.core.issuer import CALLBACK_PATH, IssuerTerms, parse_access_values

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from citewell.access.browser_session import SignIn
    from citewell.access.oauth import TokenVerifier
    from citewell.store.access import AccessStore

_BILLING_TIMEOUT_SECONDS = 5.0


@frozen
class AccessTerms:
    """The access and billing policy of a server."""

    auth_token: str | None = None
    anonymous: AnonymousAccess = AnonymousAccess()
    issuer: IssuerTerms | None = None
    """None means that no OAuth token is accepted."""
    tool_prices: Sequence[str] = ()
    billing_url: str | None = None
    allow_when_billing_is_down: bool = False
    requests_per_key: int = 0
    """Per minute; 0 means no limit."""
    requests_per_address: int = 0
    rate_limit_storage: str = IN_MEMORY


@frozen
class Access:
    """The open parts of access."""

    gate: Gate
    meter: Meter
    rates: Rates
    sign_in: SignIn | None = None
    """None when people cannot sign in to the consoles."""


@asynccontextmanager
async def open_access(
    store: AccessStore, terms: AccessTerms, *, secret: bytes
) -> AsyncIterator[Access]:
    """Give the parts of access; the last records of the meter are written on leaving.

    Raises:
        SettingsError: a price, or the address of a service, cannot be used.
    """
    prices = PriceList(terms.tool_prices)
    rates = Rates(
        per_key=terms.requests_per_key,
        per_address=terms.requests_per_address,
        storage_uri=terms.rate_limit_storage,
    )
    billing = None
    if terms.billing_url is not None:
        # The HTTP client takes as long to import as the rest of access together.
        from citewell.web.billing import BillingService

        billing = BillingService(terms.billing_url, timeout_seconds=_BILLING_TIMEOUT_SECONDS)
    verifier = None if terms.issuer is None else _open_verifier(terms.issuer)
    gate = Gate(
        store,
        anonymous=terms.anonymous,
        auth_token=terms.auth_token,
        verifier=verifier,
        billing=billing,
        allow_when_billing_is_down=terms.allow_when_billing_is_down,
    )
    sign_in = None
    if terms.issuer is not None and verifier is not None:
        sign_in = _open_sign_in(terms.issuer, verifier, gate, secret)
    metering = open_meter(
        store,
        prices=prices,
        billing=billing,
        allow_when_billing_is_down=terms.allow_when_billing_is_down,
    )
    try:
        async with metering as meter:
            yield Access(gate=gate, meter=meter, rates=rates, sign_in=sign_in)
    finally:
        if verifier is not None:
            await verifier.server.aclose()
        if billing is not None:
            await billing.aclose()


def _open_verifier(terms: IssuerTerms) -> TokenVerifier:
    # Signatures and an HTTP client are slow to import, and rarely needed.
    from citewell.access.oauth import OAuthTerms, TokenVerifier
    from citewell.web.authorization_server import AuthorizationServer, ClientIdentity, is_secure_url

    if not is_secure_url(terms.public_url):
        raise SettingsError(
            "CITEWELL_PUBLIC_URL must be an https URL (http only on loopback)",
            public_url=terms.public_url,
        )
    client = None
    if terms.client_id is not None:
        client = ClientIdentity(client_id=terms.client_id, client_secret=terms.client_secret)
    return TokenVerifier(
        AuthorizationServer(terms.issuer, client=client),
        OAuthTerms(
            audiences=[terms.resource, *([terms.audience] if terms.audience else ())],
            required_scopes=terms.required_scopes,
            access_claim=terms.access_claim,
            access_values=parse_access_values(terms.access_values) or None,
            default_access=frozenset({terms.default_access} - {"none"}),
        ),
    )


def _open_sign_in(
    terms: IssuerTerms, verifier: TokenVerifier, gate: Gate, secret: bytes
) -> SignIn | None:
    if terms.client_id is None:
        return None
    from citewell.access.browser_session import Registration, SignIn

    registration = Registration(
        client_id=terms.client_id,
        resource=terms.requested_resource,
        redirect_uri=f"{terms.public_url.rstrip('/')}{CALLBACK_PATH}",
        scopes=" ".join(["openid", *terms.scopes]),
    )
    return SignIn(verifier, gate, registration, secret=secret)
