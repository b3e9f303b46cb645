"""The answer to a call over stdio that need not wait for the SDK."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from citewell.core.records import Caller
    from citewell.server.call_messages import PlainCall
    from citewell.server.plain_calls import PlainCalls
    from citewell.server.stdio_channel import LineChannel

logger = logging.getLogger(__name__)


class EarlyAnswer:
    """Runs one call; its client can cancel it, as any other call."""

    def __init__(self, calls: PlainCalls, call: PlainCall, caller: Caller, *, modern: bool) -> None:
        self._calls = calls
        self._call = call
        self._caller = caller
        self._modern = modern
        self._scope = anyio.CancelScope()
        self.is_over = anyio.Event()

    async def give(self, channel: LineChannel) -> None:
        """Run the call and write its answer; a cancelled call gets none."""
        try:
            with self._scope:
                answer = await self._calls.answer(self._call, self._caller, modern=self._modern)
                await anyio.to_thread.run_sync(channel.write_line, answer)
        except OSError as error:
            # The reader of the client's lines notices their end and stops the server.
            logger.debug("no client for an answer: %s", error)
        finally:
            self.is_over.set()

    def cancel_by(self, message: dict[str, Any]) -> None:
        """End the call if a message of the client cancels it."""
        is_cancellation = message.get("method") == "notifications/cancelled"
        if is_cancellation and message.get("params", {}).get("requestId") == self._call.request_id:
            self._scope.cancel()
