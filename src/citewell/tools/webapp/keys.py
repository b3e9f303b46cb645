"""What an operator does with keys in the browser: makes, rotates and revokes them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from citewell.access.keys import KeyTerms, create_key, revoke_key, rotate_key
from citewell.access.keys import NewKey as NewKey
from citewell.core.errors import ScopeViolation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.identity import AccessKey, AccessScope
    from citewell.tools.registry import Call


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyState:
    """A key, whether it opens anything, and when it was used."""

    key: AccessKey
    is_live: bool
    last_used: datetime | None
    units_this_month: int


async def list_keys(call: Call) -> Sequence[KeyState]:
    """Return every key there ever was, live ones first, then the newest first.

    Raises:
        ScopeViolation: the caller is no admin.
    """
    _refuse_others(call)
    await call.parts.access.meter.write_out()
    store, now = call.parts.store.access, datetime.now(UTC)
    used = await store.last_calls()
    states = [
        KeyState(
            key=key,
            is_live=key.is_live(now),
            last_used=used.get(key.owner),
            units_this_month=await store.units_used(key.owner, month=f"{now:%Y-%m}"),
        )
        for key in await store.list_keys()
    ]
    return sorted(states, key=lambda state: (not state.is_live, -state.key.created_at.timestamp()))


async def make_key(
    call: Call,
    name: str,
    *,
    scope: AccessScope,
    monthly_units: int | None = None,
    days: int | None = None,
) -> NewKey:
    """Make a key; it ends after `days` where given.

    Raises:
        ScopeViolation: the caller is no admin.
        InvalidArgument: the name cannot be used, or a live key has it.
    """
    _refuse_others(call)
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    terms = KeyTerms(scope=scope, monthly_units=monthly_units, expires_at=expires_at)
    return await create_key(call.parts.store.access, name.strip(), terms)


async def replace_token(call: Call, name: str, *, keep_old_hours: int) -> NewKey:
    """Give a key a new token; the old one works for `keep_old_hours` more.

    Raises:
        ScopeViolation: the caller is no admin.
        NotFound: no live key is called so.
    """
    _refuse_others(call)
    return await rotate_key(
        call.parts.store.access, name, keep_old_for=timedelta(hours=keep_old_hours)
    )


async def end_key(call: Call, name: str) -> None:
    """Revoke a key.

    Raises:
        ScopeViolation: the caller is no admin.
        NotFound: no live key is called so.
    """
    _refuse_others(call)
    await revoke_key(call.parts.store.access, name)


def _refuse_others(call: Call) -> None:
    if "admin" not in call.caller.scopes:
        raise ScopeViolation(
            "Keys are for administrators.", suggestion="Use a key with the scope admin."
        )
