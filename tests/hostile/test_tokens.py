"""Tokens and cookies that strangers make up: each is refused, and no address in it is asked."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any

import jwt
import pytest
from tests.access.issuer import RESOURCE, Issuer, is_accepted, running_issuer
from tests.site import running_site

from citewell.access.browser_session import Registration, SignIn
from citewell.access.gate import AnonymousAccess, Gate
from citewell.access.oauth import OAuthTerms, TokenVerifier
from citewell.core.errors import AccessRefused
from citewell.store.open import open_store
from citewell.web.authorization_server import AuthorizationServer, ClientIdentity

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

pytestmark = pytest.mark.anyio

DEEP = "[" * 20_000


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with running_issuer() as running:
        yield running


@pytest.fixture
async def verifier(issuer: Issuer) -> AsyncIterator[TokenVerifier]:
    server = AuthorizationServer(issuer.url, timeout_seconds=30, refetch_seconds=0)
    yield TokenVerifier(server, OAuthTerms(audiences=[RESOURCE]))
    await server.aclose()


def part(value: object) -> str:
    raw = value if isinstance(value, str) else json.dumps(value)
    return base64.urlsafe_b64encode(raw.encode()).rstrip(b"=").decode()


def made_up(header: object, claims: object, signature: str = "AAAA") -> str:
    return f"{part(header)}.{part(claims)}.{signature}"


def signed_with_public_key(issuer: Issuer) -> str:
    """Return a token whose shared secret is the key that everyone knows."""
    published = issuer.answer("/jwks", "")
    head = made_up({"alg": "HS256", "kid": "first"}, issuer.claims(), "").rstrip(".")
    secret = json.dumps(published).encode()
    digest = hmac.digest(secret, head.encode(), hashlib.sha256)
    return f"{head}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


def forged(issuer: Issuer, elsewhere: str) -> dict[str, str]:
    claims = issuer.claims(scope="admin")
    head: dict[str, Any] = {"alg": "ES256", "kid": "first"}
    whole = issuer.token()
    return {
        "no signature": made_up({"alg": "none"}, claims, ""),
        "none in capitals": made_up({"alg": "nOnE", "kid": "first"}, claims, ""),
        "the public key as a secret": signed_with_public_key(issuer),
        "a key of its own": made_up(
            {**head, "jku": f"{elsewhere}/k", "x5u": f"{elsewhere}/x"}, claims
        ),
        "a key inside": made_up({**head, "jwk": {"kty": "EC", "crv": "P-256"}}, claims),
        "a key id of another kind": made_up({**head, "kid": ["first"]}, claims),
        "a path as key id": made_up({**head, "kid": "../../etc/passwd"}, claims),
        "an unknown extension": made_up({**head, "crit": ["exp"]}, claims),
        "detached": made_up({**head, "b64": False, "crit": ["b64"]}, claims),
        "claims of another token": ".".join(
            [whole.split(".")[0], part(claims), whole.split(".")[2]]
        ),
        "a deep header": made_up('{"alg":"ES256","a":' + DEEP, claims),
        "deep claims": made_up(head, DEEP),
        "a header that is a list": made_up([], claims),
        "an endless number": made_up('{"alg":' + "1" * 20_000 + "}", claims),
        "half a character": made_up('{"alg":"\\ud800"}', claims),
        "no subject": issuer.token(sub=""),
        "a subject that is a number": issuer.token(sub=7),
        "an end that is infinite": issuer.token(exp=float("inf")),
        "an audience of another kind": issuer.token(aud={"a": RESOURCE}),
    }


MALFORMED: dict[str, dict[str, Any]] = {
    "a scope that is an object": {"scope": {"admin": True}},
    "a scope that is a number": {"scope": 7},
    "a scope that is true": {"scope": True},
    "scopes that are objects": {"scope": ["read", {"admin": 1}]},
    "scopes that are lists": {"scope": [["admin"]]},
    "scp that is an object": {"scp": {"0": "admin"}},
    "roles that are an object": {"realm_access": {"roles": {"docs-admins": True}}},
    "roles in a string": {"realm_access": "docs-admins"},
    "roles in a list": {"realm_access": ["docs-admins"]},
    "a long subject": {"sub": "a" * 100_000},
    "a subject with a control character": {"sub": "ann\x00"},
    "half a character as a subject": {"sub": "\ud800"},
    "a subject that is a list": {"sub": ["user-7"]},
    "a name that is an object": {"preferred_username": {"a": "ann"}},
    "a client that is a list": {"client_id": ["claude"]},
    "an end that is text": {"exp": "9999999999"},
    "an end that is true": {"exp": True},
    "an end of 400 digits": {"exp": 10**400},
    "an end beyond all years": {"exp": 10**15},
    "an end that is no number": {"exp": float("nan")},
    "a start of 400 digits": {"nbf": 10**400},
    "a start that is an object": {"nbf": {}},
    "a start in text": {"nbf": "soon"},
}
"""Claims of a kind that no issuer sends, which must not count as absent."""


@pytest.mark.parametrize("is_opaque", [False, True], ids=["signed", "opaque"])
async def test_a_malformed_claim_grants_nothing(issuer: Issuer, is_opaque: bool) -> None:
    identity = ClientIdentity(client_id="citewell", client_secret="a secret of ours")
    server = AuthorizationServer(issuer.url, client=identity, timeout_seconds=30)
    by_scope, by_role = (
        TokenVerifier(server, OAuthTerms(audiences=[RESOURCE], access_claim=claim))
        for claim in ("scope", "realm_access.roles")
    )

    for what, claims in MALFORMED.items():
        verifier = by_role if "realm_access" in claims else by_scope
        issuer.opaque = {"opaque": {"active": True, **issuer.claims(**claims)}}
        token = "opaque" if is_opaque else issuer.token(**claims)
        assert not await is_accepted(verifier, token), what
    await server.aclose()


async def test_a_name_is_shown_on_one_line(issuer: Issuer, verifier: TokenVerifier) -> None:
    grant = await verifier.verify(issuer.token(preferred_username="A\nnn\x1b\ud800 " + "e" * 9_000))

    assert grant.user.startswith("A nn? e")
    assert len(grant.user) == 200


async def test_forged_tokens_are_refused_and_no_address_in_them_is_asked(
    issuer: Issuer, verifier: TokenVerifier
) -> None:
    with running_site({}) as elsewhere:
        for what, token in forged(issuer, elsewhere.url()).items():
            assert not await is_accepted(verifier, token), what

    assert elsewhere.requests == []
    assert (await verifier.verify(issuer.token())).user == "ann"


async def test_forged_cookies_open_no_session(issuer: Issuer, verifier: TokenVerifier) -> None:
    store = await open_store("sqlite://")
    gate = Gate(store.access, anonymous=AnonymousAccess(project="default"))
    sign_in = SignIn(verifier, gate, REGISTRATION, secret=b"s" * 32)
    started = await sign_in.start("/")
    session = {"id": "a", "owner": "x", "user": "x", "agent": "", "hint": "", "scopes": ["admin"]}

    for cookie in (
        made_up('{"alg":"HS256","a":' + DEEP, session),
        made_up({"alg": "none"}, session, ""),
        jwt.encode({**session, "exp": 4e9}, "another secret of enough bytes!!", algorithm="HS256"),
        # Each cookie has a key of its own: one does not pass for the other.
        started.cookie,
    ):
        assert sign_in.recognise(cookie) is None
        with pytest.raises(AccessRefused):
            await sign_in.finish(cookie, code="c", state="ä\ud800", issuer=None)
    await store.aclose()


REGISTRATION = Registration(
    client_id="citewell", resource=RESOURCE, redirect_uri="https://citewell.example/cb", scopes=""
)
