"""Every promise of AccessStore, run once per backend."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from citewell.core.identity import AccessKey, CallQuery, CallRecord, UsageTotal
from citewell.store.access import SECRET_BYTES, AccessStore
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC)


@pytest.fixture
def keys(store: Store) -> AccessStore:
    return store.access


def key(key_hash: str, name: str = "ann", **changed: object) -> AccessKey:
    made = AccessKey(
        key_hash=key_hash,
        owner=key_hash,
        hint="9f42",
        name=name,
        scopes=frozenset({"read", "write"}),
        created_at=NOON,
    )
    return replace(made, **changed)  # type: ignore[arg-type]  # fields by name


def call(owner: str, **changed: object) -> CallRecord:
    made = CallRecord(
        called_at=NOON,
        owner=owner,
        hint="9f42",
        user="ann",
        agent="helper",
        tool="kb.search",
        outcome="ok",
        units=3,
        tokens=100,
        milliseconds=20,
    )
    return replace(made, **changed)  # type: ignore[arg-type]  # fields by name


async def test_the_servers_secret_is_made_once(keys: AccessStore) -> None:
    first, again = await keys.server_secret(), await keys.server_secret()

    assert first == again
    assert len(first) == SECRET_BYTES


async def test_a_key_comes_back_as_it_was_put(keys: AccessStore) -> None:
    limited = key(
        "a",
        toolsets=frozenset({"kb"}),
        project="birds",
        monthly_units=9,
        expires_at=NOON + timedelta(days=1),
    )

    await keys.put_key(limited)
    await keys.put_key(key("b", "bob", toolsets=frozenset()))

    assert await keys.find_key("a") == limited
    assert await keys.find_key("b") == key("b", "bob", toolsets=frozenset())
    assert await keys.find_key("c") is None


async def test_two_live_keys_cannot_have_one_name(keys: AccessStore) -> None:
    first = await keys.put_key(key("a"))
    second = await keys.put_key(key("b"))

    assert (first, second) == (True, False)
    assert [each.key_hash for each in await keys.list_keys()] == ["a"]


async def test_the_name_of_a_key_that_ended_is_free_again(keys: AccessStore) -> None:
    await keys.put_key(key("a", expires_at=NOON - timedelta(seconds=1)))
    await keys.put_key(key("b"))
    await keys.revoke_keys("b", now=NOON)

    assert await keys.put_key(key("c", created_at=NOON + timedelta(seconds=1)))


async def test_a_revoked_key_is_still_found_and_says_so(keys: AccessStore) -> None:
    await keys.put_key(key("a"))

    revoked = [await keys.revoke_keys("a", now=NOON) for _ in range(2)]
    found = await keys.find_key("a")

    assert revoked == [1, 0]
    assert found is not None
    assert found.revoked_at == NOON
    assert not found.is_live(NOON)


async def test_a_store_has_keys_even_when_all_are_revoked(keys: AccessStore) -> None:
    before = await keys.has_keys()
    await keys.put_key(key("a"))
    await keys.revoke_keys("a", now=NOON)

    assert (before, await keys.has_keys()) == (False, True)


async def test_a_new_token_ends_the_old_one_when_told(keys: AccessStore) -> None:
    await keys.put_key(key("a"))
    until = NOON + timedelta(hours=1)

    replaced = await keys.replace_key(key("b", owner="a"), old_until=until)
    old, new = [await keys.find_key(each) for each in ("a", "b")]

    assert replaced
    assert old is not None
    assert (old.is_live(NOON), old.is_live(until)) == (True, False)
    assert new is not None
    assert (new.owner, new.is_live(until)) == ("a", True)


async def test_a_new_token_never_makes_the_old_one_live_longer(keys: AccessStore) -> None:
    soon = NOON + timedelta(minutes=1)
    await keys.put_key(key("a", expires_at=soon))

    await keys.replace_key(key("b", owner="a"), old_until=NOON + timedelta(hours=1))
    old = await keys.find_key("a")

    assert old is not None
    assert old.expires_at == soon


async def test_a_key_that_is_gone_gets_no_new_token(keys: AccessStore) -> None:
    await keys.put_key(key("a"))
    await keys.revoke_keys("a", now=NOON)

    assert not await keys.replace_key(key("b", owner="a"), old_until=NOON)
    assert await keys.find_key("b") is None


async def test_revoking_takes_every_token_of_a_key_and_no_other(keys: AccessStore) -> None:
    await keys.put_key(key("a"))
    await keys.replace_key(key("b", owner="a"), old_until=NOON + timedelta(hours=1))
    await keys.put_key(key("c", "bob"))

    assert await keys.revoke_keys("a", now=NOON) == 2
    assert [each.is_live(NOON) for each in await keys.list_keys()] == [False, False, True]


async def test_units_are_summed_by_owner_and_month(keys: AccessStore) -> None:
    february = datetime(2026, 2, 28, 23, 59, 59, 999999, tzinfo=UTC)
    await keys.record_calls([call("a"), call("a", units=4), call("b", units=50)])
    await keys.record_calls([call("a", called_at=february, units=700)])

    used = [await keys.units_used("a", month=month) for month in ("2026-03", "2026-02", "2026-01")]

    assert used == [7, 700, 0]


async def test_usage_is_told_by_month_key_tool_and_outcome(keys: AccessStore) -> None:
    await keys.put_key(key("a"))
    await keys.record_calls([call("a"), call("a", hint="new1"), call("a", outcome="TIMEOUT")])
    await keys.record_calls([call("", tool="status", hint="", units=0)])

    totals = await keys.usage(month="2026-03")

    march = {"month": "2026-03", "milliseconds": 20, "tokens": 100, "calls": 1}
    unkeyed = march | {"owner": "", "hint": "", "name": None, "tool": "status", "units": 0}
    mine = march | {"owner": "a", "name": "ann", "tool": "kb.search", "hint": "9f42", "units": 3}
    twice = {"calls": 2, "units": 6, "tokens": 200, "milliseconds": 40, "hint": "new1"}
    expected = [
        UsageTotal(**unkeyed, outcome="ok"),  # type: ignore[arg-type]  # fields by name
        UsageTotal(**mine, outcome="TIMEOUT"),  # type: ignore[arg-type]  # fields by name
        UsageTotal(**mine | twice, outcome="ok"),  # type: ignore[arg-type]  # fields by name
    ]
    assert totals == expected
    assert await keys.usage(owner="a") == expected[1:]
    assert await keys.usage(month="2026-02") == []


async def test_calls_of_long_ago_are_forgotten(keys: AccessStore) -> None:
    await keys.record_calls([call("a", called_at=NOON - timedelta(days=2)), call("a")])

    assert await keys.forget_calls(before=NOON - timedelta(days=1)) == 1
    assert [total.calls for total in await keys.usage()] == [1]


async def test_usage_of_one_owner_holds_nothing_of_another(keys: AccessStore) -> None:
    await keys.record_calls([call("a"), call("b"), call("")])

    assert {total.owner for total in await keys.usage(owner="b")} == {"b"}
    assert {total.owner for total in await keys.usage(owner="")} == {""}


async def test_usage_by_day_counts_what_failed_apart(keys: AccessStore) -> None:
    await keys.put_key(key("a"))
    await keys.record_calls(
        [
            call("a"),
            call("a", outcome="TIMEOUT", units=0),
            call("a", called_at=NOON + timedelta(days=1), user=None),
            call("", hint=""),
        ]
    )

    listed = await keys.daily_usage(month="2026-03", owner="a")

    assert [(each.day, each.user, each.name) for each in listed] == [
        ("2026-03-14", "ann", "ann"),
        ("2026-03-15", None, "ann"),
    ]
    assert [(each.calls, each.failed, each.units) for each in listed] == [(2, 1, 3), (1, 0, 3)]
    assert await keys.daily_usage(month="2026-02") == []
    assert len(await keys.daily_usage()) == 3


async def test_calls_are_listed_newest_first_and_paged(keys: AccessStore) -> None:
    calls = [call("a"), call("a", outcome="TIMEOUT", message="It took 鷺."), call("b")]
    await keys.record_calls(calls)

    newest = await keys.list_calls(CallQuery(limit=2))
    older = await keys.list_calls(CallQuery(limit=2, before=newest[-1].number))
    failed = await keys.list_calls(CallQuery(owner="a", only_failed=True))

    assert [logged.call for logged in (*newest, *older)] == calls[::-1]
    assert [logged.call for logged in failed] == [calls[1]]
    assert await keys.last_calls() == {"a": NOON, "b": NOON}


async def test_a_call_that_its_caller_stopped_has_not_failed(keys: AccessStore) -> None:
    outcomes = ("ok", "UNFINISHED", "TIMEOUT")
    await keys.record_calls([call("a", outcome=outcome) for outcome in outcomes])

    used = await keys.daily_usage(month="2026-03", owner="a")
    failed = await keys.list_calls(CallQuery(owner="a", only_failed=True))

    assert [(usage.calls, usage.failed) for usage in used] == [(3, 1)]
    assert [logged.call.outcome for logged in failed] == ["TIMEOUT"]
