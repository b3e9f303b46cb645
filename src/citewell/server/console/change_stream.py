"""Server-sent events that prompt an open page to reload its list."""

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

    A revoked or expired key is noticed at the first heartbeat after the two seconds for which the
    gate remembers keys; the page gets the reason with its next request.
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
