"""Events as OpenTelemetry spans, for processes with a tracer provider."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

from opentelemetry import trace
from opentelemetry.trace import StatusCode

from citewell.events.records import SOURCE_APP

if TYPE_CHECKING:
    from opentelemetry.trace import TracerProvider

    from citewell.events.records import Event, EventValue

_NANOSECONDS_PER_MS = 1_000_000


class TelemetrySink:
    """One span for each event, with the duration of its work."""

    name = "OpenTelemetry"

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer("citewell", tracer_provider=provider)

    async def write(self, event: Event) -> None:
        """Start and end the span; the provider exports it."""
        ended = int(datetime.fromisoformat(event.timestamp).timestamp() * 1e9)
        took = event.fields.get("processing_time_ms")
        lasted = int(took * _NANOSECONDS_PER_MS) if isinstance(took, int | float) else 0
        attributes = {f"citewell.{key}": _attribute(value) for key, value in event.fields.items()}
        span = self._tracer.start_span(
            event.name,
            attributes={"citewell.source_app": SOURCE_APP, **attributes},
            start_time=ended - lasted,
        )
        if "error" in event.fields:
            span.set_status(StatusCode.ERROR, str(event.fields["error"]))
        span.end(end_time=ended)

    async def aclose(self) -> None:
        """Do nothing: the provider belongs to whoever set it up."""


def _attribute(value: EventValue) -> str | int | float | bool:
    if isinstance(value, str | int | float | bool):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
