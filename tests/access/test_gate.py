"""Who is let in, by the token they send."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.access.billing_server import billing_server

from citewell.access.gate import AnonymousAccess, Gate
from citewell.access.keys import OPERATOR, KeyTerms, create_key, revoke_key, rotate_key
from citewell.core.errors import AccessRefused, BillingDown, InvalidArgument, NotFound, TokenMissing
from citewell.core.identity import ALL_SCOPES
from citewell.core.ids import content_hash
from citewell.store.access import AccessStore
from citewell.store.open import open_store
from citewell.web.billing import BillingService

pytestmark = pytest.mark.anyio


@pytest.fixture
async def store() -> AsyncIterator[AccessStore]:
    opened = await open_store("sqlite://")
    yield opened.access
    await opened.aclose()


def open_gate(
    store: AccessStore,
    *,
    auth_token: str | None = None,
    billing: BillingService | None = None,
    allow_when_down: bool = False,
) -> Gate:
    return Gate(
        store,
        anonymous=AnonymousAccess(),
        auth_token=auth_token,
        billing=billing,
        allow_when_billing_is_down=allow_when_down,
        remember_seconds=0,
    )


async def is_let_in(gate: Gate, token: str) -> bool:
    try:
        await gate.identify(f"Bearer {token}", is_local=True)
    except AccessRefused:
        return False
    return True


async def test_without_any_guard_anyone_may_call(store: AccessStore) -> None:
    gate = open_gate(store)

    nobody = await gate.identify(None, is_local=True)
    someone = await gate.identify("Bearer ann:bot@sk-anything-at-all", is_local=True)

    assert (nobody.key_hash, nobody.user, nobody.scopes) == (None, None, ALL_SCOPES)
    assert (someone.user, someone.agent) == ("ann", "bot")
    assert (someone.key_hash, someone.key_hint) == (content_hash("sk-anything-at-all"), "-all")


async def test_the_configured_token_is_taken_with_and_without_identities(
    store: AccessStore,
) -> None:
    gate = open_gate(store, auth_token="wren@7")

    plain = await gate.identify("Bearer wren@7", is_local=True)
    token_after_identity = await open_gate(store, auth_token="wren-7").identify(
        "Bearer a:b@wren-7", is_local=True
    )

    assert (plain.user, plain.key_hash) == ("default", content_hash("wren@7"))
    assert (token_after_identity.user, token_after_identity.agent) == ("a", "b")
    assert not await is_let_in(gate, "wren-8")
    with pytest.raises(TokenMissing):
        await gate.identify(None, is_local=True)


async def test_a_key_says_who_calls_and_what_it_may_do(store: AccessStore) -> None:
    terms = KeyTerms(scope="read", toolsets=frozenset({"kb"}), project="birds", monthly_units=50)
    new = await create_key(store, "ann", terms, by=OPERATOR)
    gate = open_gate(store)

    caller = await gate.identify(f"Bearer {new.token}", is_local=True)
    named = await gate.identify(f"Bearer bob:bot@{new.token}", is_local=True)

    assert (caller.user, caller.agent, caller.project) == ("ann", "ann", "birds")
    assert (caller.scopes, caller.toolsets) == (frozenset({"read"}), frozenset({"kb"}))
    assert (caller.monthly_units, caller.key_hint) == (50, new.token[-4:])
    assert (named.user, named.agent, named.key_hash) == ("bob", "bot", caller.key_hash)
    assert not await is_let_in(gate, new.key.key_hash)


async def test_the_token_is_kept_nowhere(tmp_path: Path) -> None:
    opened = await open_store(f"sqlite://{tmp_path}/keys.db")
    new = await create_key(opened.access, "ann", KeyTerms(), by=OPERATOR)
    caller = await open_gate(opened.access).identify(f"Bearer {new.token}", is_local=True)
    await opened.aclose()

    stored = (tmp_path / "keys.db").read_bytes()

    assert new.token.encode() not in stored
    assert content_hash(new.token).encode() in stored
    assert new.token not in repr(caller) + repr(new)


async def test_once_there_was_a_key_the_door_stays_guarded(store: AccessStore) -> None:
    gate = open_gate(store)
    new = await create_key(store, "ann", KeyTerms(), by=OPERATOR)
    worked = await is_let_in(gate, new.token)
    await revoke_key(store, "ann", by=OPERATOR)

    assert (worked, await is_let_in(gate, new.token)) == (True, False)
    with pytest.raises(TokenMissing):
        await gate.identify(None, is_local=True)


async def test_a_key_ends_when_it_expires(store: AccessStore) -> None:
    past = datetime.now(UTC) - timedelta(seconds=1)
    new = await create_key(store, "ann", KeyTerms(expires_at=past), by=OPERATOR)

    assert not await is_let_in(open_gate(store), new.token)


async def test_a_new_token_has_the_data_of_the_old_one(store: AccessStore) -> None:
    gate = open_gate(store)
    old = await create_key(store, "ann", KeyTerms(project="birds"), by=OPERATOR)
    before = await gate.identify(f"Bearer {old.token}", is_local=True)

    new = await rotate_key(store, "ann", keep_old_for=timedelta(hours=1), by=OPERATOR)
    newest = await rotate_key(store, "ann", keep_old_for=timedelta(0), by=OPERATOR)
    after = await gate.identify(f"Bearer {newest.token}", is_local=True)

    assert (after.key_hash, after.project) == (before.key_hash, "birds")
    assert [await is_let_in(gate, each.token) for each in (old, new)] == [False, False]


async def test_an_old_token_works_as_long_as_it_was_told(store: AccessStore) -> None:
    old = await create_key(store, "ann", KeyTerms(), by=OPERATOR)
    new = await rotate_key(store, "ann", keep_old_for=timedelta(hours=1), by=OPERATOR)

    gate = open_gate(store)

    assert [await is_let_in(gate, each.token) for each in (old, new)] == [True, True]


async def test_a_name_is_used_once_and_must_exist(store: AccessStore) -> None:
    await create_key(store, "ann", KeyTerms(), by=OPERATOR)

    with pytest.raises(InvalidArgument, match="live key called 'ann'"):
        await create_key(store, "ann", KeyTerms(), by=OPERATOR)
    with pytest.raises(NotFound):
        await rotate_key(store, "bob", keep_old_for=timedelta(0), by=OPERATOR)
    with pytest.raises(NotFound):
        await revoke_key(store, "bob", by=OPERATOR)


@pytest.mark.parametrize(
    "name",
    ["", " ", "x/../rd", "a/b", "..", ".", " ann", "a\\b", "a%2Fb", "\x1b[2J", "a?", "x" * 81],
)
async def test_a_name_that_would_change_an_address_is_refused(
    store: AccessStore, name: str
) -> None:
    with pytest.raises(InvalidArgument, match="letters, digits"):
        await create_key(store, name, KeyTerms(), by=OPERATOR)

    assert await store.list_keys() == []


@pytest.mark.parametrize("name", ["ann", "ann+ci@example.org", "Zoë 2", "鳥_team-1.x"])
async def test_a_name_may_have_letters_of_any_language(store: AccessStore, name: str) -> None:
    assert (await create_key(store, name, KeyTerms(), by=OPERATOR)).key.name == name


async def test_what_was_found_is_remembered_for_a_moment_only(store: AccessStore) -> None:
    new = await create_key(store, "ann", KeyTerms(), by=OPERATOR)
    patient = Gate(store, anonymous=AnonymousAccess(), remember_seconds=60)
    before = await is_let_in(patient, new.token)

    await revoke_key(store, "ann", by=OPERATOR)

    assert (before, await is_let_in(patient, new.token)) == (True, True)
    assert not await is_let_in(open_gate(store), new.token)


async def test_a_token_that_the_billing_service_knows_is_let_in(store: AccessStore) -> None:
    with billing_server() as service:
        service.quotas["sk-paid"] = 10
        billing = BillingService(service.url, timeout_seconds=60)
        gate = open_gate(store, billing=billing)

        caller = await gate.identify("Bearer ann:bot@sk-paid", is_local=True)
        unknown = await is_let_in(gate, "sk-unknown")
        await billing.aclose()

    assert (caller.user, caller.pays_by_service, caller.token) == ("ann", True, "sk-paid")
    assert "admin" not in caller.scopes
    assert not unknown
    assert service.charges == []


@pytest.mark.parametrize("allow", [False, True], ids=["refuse", "allow"])
async def test_with_the_billing_service_down_only_tokens_it_knew_may_pass(
    store: AccessStore, allow: bool
) -> None:
    with billing_server() as service:
        service.quotas["sk-paid"] = 10
        billing = BillingService(service.url, timeout_seconds=60)
        gate = open_gate(store, billing=billing, allow_when_down=allow)
        await gate.identify("Bearer sk-paid", is_local=True)

        service.status = 503
        with pytest.raises(BillingDown):
            await gate.identify("Bearer sk-other", is_local=True)
        if allow:
            caller = await gate.identify("Bearer sk-paid", is_local=True)
            assert caller.key_hash == content_hash("sk-paid")
        else:
            with pytest.raises(BillingDown):
                await gate.identify("Bearer sk-paid", is_local=True)
        await billing.aclose()
