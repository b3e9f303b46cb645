"""Send events to sinks in the background, so that emitting neither waits nor fails.

Each sink has a queue and a task, so a sink that hangs does not block the others. A full queue
drops further events and counts them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

import anyio

from citewell.core.redaction import redact
from citewell.events.records import Event

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from citewell.events.records import EventName, EventValue

logger = logging.getLogger(__name__)

QUEUE_EVENTS = 1_000
_WRITE_SECONDS = 10.0
# How long queued events can take to be written when the program stops.
_CLOSING_SECONDS = 1.0
_LOGGED_EVERY = 100


class Sink(Protocol):
    """Somewhere that events go; raising anything only loses the event."""

    @property
    def name(self) -> str:
        """What the log calls it."""

    async def write(self, event: Event) -> None:
        """Pass the event on."""

    async def aclose(self) -> None:
        """Free what the sink holds."""


class Events:
    """Emits events; `emit` returns immediately, whatever the sinks do."""

    def __init__(self, queues: Sequence[_Queue]) -> None:
        self._queues = queues

    @property
    def dropped(self) -> int:
        """How many events did not reach a sink, over all sinks."""
        return sum(queue.dropped for queue in self._queues)

    def emit(self, name: EventName, **fields: EventValue) -> None:
        """Queue an event for every sink that has room; fields that are None are left out.

        Secrets in URLs and messages are redacted, as in the log.
        """
        if not self._queues:
            return
        event = Event(
            name=name,
            timestamp=datetime.now(UTC).isoformat(timespec="milliseconds"),
            fields={key: _redact(value) for key, value in fields.items() if value is not None},
        )
        for queue in self._queues:
            queue.put(event)


@asynccontextmanager
async def running_events(
    sinks: Sequence[Sink],
    *,
    queue_events: int = QUEUE_EVENTS,
    closing_seconds: float = _CLOSING_SECONDS,
) -> AsyncIterator[Events]:
    """Give the emitter of `sinks`; on leaving, queued events have `closing_seconds` left."""
    queues = [_Queue(sink, size=queue_events) for sink in sinks]
    async with anyio.create_task_group() as tasks:
        for queue in queues:
            tasks.start_soon(queue.run)
        try:
            yield Events(queues)
        finally:
            for queue in queues:
                queue.end()
            tasks.cancel_scope.deadline = anyio.current_time() + closing_seconds
    with anyio.CancelScope(shield=True), anyio.move_on_after(closing_seconds):
        for sink in sinks:
            await sink.aclose()


class _Queue:
    """The events that wait for one sink."""

    def __init__(self, sink: Sink, *, size: int) -> None:
        self._sink = sink
        self.dropped = 0
        streams = anyio.create_memory_object_stream[Event](size)
        self._into: MemoryObjectSendStream[Event] = streams[0]
        self._out: MemoryObjectReceiveStream[Event] = streams[1]

    def put(self, event: Event) -> None:
        try:
            self._into.send_nowait(event)
        except (anyio.WouldBlock, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._lose("its queue is full")

    def end(self) -> None:
        """Accept no more events; queued ones are still written."""
        self._into.close()

    async def run(self) -> None:
        with self._out:
            async for event in self._out:
                await self._write(event)

    async def _write(self, event: Event) -> None:
        try:
            with anyio.fail_after(_WRITE_SECONDS):
                await self._sink.write(event)
        except Exception as error:  # noqa: BLE001 - a sink can fail in any way; only its event is lost
            self._lose(f"{type(error).__name__}: {error}")

    def _lose(self, why: str) -> None:
        self.dropped += 1
        # A sink that is down must not fill the log with one line per event.
        if self.dropped % _LOGGED_EVERY == 1:
            logger.warning(
                "events for %s are lost, %d so far (%s)", self._sink.name, self.dropped, why
            )


def _redact(value: EventValue) -> EventValue:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redact(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _redact(item) for name, item in value.items()}
    return value
