"""The RenderStore on PostgreSQL."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from citewell.core.renders import RenderCounts, RenderOutcome, RenderRequest, TakenRender
from citewell.store.postgres.connection import SQL
from citewell.store.render_protocol import MOST_LEASES

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from psycopg import AsyncConnection

    from citewell.core.renders import RenderState
    from citewell.store.postgres.connection import Database

    Session = AsyncConnection[dict[str, Any]]


class PostgresRenders:
    """Requests to render in one PostgreSQL database; RenderStore says what each method promises."""

    poll_seconds = 1.0

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_render(self, request: RenderRequest, *, wait_seconds: float) -> None:
        """Ask for a page; after `wait_seconds` the request and its outcome are forgotten."""
        values = {
            "render_id": request.render_id,
            "url": request.url,
            "is_urgent": request.is_urgent,
            "wait_seconds": wait_seconds,
        }
        await self._change("add_render", values, telling="tell_of_render_request")

    async def render_state(self, render_id: str) -> RenderState:
        """Return how a request stands; `gone` when there is none, or its time is over."""
        values = {"render_id": render_id, "most_leases": MOST_LEASES}
        rows = await self._database.query("render_state", values)
        return cast("RenderState", rows[0]["state"]) if rows else "gone"

    async def collect_render(self, render_id: str) -> RenderOutcome | None:
        """Return what a worker handed back, once: it is removed. None when there is nothing."""
        row = await self._change_one("collect_render", {"render_id": render_id})
        return None if row is None else RenderOutcome(account=row["account"], html=row["html"])

    async def withdraw_render(self, render_id: str) -> None:
        """Forget a request; its worker notices when it renews its lease."""
        await self._database.change("withdraw_render", {"render_id": render_id})

    async def take_render(
        self, *, lease_seconds: float, urgent_only: bool = False
    ) -> TakenRender | None:
        """Take the oldest request that waits, of those that are urgent if there are any."""
        values = {
            "lease_seconds": lease_seconds,
            "urgent_only": urgent_only,
            "most_leases": MOST_LEASES,
        }
        row = await self._change_one("take_render", values)
        if row is None:
            return None
        return TakenRender(
            request=RenderRequest(
                render_id=row["render_id"], url=row["url"], is_urgent=row["is_urgent"]
            ),
            lease=row["lease"],
            seconds_left=row["seconds_left"],
        )

    async def keep_render(self, render_id: str, *, lease: int, lease_seconds: float) -> bool:
        """Prolong the lease; return whether the request is still the worker's."""
        values = {"render_id": render_id, "lease": lease, "lease_seconds": lease_seconds}
        return await self._database.change("keep_render", values) > 0

    async def release_render(self, render_id: str, *, lease: int) -> None:
        """Hand a request back, so that another worker takes it now."""
        values = {"render_id": render_id, "lease": lease}
        await self._change("release_render", values, telling="tell_of_render_request")

    async def finish_render(self, render_id: str, *, lease: int, outcome: RenderOutcome) -> bool:
        """Hand back what became of the page; return whether the request was still the worker's."""
        values = {
            "render_id": render_id,
            "lease": lease,
            "account": outcome.account,
            "html": outcome.html,
        }
        return await self._change("finish_render", values, telling="tell_of_render_outcome")

    async def note_worker(self, worker: str, *, seconds: float) -> None:
        """Note that a worker lives and will for so long; forget whatever has had its time."""

        async def work(connection: Session) -> None:
            values = {"worker": worker, "seconds": seconds}
            await connection.execute(SQL["note_render_worker"], values)
            await connection.execute(SQL["forget_old_renders"])
            await connection.execute(SQL["forget_dead_render_workers"])

        await self._database.write(work)

    async def forget_worker(self, worker: str) -> None:
        """Note that a worker takes no more requests."""
        await self._database.change("forget_render_worker", {"worker": worker})

    async def count_renders(self) -> RenderCounts:
        """Return how many requests wait and are held, and how many workers live."""
        row = (await self._database.query("count_renders"))[0]
        return RenderCounts(waiting=row["waiting"], held=row["held"], workers=row["workers"])

    async def requests(self) -> AsyncGenerator[None]:
        """Yield whenever there may be a request to take, for as long as it is read."""
        async with aclosing(self._database.listen("listen_for_render_requests")) as told:
            async for _ in told:
                yield

    async def outcomes(self) -> AsyncGenerator[str]:
        """Yield the id of each request that was answered, or nothing for any of them."""
        async with aclosing(self._database.listen("listen_for_render_outcomes")) as told:
            async for render_id in told:
                yield render_id

    async def _change(self, statement: str, values: Mapping[str, object], *, telling: str) -> bool:
        """Run a statement and tell the others if it changed something; return whether it did."""

        async def work(connection: Session) -> bool:
            if (await connection.execute(SQL[statement], values)).rowcount == 0:
                return False
            await connection.execute(SQL[telling], values)
            return True

        return await self._database.write(work)

    async def _change_one(
        self, statement: str, values: Mapping[str, object]
    ) -> dict[str, Any] | None:
        async def work(connection: Session) -> dict[str, Any] | None:
            return await (await connection.execute(SQL[statement], values)).fetchone()

        return await self._database.write(work)
