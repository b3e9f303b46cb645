"""RenderStore: what a database must promise so that one process can have pages rendered by others.

Nothing here outlives its asker by more than a moment. Time goes by the database's own clock, the
only one that all processes share, so callers say how many seconds and not until when.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from citewell.core.renders import (
        RenderCounts,
        RenderOutcome,
        RenderRequest,
        RenderState,
        TakenRender,
    )

MOST_LEASES = 3
"""A page that so many workers have died of is not given to another."""


class RenderStore(Protocol):
    """Requests to render, each known by its asker's secret id. Every method may raise StoreError.

    A worker holds a request by the `lease` number it took it with. Methods that take `lease`
    change nothing when the request was taken again since, withdrawn, or answered.
    """

    poll_seconds: float
    """How long to wait between two looks: short where processes cannot tell each other."""

    async def add_render(self, request: RenderRequest, *, wait_seconds: float) -> None:
        """Ask for a page; after `wait_seconds` the request and its outcome are forgotten."""

    async def render_state(self, render_id: str) -> RenderState:
        """Return how a request stands; `gone` when there is none, or its time is over."""

    async def collect_render(self, render_id: str) -> RenderOutcome | None:
        """Return what a worker handed back, once: it is removed. None when there is nothing."""

    async def withdraw_render(self, render_id: str) -> None:
        """Forget a request; its worker notices when it renews its lease."""

    async def take_render(
        self, *, lease_seconds: float, urgent_only: bool = False
    ) -> TakenRender | None:
        """Take the oldest request that waits, of those that are urgent if there are any.

        One whose lease has ended waits again, until MOST_LEASES have. Two workers never get the
        same request with the same lease.
        """

    async def keep_render(self, render_id: str, *, lease: int, lease_seconds: float) -> bool:
        """Prolong the lease; return whether the request is still the worker's."""

    async def release_render(self, render_id: str, *, lease: int) -> None:
        """Hand a request back, so that another worker takes it now."""

    async def finish_render(self, render_id: str, *, lease: int, outcome: RenderOutcome) -> bool:
        """Hand back what became of the page; return whether the request was still the worker's."""

    async def note_worker(self, worker: str, *, seconds: float) -> None:
        """Note that a worker lives and will for so long; forget whatever has had its time."""

    async def forget_worker(self, worker: str) -> None:
        """Note that a worker takes no more requests."""

    async def count_renders(self) -> RenderCounts:
        """Return how many requests wait and are held, and how many workers live."""

    def requests(self) -> AsyncGenerator[None]:
        """Yield whenever there may be a request to take, for as long as it is read.

        Where processes cannot tell each other it never yields: looking now and then is up to the
        reader in any case.
        """

    def outcomes(self) -> AsyncGenerator[str]:
        """Yield the id of each request that was answered, or nothing (``""``) for any of them.

        As with `requests`, looking now and then is up to the reader in any case.
        """
