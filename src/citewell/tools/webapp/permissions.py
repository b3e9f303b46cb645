"""What a caller's key may do in the web app, so that pages offer nothing that would be refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.tools.people import ask_user
from citewell.tools.research import answer
from citewell.tools.websites import delete, process, refresh

if TYPE_CHECKING:
    from citewell.core.records import Caller


@frozen
class Permissions:
    """Whether the caller can do each of these."""

    ask_pages: bool
    """Ask particular pages, which are fetched."""
    add: bool
    change: bool
    """Refresh, schedule and tag websites, stop and repeat their work."""
    delete: bool
    """Delete websites, and import over those that are there."""
    use_desk: bool
    """Answer questions of agents, and leave directives for them."""


def permissions_of(caller: Caller) -> Permissions:
    """Return what the caller's key can do."""
    return Permissions(
        ask_pages=answer.TOOL.is_for(caller),
        add=process.TOOL.is_for(caller),
        change=refresh.TOOL.is_for(caller),
        delete=delete.TOOL.is_for(caller),
        use_desk=ask_user.TOOL.is_for(caller),
    )
