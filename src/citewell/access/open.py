"""Putting the parts of access together: who may call, how often, and at what cost."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.access.gate import Gate
from citewell.access.meter import Meter, open_meter
from citewell.access.prices import PriceList
from citewell.access.rate_limit import IN_MEMORY
from citewell.access.rates import Rates
from citewell.core.identity import ALL_SCOPES
from citewell.core.records import Caller

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from citewell.store.access import AccessStore


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessTerms:
    """How a server lets callers in, and what it charges them."""

    project: str
    auth_token: str | None = None
    open_scopes: frozenset[str] = ALL_SCOPES
    """What anyone may do where no token is asked for."""
    tool_prices: Sequence[str] = ()
    billing_url: str | None = None
    billing_timeout_seconds: float = 5.0
    allow_when_billing_is_down: bool = False
    usage_keep_days: int = 400
    requests_per_key: int = 0
    """In a minute; 0 means without limit."""
    requests_per_address: int = 0
    rate_limit_storage: str = IN_MEMORY


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The open parts of access."""

    gate: Gate
    meter: Meter
    rates: Rates


@asynccontextmanager
async def open_access(store: AccessStore, terms: AccessTerms) -> AsyncIterator[Access]:
    """Give the parts of access; what the meter still holds is written on leaving.

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
        # Its HTTP client takes as long to import as the rest of access together.
        from citewell.web.billing import BillingService

        billing = BillingService(terms.billing_url, timeout_seconds=terms.billing_timeout_seconds)
    gate = Gate(
        store,
        nobody=Caller(session="", project=terms.project, scopes=terms.open_scopes),
        auth_token=terms.auth_token,
        billing=billing,
        allow_when_billing_is_down=terms.allow_when_billing_is_down,
    )
    metering = open_meter(
        store,
        prices=prices,
        billing=billing,
        allow_when_billing_is_down=terms.allow_when_billing_is_down,
        keep_days=terms.usage_keep_days,
    )
    try:
        async with metering as meter:
            yield Access(gate=gate, meter=meter, rates=rates)
    finally:
        if billing is not None:
            await billing.aclose()
