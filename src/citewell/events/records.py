"""Events: a name of a fixed list, and flat fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from citewell.core.frozen import frozen

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

SOURCE_APP = "citewell"
"""`source_app` of every event."""

EventValue = str | int | float | bool | None | Mapping[str, "EventValue"] | list["EventValue"]


@frozen
class Event:
    """Something that happened; `timestamp` is ISO 8601 in UTC."""

    name: EventName
    timestamp: str
    fields: Mapping[str, EventValue]

    def as_json(self) -> dict[str, Any]:
        """Return the event as one flat JSON object."""
        return {
            "event": self.name,
            "source_app": SOURCE_APP,
            **self.fields,
            "timestamp": self.timestamp,
        }
