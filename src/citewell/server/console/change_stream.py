"""Server-sent events that tell an open page when to look again."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from citewell.server.console.event_stream import HEARTBEAT_SECONDS, EventStream

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from citewell.server.console.event_stream import SendEvent
    from citewell.server.draining import Draining


class ChangeStream(EventStream):
    """An event now and at every change, until the page is closed or the server stops.

    A key that was revoked or has ended is noticed at a heartbeat, and the two seconds for which
    the gate remembers keys; whoever listens is told why when the page asks again.
    """

    def __init__(
        self,
        revisions: AsyncGenerator[int],
        draining: Draining,
        *,
        is_let_in: Callable[[], Awaitable[bool]],
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ) -> None:
        async def send_changes(send_event: SendEvent) -> None:
            async with aclosing(revisions):
                async for revision in revisions:
                    await send_event("changed", revision)

        super().__init__(
            send_changes, draining, is_let_in=is_let_in, heartbeat_seconds=heartbeat_seconds
        )
