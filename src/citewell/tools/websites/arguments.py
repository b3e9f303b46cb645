"""Arguments and shapes that several `rag_*` tools share."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from citewell.core.content_fields import ContentField, load_fields
from citewell.core.errors import CitewellError, FetchError
from citewell.core.library import ContentType
from citewell.tools.tool import ToolOutput
from citewell.tools.untrusted import PageLabel, PageText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.library import Fields, Website
    from citewell.core.records import Section, StoredChunk

Status = Literal["pending", "processing", "completed", "failed", "stopped"]
SourceId = Annotated[int, Field(ge=1, description="source_id of the website.")]
ContentTypeFilter = Annotated[ContentType | None, Field(description="Only this type.")]


class FieldShape(ToolOutput):
    """A value of a field and its source; `quote` only if it differs from the value."""

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


def fetch_timestamp(website: Website) -> str | None:
    """Return when a website was fetched; None for text that a caller supplied."""
    if website.origin == "supplied" or website.fetched_at is None:
        return None
    return website.fetched_at.isoformat(timespec="seconds")


def shown_title(website: Website) -> str:
    """Return the title, or the URL if there is none yet."""
    return website.title.strip() or website.url


def headings_above(chunk: StoredChunk, sections: Sequence[Section]) -> dict[int, str]:
    """Return the headings above a chunk by level, the highest first."""
    headings: dict[int, str] = {}
    ordinal: int | None = chunk.section
    while ordinal is not None and ordinal < len(sections):
        section = sections[ordinal]
        if section.heading:
            headings[section.level] = section.heading
        ordinal = section.parent
    return dict(sorted(headings.items()))


def with_fetch_details(error: CitewellError, *, url: str) -> CitewellError:
    """Return the error of a failed fetch with the details that its contract names."""
    if isinstance(error, FetchError):
        status = error.details.pop("status", None)
        error.details.setdefault("url", url)
        error.details.setdefault("status_code", status)
        error.details.setdefault("timeout_seconds", None)
    return error


class Stopwatch:
    """Counts milliseconds from its creation."""

    def __init__(self) -> None:
        self._started = time.perf_counter()

    @property
    def ms(self) -> int:
        """Elapsed milliseconds."""
        return round((time.perf_counter() - self._started) * 1000)
