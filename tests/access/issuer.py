"""An OAuth issuer on loopback that signs whatever a test wants, and answers introspection."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from tests.loopback import QuietHandler, serving

from citewell.access.oauth import TokenVerifier
from citewell.core.errors import AccessRefused

RESOURCE = "https://citewell.example/mcp"


async def is_accepted(verifier: TokenVerifier, token: str) -> bool:
    """Return whether a token is taken for what it says."""
    try:
        await verifier.verify(token)
    except AccessRefused:
        return False
    return True


class Issuer:
    """A running issuer; `keys` are those it publishes, the last one signs."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.keys: dict[str, ec.EllipticCurvePrivateKey] = {}
        self.opaque: dict[str, dict[str, Any]] = {}
        """What introspection says of opaque tokens."""
        self.metadata_issuer = self.url
        self.key_requests = 0
        self.rotate("first")

    def rotate(self, key_id: str) -> None:
        """Publish and sign with a new key only."""
        self.keys = {key_id: ec.generate_private_key(ec.SECP256R1())}

    def token(self, *, headers: dict[str, Any] | None = None, **changes: object) -> str:
        """Return a token of Ann's, with claims changed or (by None) left out."""
        key_id, key = next(reversed(self.keys.items()))
        return jwt.encode(
            self.claims(**changes),
            key,
            algorithm="ES256",
            headers={"kid": key_id, **(headers or {})},
        )

    def claims(self, **changes: object) -> dict[str, Any]:
        claims = {
            "iss": self.url,
            "sub": "user-7",
            "aud": RESOURCE,
            "exp": time.time() + 300,
            "scope": "openid read",
            "client_id": "claude",
            "preferred_username": "ann",
            **changes,
        }
        return {name: value for name, value in claims.items() if value is not None}

    def answer(self, path: str, form: str) -> dict[str, Any] | None:
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.metadata_issuer,
                "authorization_endpoint": f"{self.url}/auth",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/jwks",
                "introspection_endpoint": f"{self.url}/introspect",
            }
        if path == "/jwks":
            self.key_requests += 1
            return {"keys": [self._published(*entry) for entry in self.keys.items()]}
        if path == "/introspect":
            token = dict(pair.split("=", 1) for pair in form.split("&"))["token"]
            return self.opaque.get(token, {"active": False})
        return None

    @staticmethod
    def _published(key_id: str, key: ec.EllipticCurvePrivateKey) -> dict[str, Any]:
        published: dict[str, Any] = jwt.algorithms.ECAlgorithm.to_jwk(
            key.public_key(), as_dict=True
        )
        return {**published, "kid": key_id, "use": "sig", "alg": "ES256"}


@contextmanager
def running_issuer() -> Iterator[Issuer]:
    """Run an issuer until leaving."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), QuietHandler)
    issuer = Issuer(server.server_address[1])

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self._answer("")

        def do_POST(self) -> None:
            self._answer(self.body().decode())

        def _answer(self, form: str) -> None:
            answer = issuer.answer(self.path, form)
            status = 404 if answer is None else 200
            self.reply(status, json.dumps(answer).encode(), {"Content-Type": "application/json"})

    server.RequestHandlerClass = Handler
    with serving(server):
        yield issuer
