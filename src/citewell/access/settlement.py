"""Settle reservations at a billing service: charge for calls that succeeded, refund the others."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple

import anyio

from citewell.core.errors import BillingRefused

if TYPE_CHECKING:
    from citewell.web.billing import BillingService

logger = logging.getLogger(__name__)

HOLD_SECONDS = 900.0
"""After this time the service charges a reservation that was not settled."""
_TRIES = 3
_PAUSE_SECONDS = 2.0


class Reservation(NamedTuple):
    """Units that the billing service has reserved for one call."""

    reservation_id: str
    token: str
    units: int
    reason: str


class Settled(NamedTuple):
    """The units that were charged and refunded."""

    charged: int
    refunded: int


async def settle(reservation: Reservation, billing: BillingService, *, succeeded: bool) -> Settled:
    """Charge or refund the units of a reservation.

    A service that does not answer charges them when the reservation expires.
    """
    token, units = reservation.token, reservation.units
    for attempt in range(_TRIES):
        if attempt:
            await anyio.sleep(_PAUSE_SECONDS)
        try:
            if succeeded:
                await billing.confirm(
                    token, reservation.reservation_id, units=units, reason=reservation.reason
                )
                return Settled(units, 0)
            await billing.cancel(token, reservation.reservation_id, reason=reservation.reason)
        except BillingRefused as error:
            logger.warning("a reservation for %s is not settled: %s", reservation.reason, error)
        else:
            return Settled(0, units)
    return Settled(units, 0)
