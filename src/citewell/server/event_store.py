"""Events of open sessions, kept so that a client that lost its connection can resume a stream."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from typing import TYPE_CHECKING

from mcp.server.streamable_http import EventMessage, EventStore
from typing_extensions import override

if TYPE_CHECKING:
    from mcp.server.streamable_http import EventCallback
    from mcp_types import JSONRPCMessage

MAX_BYTES = 16_000_000
"""Of all kept events; what is older cannot be resumed."""
RETRY_MILLISECONDS = 1_000
"""How long a client is asked to wait before it connects again."""

# What an event costs beside its message.
_ENTRY_BYTES = 300


class MemoryEventStore(EventStore):
    """The latest events of all streams of this process, the oldest dropped first.

    Ids are random: whoever knows one has received that event, so no client can resume the stream
    of another.
    """

    def __init__(self, *, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._events: OrderedDict[str, tuple[str, JSONRPCMessage | None, int]] = OrderedDict()

    @override
    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep an event, which is None where a stream begins, and return its id."""
        size = _ENTRY_BYTES + (0 if message is None else len(message.model_dump_json()))
        event_id = secrets.token_hex(16)
        self._events[event_id] = (stream_id, message, size)
        self._bytes += size
        while self._bytes > self._max_bytes:
            _, (_, _, dropped) = self._events.popitem(last=False)
            self._bytes -= dropped
        return event_id

    @override
    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        """Send what followed an event on its stream; return the stream, None if it is unknown."""
        known = self._events.get(last_event_id)
        if known is None:
            return None
        stream_id = known[0]
        is_later = False
        for event_id, (stream, message, _) in list(self._events.items()):
            if is_later and stream == stream_id and message is not None:
                await send_callback(EventMessage(message, event_id))
            is_later = is_later or event_id == last_event_id
        return stream_id
