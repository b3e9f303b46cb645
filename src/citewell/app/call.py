"""What a running tool knows of its surroundings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from citewell.core.progress import OnProgress, no_progress

if TYPE_CHECKING:
    from citewell.app.client_port import ClientPort
    from citewell.app.parts import Parts
    from citewell.core.records import Caller
    from citewell.core.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a tool: the parts it asked for, and who calls."""

    parts: Parts
    caller: Caller
    on_progress: OnProgress = no_progress
    deadline: float = field(default=float("inf"))
    """Of anyio.current_time(); work that is not done by then is lost."""
    client: ClientPort | None = None
    """None where nothing can be asked of the client."""

    @property
    def settings(self) -> Settings:
        """The settings of the server."""
        return self.parts.settings
