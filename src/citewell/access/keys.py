"""Keys of this server: made, given new tokens and revoked; a token is shown once."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from citewell.access.bearer import hint_of
from citewell.core.errors import InvalidArgument, NotFound
from citewell.core.identity import AccessKey
from citewell.core.ids import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import timedelta

    from citewell.core.identity import AccessScope
    from citewell.store.access import AccessStore

_PREFIX = "cw-"
_RANDOM_BYTES = 32
_LONGEST_NAME = 80

_INCLUDED: dict[str, frozenset[str]] = {
    "read": frozenset({"read"}),
    "write": frozenset({"read", "write"}),
    "admin": frozenset({"read", "write", "admin"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key together with its token, which is nowhere else."""

    key: AccessKey
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyTerms:
    """What a key is for; the defaults are a key without limits."""

    scope: AccessScope = "write"
    """Each scope includes the ones before it: read, write, admin."""
    toolsets: frozenset[str] | None = None
    project: str | None = None
    monthly_units: int | None = None
    expires_at: datetime | None = None


async def create_key(store: AccessStore, name: str, terms: KeyTerms) -> NewKey:
    """Make a key.

    Raises:
        InvalidArgument: the name cannot be used, or a live key has it.
    """
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise InvalidArgument(f"the name of a key has 1 to {_LONGEST_NAME} printable characters")
    token = _new_token()
    key_hash = content_hash(token)
    key = AccessKey(
        key_hash=key_hash,
        owner=key_hash,
        hint=hint_of(token),
        name=name,
        scopes=_INCLUDED[terms.scope],
        toolsets=terms.toolsets,
        project=terms.project,
        monthly_units=terms.monthly_units,
        created_at=datetime.now(UTC),
        expires_at=terms.expires_at,
    )
    if not await store.put_key(key):
        raise InvalidArgument(f"there is a live key called {name!r} already")
    return NewKey(key=key, token=token)


async def rotate_key(store: AccessStore, name: str, *, keep_old_for: timedelta) -> NewKey:
    """Give the key called `name` a new token; its terms and its data stay.

    Raises:
        NotFound: no live key is called so.
    """
    now = datetime.now(UTC)
    current = _newest_live(await store.list_keys(), name, now)
    token = _new_token()
    key = AccessKey(
        key_hash=content_hash(token),
        owner=current.owner,
        hint=hint_of(token),
        name=name,
        scopes=current.scopes,
        toolsets=current.toolsets,
        project=current.project,
        monthly_units=current.monthly_units,
        created_at=now,
        expires_at=current.expires_at,
    )
    if not await store.replace_key(key, old_until=now + keep_old_for):
        raise _no_such_key(name)
    return NewKey(key=key, token=token)


async def revoke_key(store: AccessStore, name: str) -> int:
    """Revoke every token of the key called `name`; return how many were live.

    Raises:
        NotFound: no live key is called so.
    """
    revoked = await store.revoke_keys(name, at=datetime.now(UTC))
    if not revoked:
        raise _no_such_key(name)
    return revoked


def _newest_live(keys: Iterable[AccessKey], name: str, now: datetime) -> AccessKey:
    live = [key for key in keys if key.name == name and key.is_live(now)]
    if not live:
        raise _no_such_key(name)
    return live[-1]


def _no_such_key(name: str) -> NotFound:
    return NotFound(f"there is no live key called {name!r}", suggestion="See `citewell keys list`.")


def _new_token() -> str:
    return _PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
