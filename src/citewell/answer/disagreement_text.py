"""The part of a brief that shows two statements side by side which do not agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.boundary import label, neutralise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from citewell.core.boundary import Boundary
    from citewell.core.results import Disagreement

_CAUTION = "Sources give different values for the same thing. Say so; do not pick one silently."


def format_disagreements(
    disagreements: Sequence[Disagreement], numbers: Mapping[int, int], boundary: Boundary
) -> str:
    """Return both quotes of each disagreement, and which is newer or more specific."""
    if not disagreements:
        return ""
    parts = [_format(each, numbers, boundary) for each in disagreements]
    return "\n\n".join([f"[DISAGREEMENT]\n{_CAUTION}\n{parts[0]}", *parts[1:]])


def _format(found: Disagreement, numbers: Mapping[int, int], boundary: Boundary) -> str:
    lines = [f"Values: {boundary.quote(' / '.join(found.values))}"]
    for place, quote in enumerate(found.quotes):
        marks = []
        if found.newer == place:
            marks.append(f"newer by {found.newer_by}")
        if found.more_specific == place:
            marks.append("more specific")
        marks.append(f"id {quote.citation_id}")
        heading = label(quote.heading_path[-1]) if quote.heading_path else ""
        version = label(quote.release.label) if quote.release.product else ""
        where = " ".join(part for part in (version, heading, neutralise(quote.link)) if part)
        section = f"§ {where}\n" if where else ""
        lines.append(f"Source [{numbers[quote.source_id]}] ({', '.join(marks)}):")
        lines.append(boundary.around(section + neutralise(quote.text)))
    return "\n".join(lines)
