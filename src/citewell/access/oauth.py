"""Verify OAuth 2.1 access tokens and map their claims to scopes (RFC 9068, 7662, 8707)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jwt

from citewell.core.errors import AccessRefused, GrantTooNarrow, IssuerDown
from citewell.core.frozen import frozen
from citewell.core.identity import ALL_SCOPES
from citewell.core.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from citewell.web.authorization_server import AuthorizationServer

# Asymmetric signatures only: anyone who knows a shared client secret could sign with it.
_ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
_CLOCK_SKEW_SECONDS = 60
_PREFIX = "citewell:"
_LONGEST_SUBJECT = 1_000
# Seconds since 1970, to the year 9999; later ones are no time that Python can show.
_LATEST = 253_402_300_800


@frozen
class OAuthTerms:
    """The claims that a token must have, and how they become scopes of Citewell."""

    audiences: Sequence[str]
    """One of them must be the token's audience."""
    required_scopes: Sequence[str] = ()
    access_claim: str = "scope"
    """Path of the claim that grants access, such as `scope`, `roles` or `realm_access.roles`."""
    access_values: Mapping[str, str] | None = None
    """Scope of Citewell by value of the claim; None means `read`, `write`, `admin` themselves."""
    default_access: frozenset[str] = frozenset({"read"})
    """Granted to every valid token, whatever its claim says."""


@frozen
class Grant:
    """A verified token: whose it is and what it permits."""

    issuer: str
    subject: str
    user: str
    client: str
    scopes: frozenset[str]
    expires_at: float


class TokenVerifier:
    """Verifies signed tokens by the issuer's keys and opaque ones by introspection."""

    def __init__(self, server: AuthorizationServer, terms: OAuthTerms) -> None:
        self.server = server
        self._terms = terms
        self._audiences = [
            form for name in terms.audiences for form in (name.rstrip("/"), f"{name.rstrip('/')}/")
        ]

    async def verify(self, token: str) -> Grant:
        """Return what a token grants.

        Raises:
            AccessRefused: the token is not valid here.
            GrantTooNarrow: it is valid but lacks a required scope.
            IssuerDown: the authorization server cannot be asked.
        """
        if is_signed(token):
            claims = await self._decode(token)
        else:
            claims = await self._introspect(token)
        held = [*_words(claims.get("scope"), "scope"), *_words(claims.get("scp"), "scp")]
        missing = [name for name in self._terms.required_scopes if not _holds(held, name)]
        if missing:
            raise GrantTooNarrow(f"The token lacks the scope {' '.join(missing)}.")
        return Grant(
            issuer=self.server.issuer,
            subject=_subject(claims),
            user=_name(claims, "preferred_username", "username", "email", "name", "sub"),
            client=_name(claims, "client_id", "azp", "sub"),
            scopes=self._granted(claims),
            expires_at=_moment(claims, "exp"),
        )

    async def _decode(self, token: str) -> Mapping[str, Any]:
        try:
            header = jwt.get_unverified_header(token)
            key = await self._find_key(header.get("kid"))
            return jwt.decode(
                token,
                key,
                algorithms=_ALGORITHMS,
                audience=self._audiences,
                issuer=[self.server.issuer, (await self.server.metadata()).issuer],
                leeway=_CLOCK_SKEW_SECONDS,
                options={"require": ["exp", "iss", "sub", "aud"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError) as error:
            raise AccessRefused(f"The access token is not valid: {error}.") from error

    async def _find_key(self, key_id: object) -> jwt.PyJWK:
        """Return the key that a token names; keys are fetched again for an unknown one."""
        for refetch in (False, True):
            published = await self.server.signing_keys(refetch=refetch)
            try:
                keys = [key for key in jwt.PyJWKSet.from_dict(published).keys if _signs(key)]
            except (jwt.PyJWTError, ValueError, TypeError, KeyError) as error:
                raise IssuerDown("the authorization server publishes no usable key") from error
            for key in keys:
                if key.key_id == key_id or (key_id is None and len(keys) == 1):
                    return key
        raise AccessRefused("The access token is signed with an unknown key.")

    async def _introspect(self, token: str) -> Mapping[str, Any]:
        if not self.server.can_introspect:
            raise AccessRefused("invalid authorization header")
        claims = await self.server.introspect(token)
        if claims.get("active") is not True:
            raise AccessRefused("The access token is not valid for this server.")
        now = time.time()
        is_ours = not set(_words(claims.get("aud"), "aud")).isdisjoint(self._audiences)
        is_live = _moment(claims, "exp") > now - _CLOCK_SKEW_SECONDS
        is_begun = claims.get("nbf") is None or _moment(claims, "nbf") <= now + _CLOCK_SKEW_SECONDS
        issuer = claims.get("iss", self.server.issuer)
        is_issued = str(issuer).rstrip("/") == self.server.issuer.rstrip("/")
        if not is_ours:
            raise AccessRefused("The access token is not valid for this server.")
        if not (is_live and is_begun and is_issued):
            raise AccessRefused("The access token has expired or comes from another issuer.")
        return claims

    def _granted(self, claims: Mapping[str, Any]) -> frozenset[str]:
        value: object = claims
        for name in self._terms.access_claim.split("."):
            if value is None:
                break
            if not isinstance(value, Mapping):
                raise _malformed(self._terms.access_claim)
            value = value.get(name)
        values = _words(value, self._terms.access_claim)
        if self._terms.access_values is None:
            named = {word.removeprefix(_PREFIX) for word in values} & ALL_SCOPES
        else:
            named = {scope for word, scope in self._terms.access_values.items() if word in values}
        return _with_lower(self._terms.default_access | named)


def is_signed(token: str) -> bool:
    """Return whether a token has the form of a JWT; others are opaque."""
    return token.count(".") == 2 and token.startswith("ey")


def _with_lower(scopes: Iterable[str]) -> frozenset[str]:
    """Return the scopes with those that they include: admin may write, write may read."""
    order = ("read", "write", "admin")
    highest = max((order.index(scope) for scope in scopes), default=-1)
    return frozenset(order[: highest + 1])


def _signs(key: jwt.PyJWK) -> bool:
    return key.public_key_use in (None, "sig")


def _holds(scopes: Sequence[str], required: str) -> bool:
    """Return whether a token has a scope; for api://ID/name, Entra issues `name` alone.

    The audience, which is checked, says which resource it belongs to.
    """
    is_qualified = "://" in required
    return required in scopes or (is_qualified and required.rpartition("/")[2] in scopes)


def _malformed(claim: str) -> AccessRefused:
    return AccessRefused(f"The claim {claim} of the access token has a value of the wrong kind.")


def _words(value: object, claim: str) -> list[str]:
    """Return the words of a claim, a string or a list of strings; none where it is absent."""
    if value is None:
        return []
    words = value.split() if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise _malformed(claim)
    return words


def _subject(claims: Mapping[str, Any]) -> str:
    subject = claims.get("sub")
    # It owns data and is stored: no halves of characters, and nothing that reads like another one.
    if not isinstance(subject, str) or not subject.isprintable():
        raise _malformed("sub")
    if not 0 < len(subject) <= _LONGEST_SUBJECT:
        raise _malformed("sub")
    return subject


def _name(claims: Mapping[str, Any], *names: str) -> str:
    """Return the first of the claims that says something, on one line."""
    for name in names:
        value = claims.get(name)
        if not isinstance(value, str | None):
            raise _malformed(name)
        if value and (shown := one_line(value.encode("utf-8", "replace").decode())):
            return shown
    raise _malformed(names[-1])


def _moment(claims: Mapping[str, Any], claim: str) -> float:
    value = claims.get(claim)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < _LATEST:
        raise _malformed(claim)
    return float(value)
