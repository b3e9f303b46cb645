"""The RenderStore on SQLite."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

import anyio

from citewell.core.renders import RenderCounts, RenderOutcome, RenderRequest, TakenRender
from citewell.store.render_protocol import MOST_LEASES
from citewell.store.sqlite.connection import SQL

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncGenerator, Mapping

    from citewell.core.renders import RenderState
    from citewell.store.sqlite.connection import Database


class SqliteRenders:
    """Requests to render in one SQLite database; RenderStore says what each method promises."""

    poll_seconds = 0.1

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
        await self._change("add_render", values)

    async def render_state(self, render_id: str) -> RenderState:
        """Return how a request stands; `gone` when there is none, or its time is over."""
        row = await self._row("render_state", {"render_id": render_id})
        return "gone" if row is None else cast("RenderState", row["state"])

    async def collect_render(self, render_id: str) -> RenderOutcome | None:
        """Return what a worker handed back, once: it is removed. None when there is nothing."""
        values = {"render_id": render_id}
        row = await self._database.write(
            lambda connection: connection.execute(SQL["collect_render"], values).fetchone()
        )
        return None if row is None else RenderOutcome(account=row["account"], html=row["html"])

    async def withdraw_render(self, render_id: str) -> None:
        """Forget a request; its worker notices when it renews its lease."""
        await self._change("withdraw_render", {"render_id": render_id})

    async def take_render(
        self, *, lease_seconds: float, urgent_only: bool = False
    ) -> TakenRender | None:
        """Take the oldest request that waits, of those that are urgent if there are any."""
        values = _now() | {"lease_seconds": lease_seconds, "urgent_only": urgent_only}
        # Looking takes no lock; taking does, and would disturb every other process.
        if await self._row("render_to_take", values) is None:
            return None
        return await self._database.write(lambda connection: _take(connection, values))

    async def keep_render(self, render_id: str, *, lease: int, lease_seconds: float) -> bool:
        """Prolong the lease; return whether the request is still the worker's."""
        values = {"render_id": render_id, "lease": lease, "lease_seconds": lease_seconds}
        return await self._change("keep_render", values)

    async def release_render(self, render_id: str, *, lease: int) -> None:
        """Hand a request back, so that another worker takes it now."""
        await self._change("release_render", {"render_id": render_id, "lease": lease})

    async def finish_render(self, render_id: str, *, lease: int, outcome: RenderOutcome) -> bool:
        """Hand back what became of the page; return whether the request was still the worker's."""
        values = {
            "render_id": render_id,
            "lease": lease,
            "account": outcome.account,
            "html": outcome.html,
        }
        return await self._change("finish_render", values)

    async def note_worker(self, worker: str, *, seconds: float) -> None:
        """Note that a worker lives and will for so long; forget whatever has had its time."""
        values = _now() | {"worker": worker, "seconds": seconds}

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(SQL["note_render_worker"], values)
            connection.execute(SQL["forget_old_renders"], values)
            connection.execute(SQL["forget_dead_render_workers"], values)

        await self._database.write(work)

    async def forget_worker(self, worker: str) -> None:
        """Note that a worker takes no more requests."""
        await self._change("forget_render_worker", {"worker": worker})

    async def count_renders(self) -> RenderCounts:
        """Return how many requests wait and are held, and how many workers live."""
        row = await self._row("count_renders", {})
        assert row is not None, "a count has a row"
        return RenderCounts(waiting=row["waiting"], held=row["held"], workers=row["workers"])

    async def requests(self) -> AsyncGenerator[None]:
        """Never yield: SQLite has no way to tell another process."""
        await anyio.sleep_forever()
        yield

    async def outcomes(self) -> AsyncGenerator[str]:
        """Never yield: SQLite has no way to tell another process."""
        await anyio.sleep_forever()
        yield ""

    async def _row(self, statement: str, values: Mapping[str, object]) -> sqlite3.Row | None:
        bound = {**_now(), **values}
        row: sqlite3.Row | None = await self._database.read(
            lambda connection: connection.execute(SQL[statement], bound).fetchone()
        )
        return row

    async def _change(self, statement: str, values: Mapping[str, object]) -> bool:
        bound = {**_now(), **values}
        return await self._database.write(
            lambda connection: connection.execute(SQL[statement], bound).rowcount > 0
        )


def _now() -> dict[str, object]:
    """Return what nearly every statement compares with."""
    return {"now": time.time(), "most_leases": MOST_LEASES}


def _take(connection: sqlite3.Connection, values: Mapping[str, object]) -> TakenRender | None:
    chosen = connection.execute(SQL["render_to_take"], values).fetchone()
    if chosen is None:
        return None
    bound = {**values, "render_id": chosen["render_id"]}
    row = connection.execute(SQL["take_render"], bound).fetchone()
    return TakenRender(
        request=RenderRequest(
            render_id=row["render_id"], url=row["url"], is_urgent=bool(row["is_urgent"])
        ),
        lease=row["lease"],
        seconds_left=row["seconds_left"],
    )
