"""Who may call and what they used: keys, the credentials of a request, and the calls made."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal, get_args

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from datetime import datetime

AccessScope = Literal["read", "write", "admin"]
"""What a key can do: read what is stored; also fetch and add; also delete, and see the server."""

ALL_SCOPES: frozenset[str] = frozenset(get_args(AccessScope))


@frozen
class Credentials:
    """What an Authorization header says: a token, and the identities put before it."""

    token: str = field(repr=False)
    user: str | None = None
    agent: str | None = None


@frozen
class AccessKey:
    """A key as it is stored: never its token, only the token's hash and last characters."""

    key_hash: str
    owner: str
    """What its data is kept under, also after a rotation: the hash of the key's first token, or
    `local` for the key that took over what was there before any."""
    hint: str
    """The last four characters of the token."""
    name: str
    scopes: frozenset[str]
    toolsets: frozenset[str] | None = None
    """None means all that the server lists."""
    project: str | None = None
    """None means the server's own."""
    monthly_units: int | None = None
    """Most units its calls may cost in a calendar month (UTC); None means without limit."""
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def is_live(self, now: datetime) -> bool:
        """Return whether the key opens anything at `now`."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@frozen
class CallRecord:
    """One tool call, for the bill."""

    called_at: datetime
    owner: str
    """The caller's key_hash; empty where no key is asked for."""
    hint: str
    user: str | None
    agent: str | None
    tool: str
    outcome: str
    """`ok`, or the code of the error."""
    message: str = ""
    """Of the error, redacted."""
    units: int
    tokens: int
    """Of the text that was returned, in cl100k tokens."""
    milliseconds: int
    price: int = 0
    """What the tool cost when it was called, in units; a call that failed may cost less."""
    refunded: int = 0
    """Units that the billing service had set aside and gave back, because the call failed."""


@frozen
class UsageTotal:
    """What one key used of one tool in one month, by outcome."""

    month: str
    """As 2026-03."""
    owner: str
    hint: str
    name: str | None
    """Of the key; None for a token that is no key of this server."""
    tool: str
    outcome: str
    calls: int
    units: int
    tokens: int
    milliseconds: int
    price: int = 0
    """What one call cost at most, in units."""
    refunded: int = 0
    """Units that the billing service gave back for calls that failed."""


@frozen
class DailyUsage:
    """What one user used of one tool with one key on one day."""

    day: str
    """As 2026-03-01, of UTC."""
    owner: str
    hint: str
    name: str | None
    """Of the key; None for a token that is no key of this server."""
    user: str | None
    tool: str
    calls: int
    failed: int
    """How many of the calls ended with an error."""
    units: int
    tokens: int


@frozen
class CallQuery:
    """Which calls are wanted; None means all."""

    month: str | None = None
    owner: str | None = None
    project: str | None = None
    """Only calls with keys that are limited to this project."""
    before: int | None = None
    """Only calls with a lower number."""
    only_failed: bool = False
    limit: int = 50


@frozen
class LoggedCall:
    """A call in the log."""

    number: int
    key_name: str | None
    """None for a token that is no key of this server."""
    call: CallRecord
