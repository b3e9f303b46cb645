"""What calls may cost, and what is written of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from tests.access.billing_server import billing_server

from citewell.access.meter import Meter, open_meter
from citewell.access.prices import PriceList
from citewell.core.errors import BillingDown, BillingRefused, BudgetExceeded, SettingsError
from citewell.core.identity import CallRecord
from citewell.core.records import Caller
from citewell.store.access import AccessStore
from citewell.store.open import open_store
from citewell.web.billing import BillingService

pytestmark = pytest.mark.anyio

PRICES = PriceList(("*=1", "web_search=5", "status=0"))
MONTH = f"{datetime.now(UTC):%Y-%m}"


@pytest.fixture
async def store() -> AsyncIterator[AccessStore]:
    opened = await open_store("sqlite://")
    yield opened.access
    await opened.aclose()


def caller(key_hash: str = "a", *, monthly_units: int | None = None, pays: bool = False) -> Caller:
    return Caller(
        session="",
        user="ann",
        agent="bot",
        key_hash=key_hash,
        key_hint="9f42",
        monthly_units=monthly_units,
        pays_by_service=pays,
        token="sk-paid",
    )


async def make_call(
    meter: Meter, who: Caller, tool: str = "kb.search", outcome: str = "ok"
) -> None:
    call = meter.begin(tool, who)
    ended = "BUDGET_EXCEEDED"
    try:
        await call.admit()
        ended = outcome
    finally:
        call.end(outcome=ended, text="A heron stands still.")


async def test_every_call_is_on_record_when_the_meter_is_closed(store: AccessStore) -> None:
    async with open_meter(store, prices=PRICES) as meter:
        for outcome in ("ok", "ok", "TIMEOUT"):
            await make_call(meter, caller(), "web_search", outcome)
        await make_call(meter, Caller(session=""), "status")

    totals = [
        (total.owner, total.hint, total.tool, total.outcome, total.calls, total.units, total.tokens)
        for total in await store.usage(month=MONTH)
    ]
    assert totals == [
        ("", "", "status", "ok", 1, 0, 6),
        ("a", "9f42", "web_search", "TIMEOUT", 1, 0, 6),
        ("a", "9f42", "web_search", "ok", 2, 10, 12),
    ]


async def test_calls_are_written_while_the_meter_is_open(store: AccessStore) -> None:
    async with open_meter(store, prices=PRICES) as meter:
        await make_call(meter, caller())
        with anyio.fail_after(60):
            while not await store.usage():
                await anyio.lowlevel.checkpoint()

        assert meter.waiting == 0


async def test_calls_are_still_written_after_someone_has_looked_at_the_usage(
    store: AccessStore,
) -> None:
    async with open_meter(store, prices=PRICES) as meter:
        await anyio.wait_all_tasks_blocked()
        # What the page of usage does first.
        await meter.write_out()
        await make_call(meter, caller())
        with anyio.fail_after(60):
            while not await store.usage():
                await anyio.lowlevel.checkpoint()

        assert meter.waiting == 0


async def test_a_store_that_fails_for_a_while_loses_no_call(tmp_path: Path) -> None:
    closed = await open_store(f"sqlite://{tmp_path}/usage.db")
    await closed.aclose()
    meter = Meter(closed.access, prices=PRICES)
    await make_call(meter, caller())
    written = await meter.write_out()

    assert (written, meter.waiting) == (False, 1)


async def test_a_quota_is_named_when_it_is_used_up(store: AccessStore) -> None:
    who = caller(monthly_units=7)
    await store.record_calls([_record("a", units=3)])

    async with open_meter(store, prices=PRICES) as meter:
        await make_call(meter, who)
        await make_call(meter, who, "status")
        with pytest.raises(BudgetExceeded) as caught:
            await make_call(meter, who, "web_search")
        await make_call(meter, who)
        await make_call(meter, caller("b", monthly_units=7), "web_search")

    assert caught.value.message == (
        f"The monthly quota of this key is used up: 4 of 7 units in {MONTH}, and this call costs 5."
    )
    assert await store.units_used("a", month=MONTH) == 5


async def test_a_call_that_runs_into_the_next_month_leaves_its_quota_whole(
    store: AccessStore,
) -> None:
    moments = [datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)]
    who = caller(monthly_units=1)
    async with open_meter(store, prices=PRICES, clock=lambda: moments[0]) as meter:
        long_call = meter.begin("kb.search", who)
        await long_call.admit()
        del moments[0]
        await make_call(meter, who)
        with pytest.raises(BudgetExceeded, match="1 of 1 units in 2026-02"):
            await make_call(meter, who)
        long_call.end(outcome="ok")

    used = [await store.units_used("a", month=month) for month in ("2026-01", "2026-02")]
    assert used == [1, 1]


async def test_calls_at_once_cannot_overdraw_a_quota(store: AccessStore) -> None:
    who = caller(monthly_units=10)
    refused = 0

    async with open_meter(store, prices=PRICES) as meter, anyio.create_task_group() as tasks:

        async def try_call() -> None:
            nonlocal refused
            try:
                await make_call(meter, who)
            except BudgetExceeded:
                refused += 1

        for _ in range(50):
            tasks.start_soon(try_call)

    assert refused == 40
    assert await store.units_used("a", month=MONTH) == 10


async def test_what_another_server_spent_counts(store: AccessStore) -> None:
    who = caller(monthly_units=2)

    async with open_meter(store, prices=PRICES) as one, open_meter(store, prices=PRICES) as other:
        await make_call(one, who)
        await one.write_out()
        await make_call(other, who)
        await other.write_out()
        with pytest.raises(BudgetExceeded):
            await make_call(other, who)


async def test_a_failed_call_gives_its_units_back(store: AccessStore) -> None:
    who = caller(monthly_units=1)

    async with open_meter(store, prices=PRICES) as meter:
        await make_call(meter, who, outcome="NOT_FOUND")
        await make_call(meter, who)
        with pytest.raises(BudgetExceeded):
            await make_call(meter, who)


async def test_a_call_that_is_being_settled_on_leaving_is_recorded(store: AccessStore) -> None:
    with billing_server() as service:
        service.quotas["sk-paid"], service.reserves = 10, True
        billing = BillingService(service.url, timeout_seconds=60)
        async with open_meter(store, prices=PRICES, billing=billing) as meter:
            await make_call(meter, caller(pays=True), "web_search")
            # So long that the settlement begins, and not so long that it ends.
            for _ in range(3):
                await anyio.lowlevel.checkpoint()
        await billing.aclose()

    assert [total.units for total in await store.usage()] == [5]


async def test_a_service_that_fails_delays_the_stop_for_seconds_whatever_is_unsettled(
    store: AccessStore,
) -> None:
    with billing_server() as service:
        service.quotas["sk-paid"], service.reserves = 1_000, True
        billing = BillingService(service.url, timeout_seconds=60)
        async with open_meter(store, prices=PRICES, billing=billing) as meter:
            calls = [meter.begin("web_search", caller(pays=True)) for _ in range(40)]
            for call in calls:
                await call.admit()
            service.status = 500
            for call in calls:
                call.end(outcome="ok")
            started = anyio.current_time()
        stopped = anyio.current_time()
        await billing.aclose()

    assert stopped - started < 40
    assert [total.units for total in await store.usage()] == [200]


@pytest.mark.parametrize("reserves", [True, False], ids=["reserves", "charges at once"])
async def test_a_call_that_fails_costs_nothing_where_the_service_can_give_back(
    store: AccessStore, reserves: bool
) -> None:
    with billing_server() as service:
        service.quotas["sk-paid"], service.reserves = 10, reserves
        billing = BillingService(service.url, timeout_seconds=60)
        async with open_meter(store, prices=PRICES, billing=billing) as meter:
            await make_call(meter, caller(pays=True), "web_search", outcome="TIMEOUT")
            await make_call(meter, caller(pays=True), "web_search")
        await billing.aclose()

    totals = {total.outcome: total for total in await store.usage()}
    failed, done = totals["TIMEOUT"], totals["ok"]
    assert service.quotas["sk-paid"] == (5 if reserves else 0)
    assert service.held == {}
    assert (failed.price, failed.units, failed.refunded) == (5, *((0, 5) if reserves else (5, 0)))
    assert (done.price, done.units, done.refunded) == (5, 5, 0)


@pytest.mark.parametrize("reserves", [True, False], ids=["reserves", "charges at once"])
async def test_a_paid_call_is_refused_before_it_runs(store: AccessStore, reserves: bool) -> None:
    with billing_server() as service:
        service.quotas["sk-paid"], service.reserves = 6, reserves
        billing = BillingService(service.url, timeout_seconds=60)
        async with open_meter(store, prices=PRICES, billing=billing) as meter:
            await make_call(meter, caller(pays=True), "web_search")
            await make_call(meter, caller(pays=True), "status")
            with pytest.raises(BillingRefused) as caught:
                await make_call(meter, caller(pays=True), "web_search")
            await make_call(meter, caller(pays=False), "web_search")
        await billing.aclose()

    assert service.charges == [("sk-paid", 5, "web_search")]
    assert caught.value.message == "billing check failed: insufficient quota"
    assert await store.units_used("a", month=MONTH) == 10


@pytest.mark.parametrize("allow", [False, True], ids=["refuse", "allow"])
async def test_what_happens_when_the_service_is_down_is_a_setting(
    store: AccessStore, allow: bool
) -> None:
    with billing_server() as service:
        service.status = 500
        billing = BillingService(service.url, timeout_seconds=60)
        metering = open_meter(
            store, prices=PRICES, billing=billing, allow_when_billing_is_down=allow
        )
        async with metering as meter:
            if allow:
                await make_call(meter, caller(pays=True))
            else:
                with pytest.raises(BillingDown, match="billing check failed"):
                    await make_call(meter, caller(pays=True))
        await billing.aclose()

    assert [total.outcome == "ok" for total in await store.usage()] == [allow]


@pytest.mark.parametrize("entry", ["web_search", "=5", "web_search=-1", "a=1.5", "a=b"])
def test_a_price_of_another_form_is_a_wrong_setting(entry: str) -> None:
    with pytest.raises(SettingsError, match="CITEWELL_TOOL_PRICES"):
        PriceList([entry])


def test_either_spelling_of_a_tool_has_its_price() -> None:
    prices = PriceList(["kb.search=4", "*=2"])

    assert [prices.units_of(name) for name in ("kb_search", "kb.search", "other")] == [4, 4, 2]
    assert PriceList([]).units_of("anything") == 0


def _record(owner: str, *, units: int) -> CallRecord:
    return CallRecord(
        called_at=datetime.now(UTC),
        owner=owner,
        hint="",
        user=None,
        agent=None,
        tool="status",
        outcome="ok",
        units=units,
        tokens=0,
        milliseconds=0,
    )
