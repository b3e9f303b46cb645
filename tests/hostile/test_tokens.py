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
from citewell.web.authorization_server import AuthorizationServer

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
