"""Arguments and shapes that several `rag_*` tools share."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from citewell.core.content_fields import ContentField, load_fields
from citewell.core.errors import CitewellError, FetchError, NotFound
from citewell.core.library import ContentType
from citewell.tools.tool import ToolOutput
from citewell.tools.untrusted import PageLabel, PageText

if TYPE_CHECKING:
    from datetime import datetime

    from citewell.core.library import Fields, Website

Status = Literal["pending", "processing", "completed", "failed"]
SourceId = Annotated[int, Field(ge=1, description="source_id of the website.")]
ContentTypeFilter = Annotated[ContentType | None, Field(description="Only this type.")]


class FieldShape(ToolOutput):
    """A value of a field and where it was read; `quote` only where it differs from the value."""

    value: PageText
    quote: PageText | None = None
    start: int | None = None
    end: int | None = None
    path: PageLabel | None = None


def shape_fields(fields: Fields) -> dict[str, list[FieldShape]] | None:
    """Return the fields by name; None when there are none."""
    shaped: dict[str, list[FieldShape]] = {}
    for field in load_fields(fields):
        shaped.setdefault(field.name, []).append(_shape(field))
    return shaped or None


def _shape(field: ContentField) -> FieldShape:
    return FieldShape(
        value=field.value,
        quote=None if field.quote == field.value else field.quote,
        start=field.start,
        end=field.end,
        path=field.path if field.start is None else None,
    )


def iso(moment: datetime | None) -> str | None:
    """Return a moment as ISO 8601, to the second."""
    return None if moment is None else moment.isoformat(timespec="seconds")


def fetch_timestamp(website: Website) -> str | None:
    """Return when a website was fetched; None for text that a caller supplied."""
    return None if website.origin == "supplied" else iso(website.fetched_at)


def shown_title(website: Website) -> str:
    """Return the title; the URL where there is none yet."""
    return website.title.strip() or website.url


def not_found(source_id: int) -> NotFound:
    """Return the error for an id that no website has."""
    return NotFound(
        f"There is no website with source_id {source_id}.",
        suggestion="Call rag_list_websites to see the ids.",
        source_id=source_id,
    )


def with_fetch_details(error: CitewellError, *, url: str) -> CitewellError:
    """Return the error with the details that seed B promises of a fetch that failed."""
    if isinstance(error, FetchError):
        status = error.details.pop("status", None)
        error.details.setdefault("url", url)
        error.details.setdefault("status_code", status)
        error.details.setdefault("timeout_seconds", None)
    return error


class Stopwatch:
    """Milliseconds since it was made."""

    def __init__(self) -> None:
        self._started = time.perf_counter()

    @property
    def ms(self) -> int:
        """Whole milliseconds so far."""
        return round((time.perf_counter() - self._started) * 1000)
