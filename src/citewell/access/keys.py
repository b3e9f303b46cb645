"""Create, rotate and revoke the keys of this server; a token is shown once."""

from __future__ import annotations

import re
import secrets
from dataclasses import field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from citewell.access.authority import (
    INCLUDED_SCOPES,
    oversees,
    refuse_excess,
    require_admin,
    within_limits,
)
from citewell.access.authority import OPERATOR as OPERATOR
from citewell.access.authority import KeyTerms as KeyTerms
from citewell.access.bearer import hint_of
from citewell.core.errors import InvalidArgument, NotFound
from citewell.core.frozen import frozen
from citewell.core.identity import AccessKey
from citewell.core.ids import content_hash

if TYPE_CHECKING:
    from datetime import timedelta

    from citewell.core.records import Caller
    from citewell.store.access import AccessStore

_PREFIX = "cw-"
_RANDOM_BYTES = 32
_LONGEST_NAME = 80
# Names are part of URLs: no slash, and no dot at the start.
_NAME = re.compile(r"\w[\w .@+-]*")


@frozen
class NewKey:
    """A key with its token, which is stored nowhere."""

    key: AccessKey
    token: str = field(repr=False)


async def create_key(
    store: AccessStore, name: str, terms: KeyTerms, *, by: Caller, owner: str | None = None
) -> NewKey:
    """Create a key that can do no more than `by`, whose limits apply where `terms` has none.

    With `owner`, it takes over what that owner has; otherwise it begins with nothing.

    Raises:
        ScopeViolation: `by` is no admin, or the terms exceed its own.
        InvalidArgument: the name cannot be used, or a live key has it.
    """
    require_admin(by)
    terms = within_limits(terms, by)
    if len(name) > _LONGEST_NAME or name != name.strip() or not _NAME.fullmatch(name):
        raise InvalidArgument(
            f"a key cannot be called {name[:_LONGEST_NAME]!r}; use 1 to {_LONGEST_NAME} letters, "
            "digits, spaces and . _ - @ +, and begin with a letter or digit"
        )
    token = _new_token()
    key_hash = content_hash(token)
    key = AccessKey(
        key_hash=key_hash,
        owner=owner or key_hash,
        hint=hint_of(token),
        name=name,
        scopes=INCLUDED_SCOPES[terms.scope],
        toolsets=terms.toolsets,
        project=terms.project,
        monthly_units=terms.monthly_units,
        created_at=datetime.now(UTC),
        expires_at=terms.expires_at,
    )
    if not await store.put_key(key):
        raise InvalidArgument(f"there is a live key called {name!r} already")
    return NewKey(key=key, token=token)


async def list_keys(store: AccessStore, *, by: Caller) -> list[AccessKey]:
    """Return every key that `by` oversees, including expired and revoked ones, oldest first.

    Raises:
        ScopeViolation: `by` is no admin.
    """
    require_admin(by)
    return [key for key in await store.list_keys() if oversees(by, key)]


async def rotate_key(
    store: AccessStore, name: str, *, keep_old_for: timedelta, by: Caller
) -> NewKey:
    """Give the key called `name` a new token; it keeps its terms and its data.

    Raises:
        ScopeViolation: `by` is no admin, or the key can do more than `by`.
        NotFound: `by` oversees no live key of that name.
    """
    now = datetime.now(UTC)
    current = await _find_live(store, name, now, by=by)
    refuse_excess(current, current.scopes, by)
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


async def revoke_key(store: AccessStore, name: str, *, by: Caller) -> int:
    """Revoke every token of the key called `name`; return how many were live.

    Raises:
        ScopeViolation: `by` is no admin.
        NotFound: `by` oversees no live key of that name.
    """
    now = datetime.now(UTC)
    current = await _find_live(store, name, now, by=by)
    revoked = await store.revoke_keys(current.owner, now=now)
    if not revoked:
        raise _no_such_key(name)
    return revoked


async def _find_live(store: AccessStore, name: str, now: datetime, *, by: Caller) -> AccessKey:
    keys = await list_keys(store, by=by)
    live = [key for key in keys if key.name == name and key.is_live(now)]
    if not live:
        raise _no_such_key(name)
    return live[-1]


def _no_such_key(name: str) -> NotFound:
    return NotFound(f"there is no live key called {name!r}", suggestion="See `citewell keys list`.")


def _new_token() -> str:
    return _PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)
