"""What an event is: a name of the list below and flat fields, as seed B prescribes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

EventName = Literal[
    "WebsiteProcessingStart",
    "WebsiteProcessingComplete",
    "WebsiteProcessingFailed",
    "WebsiteRefreshStart",
    "WebsiteRefreshComplete",
    "WebsiteRefreshFailed",
    "WebsiteDeleted",
    "SemanticQueryStart",
    "SemanticQueryComplete",
    "SemanticQueryFailed",
    "CitationsChanged",
]

EventValue = str | int | float | bool | None | Mapping[str, "EventValue"] | list["EventValue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened; `timestamp` is ISO 8601 in UTC."""

    name: EventName
    source_app: str
    timestamp: str
    fields: Mapping[str, EventValue]

    def as_json(self) -> dict[str, Any]:
        """Return the event as one flat JSON object."""
        return {
            "event": self.name,
            "source_app": self.source_app,
            **self.fields,
            "timestamp": self.timestamp,
        }
