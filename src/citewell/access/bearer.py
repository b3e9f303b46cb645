"""Parse an Authorization header: `token`, `identity@token` or `user:agent@token`."""

from __future__ import annotations

from citewell.core.errors import AccessRefused, TokenMissing
from citewell.core.identity import Credentials

# Signed tokens of large directories list every group of the user.
_LONGEST_HEADER = 16_000
_HINT_LENGTH = 4


def parse_bearer(header: str | None) -> Credentials:
    """Return the token and the identities of a header.

    The token follows the last @, since identities can be mail addresses. A single identity
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
    identity, separator, token = value.rpartition("@")
    user, colon, agent = identity.partition(":")
    if not token or (separator and not user) or (colon and not agent):
        raise AccessRefused("invalid authorization header")
    if not separator:
        return Credentials(token=token)
    return Credentials(token=token, user=user, agent=agent or user)


def hint_of(token: str) -> str:
    """Return the part of a token that can be shown: its end, if the rest is long enough."""
    return token[-_HINT_LENGTH:] if len(token) > 2 * _HINT_LENGTH else ""
