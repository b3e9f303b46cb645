"""What a caller can see, manage and grant: within one project, or everywhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.core.errors import ScopeViolation
from citewell.core.frozen import frozen
from citewell.core.records import Caller

if TYPE_CHECKING:
    from datetime import datetime

    from citewell.core.identity import AccessKey, AccessScope

OPERATOR = Caller(session="operator")
"""The user of the server's own machine, who can write to its store anyway."""

INCLUDED_SCOPES: dict[AccessScope, frozenset[str]] = {
    "read": frozenset({"read"}),
    "write": frozenset({"read", "write"}),
    "admin": frozenset({"read", "write", "admin"}),
}


@frozen
class KeyTerms:
    """The limits of a key; those left out are the limits of the caller who creates it."""

    scope: AccessScope = "write"
    """Each scope includes the ones before it: read, write, admin."""
    toolsets: frozenset[str] | None = None
    project: str | None = None
    monthly_units: int | None = None
    expires_at: datetime | None = None


@frozen
class VisibleCalls:
    """The calls that a caller sees: of one owner, of the keys of a project, or all."""

    owner: str | None = None
    project: str | None = None


def visible_calls(caller: Caller) -> VisibleCalls:
    """Return the calls that `caller` sees: its own, or as an admin those of its project or all."""
    if "admin" not in caller.scopes:
        return VisibleCalls(owner=caller.key_hash or "")
    return VisibleCalls(project=caller.key_project)


def require_admin(caller: Caller) -> None:
    """Refuse a caller who cannot manage keys.

    Raises:
        ScopeViolation: the caller lacks the scope `admin`.
    """
    if "admin" not in caller.scopes:
        raise ScopeViolation(
            "Keys are for administrators.", suggestion="Use a key with the scope admin."
        )


def oversees(caller: Caller, key: AccessKey) -> bool:
    """Return whether an administrator can see and revoke `key`."""
    return caller.key_project is None or key.project == caller.key_project


def within_limits(terms: KeyTerms, caller: Caller) -> KeyTerms:
    """Return `terms` with the caller's own limits where they name none.

    Raises:
        ScopeViolation: the terms exceed what the caller has.
    """
    limited = replace(
        terms,
        toolsets=caller.toolsets if terms.toolsets is None else terms.toolsets,
        project=terms.project or caller.key_project,
        monthly_units=caller.monthly_units if terms.monthly_units is None else terms.monthly_units,
        expires_at=terms.expires_at or caller.key_expires_at,
    )
    refuse_excess(limited, INCLUDED_SCOPES[terms.scope], caller)
    return limited


def refuse_excess(held: KeyTerms | AccessKey, scopes: frozenset[str], caller: Caller) -> None:
    """Refuse to hand out a token that can do more than the caller's own.

    Raises:
        ScopeViolation: it can; the message says which limits it exceeds.
    """
    excess = [
        word
        for word, is_more in (
            ("scope", not scopes <= caller.scopes),
            ("project", caller.key_project not in (None, held.project)),
            (
                "toolsets",
                caller.toolsets is not None
                and (held.toolsets is None or not held.toolsets <= caller.toolsets),
            ),
            ("units a month", _exceeds(held.monthly_units, caller.monthly_units)),
            (
                "time until it ends",
                _exceeds(_seconds(held.expires_at), _seconds(caller.key_expires_at)),
            ),
        )
        if is_more
    ]
    if excess:
        raise ScopeViolation(
            f"This key would have more than yours: {', '.join(excess)}.",
            suggestion="Ask for no more than your own key has, or use one with fewer limits.",
        )


def _exceeds(held: float | None, most: float | None) -> bool:
    return most is not None and (held is None or held > most)


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()
