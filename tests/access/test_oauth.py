"""OAuth access tokens: which are accepted, and what they grant."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import jwt
import pytest
from tests.access.issuer import RESOURCE, Issuer, is_accepted, running_issuer

from citewell.access.gate import AnonymousAccess, Gate
from citewell.access.oauth import OAuthTerms, TokenVerifier
from citewell.core.errors import AccessRefused, GrantTooNarrow, IssuerDown, SettingsError
from citewell.store.open import open_store
from citewell.web.authorization_server import (
    AuthorizationServer,
    ClientIdentity,
    metadata_addresses,
)

pytestmark = pytest.mark.anyio


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with running_issuer() as running:
        yield running


@pytest.fixture
async def server(issuer: Issuer) -> AsyncIterator[AuthorizationServer]:
    identity = ClientIdentity(client_id="citewell", client_secret="a secret of ours")
    server = AuthorizationServer(issuer.url, client=identity, timeout_seconds=30, refetch_seconds=0)
    yield server
    await server.aclose()


def verifier_of(server: AuthorizationServer, **terms: Any) -> TokenVerifier:
    return TokenVerifier(server, OAuthTerms(audiences=[RESOURCE], **terms))


async def test_a_signed_token_says_who_calls_and_what_they_may_do(
    issuer: Issuer, server: AuthorizationServer
) -> None:
    grant = await verifier_of(server).verify(issuer.token(scope="openid citewell:write"))

    assert (grant.subject, grant.user, grant.client) == ("user-7", "ann", "claude")
    assert grant.scopes == {"read", "write"}


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": "https://another.example/mcp"},
        {"aud": None},
        {"iss": "https://another.example"},
        {"exp": time.time() - 3600},
        {"exp": None},
        {"nbf": time.time() + 3600},
        {"sub": None},
    ],
    ids=lambda changes: "-".join(changes),
)
async def test_a_token_for_another_server_time_or_issuer_is_refused(
    issuer: Issuer, server: AuthorizationServer, changes: dict[str, Any]
) -> None:
    assert not await is_accepted(verifier_of(server), issuer.token(**changes))


async def test_clocks_may_differ_by_a_minute(issuer: Issuer, server: AuthorizationServer) -> None:
    verifier = verifier_of(server)

    assert await is_accepted(verifier, issuer.token(exp=time.time() - 30))
    assert not await is_accepted(verifier, issuer.token(exp=time.time() - 90))


async def test_a_forged_token_is_refused(issuer: Issuer, server: AuthorizationServer) -> None:
    verifier = verifier_of(server)
    genuine = issuer.token()
    head, body, signature = genuine.split(".")
    unsigned = jwt.encode(issuer.claims(), "", algorithm="none", headers={"kid": "first"})
    shared = jwt.encode(
        issuer.claims(), "a secret that is long enough for HS256", headers={"kid": "first"}
    )
    foreign = Issuer(1).token(iss=issuer.url)

    assert await is_accepted(verifier, genuine)
    for forged in (unsigned, shared, foreign, f"{head}.{body}.{signature[::-1]}", "ey.ey.ey"):
        assert not await is_accepted(verifier, forged)


async def test_a_rotated_key_is_fetched_once_it_signs(
    issuer: Issuer, server: AuthorizationServer
) -> None:
    verifier = verifier_of(server)
    old = issuer.token()
    assert await is_accepted(verifier, old)
    assert await is_accepted(verifier, issuer.token())
    assert issuer.key_requests == 1

    issuer.rotate("second")

    assert await is_accepted(verifier, issuer.token())
    assert not await is_accepted(verifier, old)


async def test_unknown_keys_do_not_make_the_server_ask_for_every_token(issuer: Issuer) -> None:
    server = AuthorizationServer(issuer.url, timeout_seconds=30)
    verifier = verifier_of(server)

    for number in range(20):
        assert not await is_accepted(verifier, issuer.token(headers={"kid": f"made-up-{number}"}))

    assert issuer.key_requests == 1
    await server.aclose()


async def test_access_comes_from_the_claim_that_is_configured(
    issuer: Issuer, server: AuthorizationServer
) -> None:
    roles = verifier_of(
        server,
        access_claim="realm_access.roles",
        access_values={"docs-admins": "admin", "docs-authors": "write"},
        default_access=frozenset(),
    )

    author = await roles.verify(issuer.token(realm_access={"roles": ["docs-authors", "x"]}))
    admin = await roles.verify(issuer.token(realm_access={"roles": ["docs-admins"]}))
    stranger = await roles.verify(issuer.token(scope="read admin"))

    assert author.scopes == {"read", "write"}
    assert admin.scopes == {"read", "write", "admin"}
    assert stranger.scopes == frozenset()


async def test_a_token_without_a_required_scope_is_told_which(
    issuer: Issuer, server: AuthorizationServer
) -> None:
    verifier = verifier_of(server, required_scopes=["read", "docs"])

    with pytest.raises(GrantTooNarrow, match="lacks the scope docs") as refusal:
        await verifier.verify(issuer.token())
    granted = await verifier.verify(issuer.token(scope=None, scp=["docs", "read"]))

    assert refusal.value.message == "The token lacks the scope docs."
    assert granted.subject == "user-7"


async def test_a_scope_may_be_named_with_its_resource(
    issuer: Issuer, server: AuthorizationServer
) -> None:
    verifier = verifier_of(server, required_scopes=["api://7f3c/access"])

    short = await is_accepted(verifier, issuer.token(scope=None, scp="access"))
    whole = await is_accepted(verifier, issuer.token(scope="api://7f3c/access"))

    assert (short, whole) == (True, True)
    assert not await is_accepted(verifier, issuer.token(scope="api://7f3c"))


async def test_an_opaque_token_is_introspected(issuer: Issuer, server: AuthorizationServer) -> None:
    verifier = verifier_of(server)
    issuer.opaque = {
        "live": {"active": True, **issuer.claims(aud=[RESOURCE])},
        "ended": {"active": False},
        "foreign": {"active": True, **issuer.claims(aud="https://another.example/mcp")},
        "old": {"active": True, **issuer.claims(exp=time.time() - 3600)},
    }

    assert (await verifier.verify("live")).user == "ann"
    for token in ("ended", "foreign", "old", "unheard-of"):
        assert not await is_accepted(verifier, token)


async def test_an_issuer_that_names_another_one_is_not_believed(
    issuer: Issuer, server: AuthorizationServer
) -> None:
    issuer.metadata_issuer = "https://another.example"

    with pytest.raises(IssuerDown):
        await verifier_of(server).verify(issuer.token())


async def test_plain_http_is_only_for_loopback() -> None:
    with pytest.raises(SettingsError, match="https"):
        AuthorizationServer("http://login.example")


def test_metadata_is_looked_for_in_the_order_of_the_specification() -> None:
    assert metadata_addresses("https://login.example/tenant") == [
        "https://login.example/.well-known/oauth-authorization-server/tenant",
        "https://login.example/.well-known/openid-configuration/tenant",
        "https://login.example/tenant/.well-known/openid-configuration",
    ]


async def test_what_a_person_owns_outlives_the_token(
    issuer: Issuer, server: AuthorizationServer
) -> None:
    store = await open_store("sqlite://")
    gate = Gate(
        store.access, anonymous=AnonymousAccess(), verifier=verifier_of(server), remember_seconds=0
    )

    first = await gate.identify(f"Bearer {issuer.token()}", is_local=True)
    later = await gate.identify(f"Bearer {issuer.token(exp=time.time() + 900)}", is_local=True)
    other = await gate.identify(f"Bearer {issuer.token(sub='user-8')}", is_local=True)
    with pytest.raises(AccessRefused):
        await gate.identify("Bearer something-else", is_local=True)
    await store.aclose()

    assert first.owner == later.owner != other.owner
    assert first.token is None
    assert (first.user, first.agent, first.scopes) == ("ann", "claude", frozenset({"read"}))
