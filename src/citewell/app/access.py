"""Who can call, how often and at what price."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from citewell.access.open import Access, AccessTerms, open_access
from citewell.core.hosts import is_loopback
from citewell.core.identity import ALL_SCOPES
from citewell.core.issuer import issuer_terms

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.app.parts import Assembly
    from citewell.core.settings import Settings


@asynccontextmanager
async def open_access_part(assembly: Assembly) -> AsyncIterator[Access]:
    """Give the gate, the meter and the rate limits."""
    parts = await assembly.open("store", "secret")
    terms = access_terms(assembly.settings)
    async with open_access(parts.store.access, terms, secret=parts.secret) as access:
        yield access


def access_terms(settings: Settings) -> AccessTerms:
    """Return the access and billing policy from the settings."""
    return AccessTerms(
        project=settings.project,
        auth_token=settings.mcp_auth_token,
        # Anyone on this machine may also see how the server fares; anyone at all may not.
        open_scopes=ALL_SCOPES if is_loopback(settings.mcp_host) else ALL_SCOPES - {"admin"},
        issuer=issuer_terms(settings),
        tool_prices=settings.tool_prices,
        billing_url=settings.billing_url,
        allow_when_billing_is_down=settings.billing_when_down == "allow",
        usage_keep_days=settings.usage_keep_days,
        requests_per_key=settings.rate_limit_per_key,
        requests_per_address=settings.rate_limit_per_address,
        rate_limit_storage=settings.rate_limit_storage,
    )
