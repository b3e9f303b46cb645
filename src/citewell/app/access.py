"""Who can call, how often and at what price."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.access.gate import AnonymousAccess
from citewell.access.open import Access, AccessTerms, open_access
from citewell.core.identity import ALL_SCOPES
from citewell.core.issuer import issuer_terms

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from citewell.app.parts import Assembly
    from citewell.core.settings import Settings


@asynccontextmanager
async def open_access_part(assembly: Assembly) -> AsyncIterator[Access]:
    """Give the gate, the meter and the rate limits."""
    async with _open(assembly, access_terms(assembly.settings)) as access:
        yield access


@asynccontextmanager
async def open_docs_access(assembly: Assembly) -> AsyncIterator[Access]:
    """Give the access part of a docs server, whose docs tools are open to all."""
    async with _open(assembly, docs_access_terms(assembly.settings)) as access:
        yield access


@asynccontextmanager
async def _open(assembly: Assembly, terms: AccessTerms) -> AsyncIterator[Access]:
    parts = await assembly.open("store", "secret")
    async with open_access(parts.store.access, terms, secret=parts.secret) as access:
        yield access


def docs_access_terms(settings: Settings) -> AccessTerms:
    """Return the access policy of a docs server: without a key, the docs tools alone.

    They show nothing that the website does not show. CITEWELL_DOCS_ALL_TOOLS opens the others,
    unless there are keys.
    """
    is_open = settings.docs_all_tools
    anonymous = AnonymousAccess(
        project=settings.project,
        local_scopes=ALL_SCOPES if is_open else frozenset(),
        remote_scopes=ALL_SCOPES - {"admin"} if is_open else frozenset(),
        visitor_toolsets=frozenset({"docs"}),
    )
    return replace(access_terms(settings), anonymous=anonymous)


def access_terms(settings: Settings) -> AccessTerms:
    """Return the access and billing policy from the settings."""
    return AccessTerms(
        auth_token=settings.mcp_auth_token,
        anonymous=AnonymousAccess(
            project=settings.project,
            remote_scopes=ALL_SCOPES - {"admin"} if settings.mcp_allow_anonymous else frozenset(),
        ),
        issuer=issuer_terms(settings),
        tool_prices=settings.tool_prices,
        billing_url=settings.billing_url,
        allow_when_billing_is_down=settings.billing_when_down == "allow",
        requests_per_key=settings.rate_limit_per_key,
        requests_per_address=settings.rate_limit_per_address,
        rate_limit_storage=settings.rate_limit_storage,
    )
