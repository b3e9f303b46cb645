"""Reading an Authorization header: `token`, `identity@token` or `user:agent@token`."""

from __future__ import annotations

from citewell.core.errors import AccessRefused, TokenMissing
from citewell.core.identity import Credentials

# Signed tokens of large directories list every group of their user.
_LONGEST_HEADER = 16_000
_HINT_LENGTH = 4


def parse_bearer(header: str | None) -> Credentials:
    """Return the token and the identities of a header.

    The token stands after the last @, since identities may be mail addresses. A single identity
    is both the user's and the agent's.

    Raises:
        TokenMissing: there is no bearer token.
        AccessRefused: the header is malformed.
    """
    scheme, _, value = (header or "").strip().partition(" ")
    value = value.strip()
    if not scheme or (scheme.lower() == "bearer" and not value):
        raise TokenMissing("missing authorization bearer token")
    if scheme.lower() != "bearer" or len(value) > _LONGEST_HEADER or not value.isprintable():
        raise AccessRefused("invalid authorization header")
    identity, at, token = value.rpartition("@")
    user, colon, agent = identity.partition(":")
    if not token or (at and not user) or (colon and not agent):
        raise AccessRefused("invalid authorization header")
    if not at:
        return Credentials(token=token)
    return Credentials(token=token, user=user, agent=agent or user)


def hint_of(token: str) -> str:
    """Return what may be shown of a token: its end, if that leaves enough unknown."""
    return token[-_HINT_LENGTH:] if len(token) > 2 * _HINT_LENGTH else ""
