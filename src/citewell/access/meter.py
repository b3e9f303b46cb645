"""Meter calls: check quotas before a call, record its usage after."""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import anyio.to_thread

from citewell.access.settlement import HOLD_SECONDS, Reservation, Settled, settle
from citewell.core.errors import BillingDown, BudgetExceeded, StoreError
from citewell.core.identity import CallRecord
from citewell.core.tokens import count_tokens
from citewell.core.write_behind import WriteBehind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from citewell.access.prices import PriceList
    from citewell.core.records import Caller
    from citewell.store.access import AccessStore
    from citewell.web.billing import BillingService

logger = logging.getLogger(__name__)

# How long the count of other processes' spending is cached.
_RECOUNT_SECONDS = 5.0
# Reached only after a long failure of the store; then the oldest are dropped.
_MOST_WAITING = 100_000
_SETTLED_AT_ONCE = 50
# For settlements that have not begun when the program stops; the service charges the rest.
_CLOSING_SECONDS = 10.0
_DAY_SECONDS = 86_400.0
# A year of records and the month that is being billed.
_KEPT_DAYS = 400


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def open_meter(
    store: AccessStore,
    *,
    prices: PriceList,
    billing: BillingService | None = None,
    allow_when_billing_is_down: bool = False,
    clock: Callable[[], datetime] = _now,
) -> AsyncIterator[Meter]:
    """Give a meter that writes records in the background, and the last of them on leaving."""
    meter = Meter(
        store,
        prices=prices,
        billing=billing,
        allow_when_billing_is_down=allow_when_billing_is_down,
        clock=clock,
    )
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(meter.keep_writing)
            tasks.start_soon(meter.keep_settling)
            tasks.start_soon(_keep_forgetting, store)
            try:
                yield meter
            finally:
                tasks.cancel_scope.cancel()
    finally:
        # Only now have settlements that had begun ended.
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(_CLOSING_SECONDS):
                await meter.settle_all()
            meter.leave_unsettled()
            await meter.write_out()


@dataclass(frozen=True, slots=True)
class _Ended:
    """A call that has ended but is not written yet; its tokens are counted on writing."""

    record: CallRecord
    text: str = field(repr=False)
    reservation: Reservation | None = None
    """To be settled with the billing service first."""


@dataclass(slots=True)
class _Month:
    """The written usage of one owner in a month, as last counted."""

    month: str
    written: int
    counted_at: float


class Meter:
    """Admits calls and records them; recording neither waits nor fails."""

    def __init__(
        self,
        store: AccessStore,
        *,
        prices: PriceList,
        billing: BillingService | None = None,
        allow_when_billing_is_down: bool = False,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._store = store
        self._clock = clock
        self._prices = prices
        self._billing = billing
        self._allow_when_billing_is_down = allow_when_billing_is_down
        self._waiting = WriteBehind(self._write, what="call records", most=_MOST_WAITING)
        self._unsettled: deque[_Ended] = deque(maxlen=_MOST_WAITING)
        self._something_is_unsettled = anyio.Event()
        self._months: dict[str, _Month] = {}
        self._unwritten: Counter[tuple[str, str]] = Counter()
        """Units by owner and month of calls that are running, or ended and not yet written."""

    @property
    def waiting(self) -> int:
        """The number of ended calls that are not written yet."""
        return len(self._waiting)

    def begin(self, tool: str, caller: Caller) -> MeteredCall:
        """Return the record of a new call; the caller must end it."""
        return MeteredCall(self, tool, caller, called_at=self._clock())

    async def keep_writing(self) -> None:
        """Keep writing the records of ended calls, until cancelled."""
        await self._waiting.keep_writing()

    async def keep_settling(self) -> None:
        """Keep settling ended calls with the billing service, until cancelled."""
        while True:
            await self._something_is_unsettled.wait()
            self._something_is_unsettled = anyio.Event()
            await self.settle_all()

    async def settle_all(self) -> None:
        """Settle every ended call, so that it can be written."""
        while self._unsettled:
            count = min(len(self._unsettled), _SETTLED_AT_ONCE)
            some = [self._unsettled.popleft() for _ in range(count)]
            # Never cancelled half-way: nobody else knows of the reservations.
            with anyio.CancelScope(shield=True):
                async with anyio.create_task_group() as tasks:
                    for ended in some:
                        tasks.start_soon(self._settle, ended)
            await anyio.lowlevel.checkpoint()

    def leave_unsettled(self) -> None:
        """Have calls written whose reservations are left to expire, when the service charges."""
        while self._unsettled:
            ended = self._unsettled.popleft()
            assert ended.reservation is not None, "only reservations are settled"
            self._record_settled(ended, Settled(ended.reservation.units, 0))

    async def _settle(self, ended: _Ended) -> None:
        assert self._billing is not None, "a reservation without a service"
        assert ended.reservation is not None, "only reservations are settled"
        succeeded = ended.record.outcome == "ok"
        settled = await settle(ended.reservation, self._billing, succeeded=succeeded)
        self._record_settled(ended, settled)

    def _record_settled(self, ended: _Ended, settled: Settled) -> None:
        record = ended.record
        self._unwritten[record.owner, _month_of(record.called_at)] += settled.charged - record.units
        record = replace(record, units=settled.charged, refunded=settled.refunded)
        self._waiting.add([_Ended(record, ended.text)])

    async def write_out(self) -> bool:
        """Write every ended call; return False if the store failed and they still wait."""
        return await self._waiting.write_out()

    async def _write(self, ended: list[_Ended]) -> None:
        records = await anyio.to_thread.run_sync(_with_tokens, ended)
        # Shielded: calls that are both written and still waiting would be billed twice.
        with anyio.CancelScope(shield=True):
            await self._store.record_calls(records)
        self._move_to_written(records)

    async def _admit(self, call: MeteredCall) -> None:
        price = self._prices.units_of(call.tool)
        caller = call.caller
        if price and caller.monthly_units is not None:
            await self._check_quota(call, price, limit=caller.monthly_units)
        call.reserved = price
        self._unwritten[call.owner, call.month] += price
        if price and caller.pays_by_service:
            await self._charge(call, price)

    async def _check_quota(self, call: MeteredCall, price: int, *, limit: int) -> None:
        owner, month = call.owner, call.month
        known = self._months.get(owner)
        if (
            known is None
            or known.month != month
            or time.monotonic() - known.counted_at > _RECOUNT_SECONDS
        ):
            # Under the lock, nothing moves from unwritten to written meanwhile.
            async with self._waiting.lock:
                written = await self._store.units_used(owner, month=month)
                known = _Month(month=month, written=written, counted_at=time.monotonic())
                self._months[owner] = known
        used = known.written + self._unwritten[owner, month]
        if used + price > limit:
            raise BudgetExceeded(
                f"The monthly quota of this key is used up: {used} of {limit} units in {month}, "
                f"and this call costs {price}.",
                suggestion="Wait for the next month (UTC), or ask for a larger quota of the key.",
                quota=limit,
                used=used,
            )

    async def _charge(self, call: MeteredCall, price: int) -> None:
        billing, token = self._billing, call.caller.token
        assert billing is not None, "a caller paid by a service that is not configured"
        assert token is not None, "a caller paid by a service without a token"
        try:
            held = await billing.reserve(token, units=price, reason=call.tool, seconds=HOLD_SECONDS)
        except BillingDown:
            if not self._allow_when_billing_is_down:
                raise
            logger.warning("the billing service is down: %s runs without charge", call.tool)
        else:
            call.was_charged = held is None
            if held is not None:
                call.reservation = Reservation(held, token, price, call.tool)

    def _end(self, call: MeteredCall, *, outcome: str, text: str, message: str) -> None:
        # A failed call costs nothing, unless the billing service charged for it and cannot refund.
        units = call.reserved if outcome == "ok" or call.was_charged else 0
        self._unwritten[call.owner, call.month] += units - call.reserved
        record = CallRecord(
            called_at=call.called_at,
            owner=call.owner,
            hint=call.caller.key_hint or "",
            user=call.caller.user,
            agent=call.caller.agent,
            tool=call.tool,
            outcome=outcome,
            message=message,
            units=units,
            tokens=0,
            milliseconds=round((time.monotonic() - call.started) * 1000),
            price=call.reserved,
        )
        if call.reservation is None:
            self._waiting.add([_Ended(record, text)])
        else:
            self._unsettled.append(_Ended(record, text, call.reservation))
            self._something_is_unsettled.set()

    def _move_to_written(self, records: list[CallRecord]) -> None:
        for record in records:
            spent = record.owner, _month_of(record.called_at)
            self._unwritten[spent] -= record.units
            if not self._unwritten[spent]:
                del self._unwritten[spent]
            known = self._months.get(record.owner)
            if known is not None and _month_of(record.called_at) == known.month:
                known.written += record.units


class MeteredCall:
    """A call that is being metered."""

    def __init__(self, meter: Meter, tool: str, caller: Caller, *, called_at: datetime) -> None:
        self.tool = tool
        self.caller = caller
        self.owner = caller.key_hash or ""
        self.called_at = called_at
        self.month = _month_of(called_at)
        self.started = time.monotonic()
        self.reserved = 0
        self.was_charged = False
        self.reservation: Reservation | None = None
        self._meter = meter

    async def admit(self) -> None:
        """Check the quota of the caller and charge the call.

        Raises:
            BudgetExceeded: the key's quota of the month is used up.
            BillingRefused: the billing service refuses, or is down and calls are refused then.
            StoreError: the key's usage cannot be read.
        """
        await self._meter._admit(self)

    def end(self, *, outcome: str, text: str = "", message: str = "") -> None:
        """Record the outcome (`ok`, or an error's code and message) and the text returned."""
        self._meter._end(self, outcome=outcome, text=text, message=message)


def _with_tokens(ended: list[_Ended]) -> list[CallRecord]:
    return [replace(call.record, tokens=count_tokens(call.text)) for call in ended]


def _month_of(moment: datetime) -> str:
    # strftime takes five times as long.
    return f"{moment.year:04d}-{moment.month:02d}"


async def _keep_forgetting(store: AccessStore) -> None:
    while True:
        try:
            await store.forget_calls(before=datetime.now(UTC) - timedelta(days=_KEPT_DAYS))
        except StoreError as error:
            logger.warning("old usage not dropped: %s", error.message)
        await anyio.sleep(_DAY_SECONDS)
