"""The context of a running tool."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.progress import OnProgress, no_progress

if TYPE_CHECKING:
    from citewell.app.client_port import ClientPort
    from citewell.app.parts import Parts
    from citewell.core.records import Caller
    from citewell.core.settings import Settings


@frozen
class Call:
    """One call of a tool: the parts it needs, the caller and the deadline."""

    parts: Parts
    caller: Caller
    on_progress: OnProgress = no_progress
    deadline: float = field(default=float("inf"))
    """On the clock of anyio.current_time(); work that is not done by then is lost."""
    client: ClientPort | None = None
    """None where the client cannot be asked for anything."""

    @property
    def settings(self) -> Settings:
        """The settings of the server."""
        return self.parts.settings
