"""Sign-in from a browser: authorization code with PKCE, then a signed session cookie."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import jwt

from citewell.core.errors import AccessRefused, IssuerDown
from citewell.core.frozen import frozen
from citewell.core.identity import ALL_SCOPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.access.gate import Gate
    from citewell.access.oauth import TokenVerifier
    from citewell.core.records import Caller

SESSION_SECONDS = 8 * 3600
# Long enough to find a password, short enough that a stolen sign-in cookie is worthless.
SIGN_IN_SECONDS = 600
_ALGORITHM = "HS256"


@frozen
class StartedSignIn:
    """Where to send the browser, and the cookie that identifies it when it returns."""

    address: str
    cookie: str


@frozen
class SignedIn:
    """A finished sign-in: the session's cookie and the page that was asked for."""

    cookie: str
    return_to: str


@frozen
class BrowserSession:
    """The owner of a session cookie; forms are bound to `id`."""

    id: str
    caller: Caller


@frozen
class Registration:
    """What the authorization server knows of this server's consoles."""

    client_id: str
    resource: str
    redirect_uri: str
    scopes: str

    @property
    def is_secure(self) -> bool:
        """Whether browsers use https, so that cookies can be restricted to it."""
        return self.redirect_uri.startswith("https://")


class SignIn:
    """Signs people in at the same issuer that MCP clients use."""

    def __init__(
        self, verifier: TokenVerifier, gate: Gate, registration: Registration, *, secret: bytes
    ) -> None:
        self._verifier = verifier
        self._gate = gate
        self._registration = registration
        self.is_secure = registration.is_secure
        self._session_key = _derive(secret, b"console session")
        self._sign_in_key = _derive(secret, b"console sign-in")

    async def start(self, return_to: str) -> StartedSignIn:
        """Return where the browser goes to sign in.

        Raises:
            IssuerDown: the authorization server cannot be asked.
        """
        verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
        query = {
            "response_type": "code",
            "client_id": self._registration.client_id,
            "redirect_uri": self._registration.redirect_uri,
            "scope": self._registration.scopes,
            "resource": self._registration.resource,
            "state": state,
            "code_challenge": _challenge(verifier),
            "code_challenge_method": "S256",
        }
        endpoint = (await self._verifier.server.metadata()).authorization_endpoint
        separator = "&" if "?" in endpoint else "?"
        claims = {"verifier": verifier, "state": state, "return_to": local_path(return_to)}
        return StartedSignIn(
            address=f"{endpoint}{separator}{urlencode(query)}",
            cookie=_seal(claims, self._sign_in_key, SIGN_IN_SECONDS),
        )

    async def finish(
        self, cookie: str | None, *, code: str, state: str, issuer: str | None
    ) -> SignedIn:
        """Exchange the code that the browser returned with for a session.

        Raises:
            AccessRefused: this browser did not start it, it took too long, or it was refused.
            IssuerDown: the authorization server cannot be asked.
        """
        started = _unseal(cookie, self._sign_in_key)
        returned = state.encode("utf-8", "replace")
        if started is None or not hmac.compare_digest(str(started["state"]).encode(), returned):
            raise AccessRefused("This sign-in was not started in this browser, or took too long.")
        if issuer is not None and issuer.rstrip("/") != self._verifier.server.issuer.rstrip("/"):
            raise AccessRefused("The answer comes from another authorization server.")
        tokens = await self._verifier.server.exchange_code(
            code,
            verifier=str(started["verifier"]),
            redirect_uri=self._registration.redirect_uri,
            resource=self._registration.resource,
        )
        token = tokens.get("access_token")
        if not isinstance(token, str):
            raise IssuerDown("the authorization server sent no access token")
        caller = self._gate.admit(await self._verifier.verify(token))
        claims = {
            "id": secrets.token_urlsafe(12),
            "owner": caller.key_hash,
            "user": caller.user,
            "agent": caller.agent,
            "hint": caller.key_hint,
            "scopes": sorted(caller.scopes),
        }
        return SignedIn(
            cookie=_seal(claims, self._session_key, SESSION_SECONDS),
            return_to=str(started["return_to"]),
        )

    def recognise(self, cookie: str | None) -> BrowserSession | None:
        """Return the session of a cookie; None when it is missing, forged or expired."""
        claims = _unseal(cookie, self._session_key)
        if claims is None:
            return None
        caller = replace(
            self._gate.nobody,
            user=claims["user"],
            agent=claims["agent"],
            key_hash=claims["owner"],
            key_hint=claims["hint"],
            scopes=frozenset(claims["scopes"]) & ALL_SCOPES,
        )
        return BrowserSession(id=claims["id"], caller=caller)


def local_path(address: str) -> str:
    """Return `address` when it is a path of this server, else the start page."""
    is_local = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if is_local and address.isprintable() else "/"


def _derive(secret: bytes, purpose: bytes) -> bytes:
    return hmac.digest(secret, purpose, "sha256")


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _seal(claims: Mapping[str, Any], key: bytes, seconds: int) -> str:
    return jwt.encode({**claims, "exp": time.time() + seconds}, key, algorithm=_ALGORITHM)


def _unseal(cookie: str | None, key: bytes) -> dict[str, Any] | None:
    if not cookie:
        return None
    try:
        return jwt.decode(cookie, key, algorithms=[_ALGORITHM], options={"require": ["exp"]})
    except jwt.PyJWTError:
        return None
