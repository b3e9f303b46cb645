"""The party of a call at the desk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.errors import AccessRefused
from citewell.core.ids import content_hash
from citewell.people.desk import Party

if TYPE_CHECKING:
    from datetime import datetime

    from citewell.tools.tool import Call


def party_of(call: Call) -> Party:
    """Return the caller as a party at the desk.

    Raises:
        AccessRefused: the server is open to strangers, who would read one another's questions.
    """
    caller, settings = call.caller, call.settings
    is_open = settings.mcp_transport != "stdio" and settings.mcp_allow_anonymous
    if caller.key_hash is None and (is_open or not caller.is_local):
        raise AccessRefused("invalid authorization header")
    return Party(
        owner=caller.owner,
        user=caller.user,
        agent=caller.agent,
        key_hint=caller.key_hint,
        # Hashed, because the name of a session is enough to use it.
        asker=content_hash(f"{caller.session}\n{caller.agent}")[:32],
    )


def show_moment(moment: datetime) -> str:
    """Return a time in the format of results and consoles."""
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
