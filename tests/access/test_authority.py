"""What a limited administrator can do with keys: nothing beyond its own limits."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from citewell.access.gate import AnonymousAccess, Gate
from citewell.access.keys import (
    OPERATOR,
    KeyTerms,
    create_key,
    list_keys,
    revoke_key,
    rotate_key,
)
from citewell.core.errors import NotFound, ScopeViolation
from citewell.core.records import Caller
from citewell.store.access import AccessStore
from citewell.store.open import open_store

pytestmark = pytest.mark.anyio

SOON = datetime.now(UTC) + timedelta(days=2)
LATER = SOON + timedelta(days=1)
LIMITS = KeyTerms(
    scope="admin",
    toolsets=frozenset({"kb", "web"}),
    project="birds",
    monthly_units=5,
    expires_at=SOON,
)


@pytest.fixture
async def store() -> AsyncIterator[AccessStore]:
    opened = await open_store("sqlite://")
    yield opened.access
    await opened.aclose()


async def holder_of(store: AccessStore, name: str, terms: KeyTerms) -> Caller:
    """Make a key, and return who calls with it."""
    key = await create_key(store, name, terms, by=OPERATOR)
    gate = Gate(store, anonymous=AnonymousAccess(), remember_seconds=0)
    return await gate.identify(f"Bearer {key.token}", is_local=False)


async def test_a_key_has_the_limits_of_its_maker_where_it_names_none(store: AccessStore) -> None:
    admin = await holder_of(store, "limited", LIMITS)

    made = (await create_key(store, "made", KeyTerms(scope="admin"), by=admin)).key

    assert (made.project, made.monthly_units, made.expires_at) == ("birds", 5, SOON)
    assert made.toolsets == frozenset({"kb", "web"})


@pytest.mark.parametrize(
    ("terms", "excess"),
    [
        (KeyTerms(project="fish"), "project"),
        (KeyTerms(toolsets=frozenset({"kb", "data"})), "toolsets"),
        (KeyTerms(monthly_units=6), "units a month"),
        (KeyTerms(expires_at=LATER), "time until it ends"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
async def test_no_limit_is_exceeded_on_request(
    store: AccessStore, terms: KeyTerms, excess: str
) -> None:
    admin = await holder_of(store, "limited", LIMITS)

    with pytest.raises(ScopeViolation, match=f"more than yours: {excess}\\."):
        await create_key(store, "made", terms, by=admin)
    assert [key.name for key in await store.list_keys()] == ["limited"]


async def test_narrower_terms_are_granted(store: AccessStore) -> None:
    admin = await holder_of(store, "limited", LIMITS)
    terms = KeyTerms(scope="read", toolsets=frozenset({"kb"}), monthly_units=0)

    made = (await create_key(store, "made", terms, by=admin)).key

    assert (made.scopes, made.toolsets) == (frozenset({"read"}), frozenset({"kb"}))
    assert (made.project, made.monthly_units) == ("birds", 0)


async def test_keys_of_another_project_are_as_if_they_did_not_exist(store: AccessStore) -> None:
    admin = await holder_of(store, "birds-admin", KeyTerms(scope="admin", project="birds"))
    for name, project in (("birds-key", "birds"), ("fish-key", "fish"), ("free-key", None)):
        await create_key(store, name, KeyTerms(project=project), by=OPERATOR)

    assert [key.name for key in await list_keys(store, by=admin)] == ["birds-admin", "birds-key"]
    for name in ("fish-key", "free-key"):
        with pytest.raises(NotFound):
            await rotate_key(store, name, keep_old_for=timedelta(0), by=admin)
        with pytest.raises(NotFound):
            await revoke_key(store, name, by=admin)
    rotated = await rotate_key(store, "birds-key", keep_old_for=timedelta(0), by=admin)
    assert rotated.key.project == "birds"
    assert await revoke_key(store, "birds-key", by=admin) == 1


async def test_rotation_hands_out_no_token_that_can_do_more(store: AccessStore) -> None:
    admin = await holder_of(store, "kb-admin", KeyTerms(scope="admin", toolsets=frozenset({"kb"})))
    await create_key(store, "all-tools", KeyTerms(), by=OPERATOR)

    with pytest.raises(ScopeViolation, match="toolsets"):
        await rotate_key(store, "all-tools", keep_old_for=timedelta(0), by=admin)
    own = await rotate_key(store, "kb-admin", keep_old_for=timedelta(0), by=admin)
    assert own.key.toolsets == frozenset({"kb"})


async def test_an_admin_without_a_project_manages_all_and_others_nothing(
    store: AccessStore,
) -> None:
    admin = await holder_of(store, "root", KeyTerms(scope="admin"))
    writer = await holder_of(store, "writer", KeyTerms(project="birds"))

    assert [key.name for key in await list_keys(store, by=admin)] == ["root", "writer"]
    assert (await create_key(store, "x", KeyTerms(project="fish"), by=admin)).key.project == "fish"
    for work in (
        list_keys(store, by=writer),
        create_key(store, "y", KeyTerms(scope="read"), by=writer),
        rotate_key(store, "writer", keep_old_for=timedelta(0), by=writer),
        revoke_key(store, "writer", by=writer),
    ):
        with pytest.raises(ScopeViolation, match="administrators"):
            await work
