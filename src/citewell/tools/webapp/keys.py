"""What an operator does with keys in the browser: makes, rotates and revokes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from citewell.access import keys
from citewell.access.keys import KeyTerms
from citewell.access.keys import NewKey as NewKey
from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.identity import AccessKey, AccessScope
    from citewell.tools.tool import Call


@frozen
class KeyState:
    """A key, whether it opens anything, and when it was used."""

    key: AccessKey
    is_live: bool
    last_used: datetime | None
    units_this_month: int
    is_own: bool
    """Whether the caller uses it."""
    replaced_by: str | None
    """The hint of the token that a rotation made in its place."""


async def list_keys(call: Call) -> Sequence[KeyState]:
    """Return every token that the caller oversees, live ones first, then the newest key first.

    Tokens that a rotation replaced follow the one that replaced them.

    Raises:
        ScopeViolation: the caller is no admin.
    """
    store, now = call.parts.store.access, datetime.now(UTC)
    overseen = await keys.list_keys(store, by=call.caller)
    await call.parts.access.meter.write_out()
    used = await store.last_calls()
    newest = {key.owner: key for key in sorted(overseen, key=lambda key: key.created_at)}
    states = [
        KeyState(
            key=key,
            is_live=key.is_live(now),
            last_used=used.get(key.owner),
            units_this_month=await store.units_used(key.owner, month=f"{now:%Y-%m}"),
            is_own=(key.owner, key.hint) == (call.caller.owner, call.caller.key_hint),
            replaced_by=None if newest[key.owner] is key else newest[key.owner].hint,
        )
        for key in overseen
    ]

    def place(state: KeyState) -> tuple[bool, float, float]:
        made, current = state.key.created_at, newest[state.key.owner].created_at
        return not state.is_live, -current.timestamp(), -made.timestamp()

    return sorted(states, key=place)


async def make_key(
    call: Call,
    name: str,
    *,
    scope: AccessScope,
    monthly_units: int | None = None,
    days: int | None = None,
    project: str | None = None,
    toolsets: frozenset[str] | None = None,
) -> NewKey:
    """Make a key that can do no more than the caller's; it ends after `days` where given.

    The first admin key takes over the citations, questions and directives of the person who makes
    it: with the key, that person would not see them any more.

    Raises:
        ScopeViolation: the caller is no admin, or asks for more than it has.
        InvalidArgument: the name cannot be used, or a live key has it.
    """
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    terms = KeyTerms(
        scope=scope,
        monthly_units=monthly_units,
        expires_at=expires_at,
        project=project,
        toolsets=toolsets,
    )
    is_first = call.caller.key_hash is None and call.caller.is_local
    made = await keys.create_key(
        call.parts.store.access,
        name.strip(),
        terms,
        by=call.caller,
        owner=call.caller.owner if is_first and scope == "admin" else None,
    )
    call.parts.access.gate.forget()
    return made


async def replace_token(call: Call, name: str, *, keep_old_hours: int) -> NewKey:
    """Replace a key by a new one; the old one works for `keep_old_hours` more.

    Raises:
        ScopeViolation: the caller is no admin, or the key can do more than its own.
        NotFound: no live key is called so.
    """
    made = await keys.rotate_key(
        call.parts.store.access,
        name,
        keep_old_for=timedelta(hours=keep_old_hours),
        by=call.caller,
    )
    call.parts.access.gate.forget()
    return made


async def end_key(call: Call, name: str) -> None:
    """Revoke a key.

    Raises:
        ScopeViolation: the caller is no admin.
        NotFound: no live key is called so.
    """
    await keys.revoke_key(call.parts.store.access, name, by=call.caller)
    call.parts.access.gate.forget()
