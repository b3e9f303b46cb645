"""Events of open sessions, kept so that a client that lost its connection can resume a stream."""

from __future__ import annotations

import itertools
import secrets
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

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


class KeptEvents:
    """The latest events of all sessions of this process, the oldest dropped first."""

    def __init__(self, *, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._events: OrderedDict[str, _Event] = OrderedDict()

    def of_new_session(self) -> SessionEvents:
        """Return the events of one session, none yet; no other session can resume from them."""
        return SessionEvents(self)

    def add(self, event: _Event) -> str:
        """Keep an event and return its id, which cannot be guessed."""
        event_id = secrets.token_hex(16)
        self._events[event_id] = event
        self._bytes += event.size
        while self._bytes > self._max_bytes:
            _, dropped = self._events.popitem(last=False)
            self._bytes -= dropped.size
        return event_id

    def after(self, event_id: str, session: SessionEvents) -> tuple[str, list[EventMessage]] | None:
        """Return the stream of a session's event and what followed there; None if unknown."""
        last = self._events.get(event_id)
        if last is None or last.session is not session:
            return None
        later = itertools.dropwhile(lambda item: item[0] != event_id, self._events.items())
        # Streams are named by their session, by the ids of its requests for one.
        return last.stream, [
            EventMessage(event.message, kept_id)
            for kept_id, event in itertools.islice(later, 1, None)
            if event.session is session and event.stream == last.stream and event.message
        ]


class SessionEvents(EventStore):
    """The events of one session."""

    def __init__(self, kept: KeptEvents) -> None:
        self._kept = kept

    @override
    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep an event, which is None where a stream begins, and return its id."""
        size = _ENTRY_BYTES + (0 if message is None else len(message.model_dump_json()))
        return self._kept.add(_Event(self, stream_id, message, size))

    @override
    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        """Send what followed an event on its stream; return the stream, None if it is unknown."""
        found = self._kept.after(last_event_id, self)
        if found is None:
            return None
        stream, events = found
        for event in events:
            await send_callback(event)
        return stream


class _Event(NamedTuple):
    session: SessionEvents
    stream: str
    message: JSONRPCMessage | None
    size: int
