"""The records of pages that one process asks for and another one renders."""

from __future__ import annotations

from typing import Literal

from citewell.core.frozen import frozen

RenderState = Literal["waiting", "unattended", "held", "done", "abandoned", "expired"]
"""How a request stands.

`unattended` waits while no worker lives; `abandoned` has ended too many workers.
"""


@frozen
class RenderRequest:
    """A page that somebody waits for."""

    render_id: str
    """Random, and known to the asker alone: only who has it can read what was rendered."""
    url: str
    wait_for: str = ""
    """A text or a CSS selector that is to be on the page before it is read."""
    is_urgent: bool = True
    """Whether it goes before what no caller waits for."""


@frozen
class TakenRender:
    """A request in the hands of a worker."""

    request: RenderRequest
    lease: int
    """Counts how often it was taken, to distinguish one worker's lease from the next."""
    seconds_left: float
    """After these the asker waits no more."""


@frozen
class RenderOutcome:
    """What a worker hands back."""

    account: str
    """What became of the page, as JSON."""
    html: bytes = b""


@frozen
class RenderCounts:
    """How much there is to render, and by how many."""

    waiting: int
    held: int
    workers: int
