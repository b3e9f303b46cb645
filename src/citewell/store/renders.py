"""Pages that one process requests and another renders.

Nothing here outlives its asker by more than a moment. Time goes by the database's own clock, the
only one that all processes share, so callers say how many seconds and not until when.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, cast

from citewell.core.renders import RenderCounts, RenderOutcome, RenderRequest, TakenRender
from citewell.store.rows import read_record, record_values

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from citewell.core.renders import RenderState
    from citewell.store.session import Channel, Database, Row, Session, Values

MOST_LEASES = 3
"""A page that so many workers have died of is not given to another."""


class RenderStore:
    """Requests to render, each known by its asker's secret id. Every method may raise StoreError.

    A worker holds a request by the `lease` number it took it with. Methods that take `lease`
    change nothing when the request was taken again since, withdrawn, or answered.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def poll_seconds(self) -> float:
        """How long to wait between two looks: short where processes cannot notify each other."""
        return 1.0 if self._database.can_notify else 0.1

    async def add_render(self, request: RenderRequest, *, wait_seconds: float) -> None:
        """Ask for a page; after `wait_seconds` the request and its outcome are forgotten."""
        values = record_values(request) | {"wait_seconds": wait_seconds}
        await self._change_and_notify("add_render", values, "render_requests")

    async def render_state(self, render_id: str) -> RenderState:
        """Return how a request stands; `expired` when there is none, or its time is over."""
        values = {"render_id": render_id, "most_leases": MOST_LEASES}
        row = await self._database.fetch_one("render_state", values)
        return "expired" if row is None else cast("RenderState", row["state"])

    async def collect_render(self, render_id: str) -> RenderOutcome | None:
        """Return what a worker handed back, once: it is removed. None when there is nothing."""
        row = await self._change_one("collect_render", {"render_id": render_id})
        return None if row is None else read_record(RenderOutcome, row)

    async def withdraw_render(self, render_id: str) -> None:
        """Forget a request; its worker notices when it renews its lease."""
        await self._database.execute("withdraw_render", {"render_id": render_id})

    async def take_render(
        self, *, lease_seconds: float, urgent_only: bool = False
    ) -> TakenRender | None:
        """Take the oldest waiting request, urgent ones first.

        One whose lease has ended waits again, until MOST_LEASES have. Two workers never get the
        same request with the same lease.
        """
        choice = {"urgent_only": urgent_only, "most_leases": MOST_LEASES}
        # Checking first takes no lock; taking does, and would block other processes.
        if await self._database.fetch_one("is_render_waiting", choice) is None:
            return None
        row = await self._change_one("take_render", {**choice, "lease_seconds": lease_seconds})
        if row is None:
            return None
        return read_record(TakenRender, row, request=read_record(RenderRequest, row))

    async def keep_render(self, render_id: str, *, lease: int, lease_seconds: float) -> bool:
        """Prolong the lease; return whether the request is still the worker's."""
        values = {"render_id": render_id, "lease": lease, "lease_seconds": lease_seconds}
        return await self._database.execute("keep_render", values) > 0

    async def release_render(self, render_id: str, *, lease: int) -> None:
        """Hand a request back, so that another worker takes it now."""
        values = {"render_id": render_id, "lease": lease}
        await self._change_and_notify("release_render", values, "render_requests")

    async def finish_render(self, render_id: str, *, lease: int, outcome: RenderOutcome) -> bool:
        """Hand back what became of the page; return whether the request was still the worker's."""
        values = record_values(outcome) | {"render_id": render_id, "lease": lease}
        return await self._change_and_notify(
            "finish_render", values, "render_outcomes", payload=render_id
        )

    async def note_worker(self, worker: str, *, seconds: float) -> None:
        """Note that a worker lives and will for so long; forget whatever has had its time."""

        async def work(session: Session) -> None:
            await session.execute("note_render_worker", {"worker": worker, "seconds": seconds})
            await session.execute("forget_old_renders")
            await session.execute("forget_dead_render_workers")

        await self._database.transaction(work)

    async def forget_worker(self, worker: str) -> None:
        """Note that a worker takes no more requests."""
        await self._database.execute("forget_render_worker", {"worker": worker})

    async def count_renders(self) -> RenderCounts:
        """Return how many requests wait and are held, and how many workers live."""
        row = await self._database.fetch_one("count_renders")
        assert row is not None, "an aggregate has a row"
        return read_record(RenderCounts, row)

    async def requests(self) -> AsyncGenerator[None]:
        """Yield whenever there may be a request to take, until the iterator is closed.

        Where processes cannot notify each other it never yields: polling is up to the
        reader in any case.
        """
        async with aclosing(self._database.listen("render_requests")) as notices:
            async for _ in notices:
                yield

    async def outcomes(self) -> AsyncGenerator[str]:
        """Yield the id of each answered request, or `""` when any of them may have been answered.

        As with `requests`, looking now and then is up to the reader in any case.
        """
        async with aclosing(self._database.listen("render_outcomes")) as notices:
            async for render_id in notices:
                yield render_id

    async def _change_and_notify(
        self, statement: str, values: Values, channel: Channel, *, payload: str = ""
    ) -> bool:
        """Run a statement and notify others if it changed something; return whether it did."""

        async def work(session: Session) -> bool:
            if await session.execute(statement, values) == 0:
                return False
            await session.notify(channel, payload)
            return True

        return await self._database.transaction(work)

    async def _change_one(self, statement: str, values: Values) -> Row | None:
        return await self._database.transaction(
            lambda session: session.fetch_one(statement, values)
        )
