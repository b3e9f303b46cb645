"""The [EVIDENCE] section when nothing supports the question: what was checked, what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.boundary import NOTE_PLACE, label, neutralise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.boundary import Boundary
    from citewell.core.results import OrchestrationResult

_NEAREST = "The nearest text, which may be about something else"
NEAREST_ONLY = (
    "Nothing found clearly answers this; the quotes are the nearest text and may be about "
    "something else."
)


def format_nothing_found(
    result: OrchestrationResult, boundary: Boundary, *, nearest: Sequence[str] = ()
) -> str:
    """Return a plain statement that there is no evidence, with the pages and links to go by.

    `nearest` are quotes that come near an answer; they stand in for the pages checked.
    """
    is_search = result.stop_reason == "search does not follow links"
    where = "the indexed pages" if is_search else "the specified URL"
    lines = ["[EVIDENCE]", f"No relevant content was found for this query in {where}."]
    if nearest:
        lines = ["[EVIDENCE]", f"Nothing in {where} clearly answers this query."]
    lines += result.cautions
    if nearest:
        lines += [f"{_NEAREST}:", ""]
        lines.append("\n\n".join(nearest))
    else:
        lines.append(NOTE_PLACE)
    if result.index_url is not None:
        arguments = f'{{"url": "{neutralise(result.index_url)}", "whole_site": true}}'
        lines += [
            "",
            "This looks like an index. Index the site by ingest with these arguments, then call "
            f"search: {boundary.around(arguments)}",
        ]
    if result.checked and not nearest:
        lines += ["", "Pages checked:"]
        pages = [f"- {label(page.title) or 'Untitled'} — {page.url}" for page in result.checked]
        lines.append(boundary.around("\n".join(pages)))
    if result.open_links:
        lines += ["", "Links not followed that may hold it (call answer with one of these):"]
        links = [f"- {label(link.text) or 'Link'} — {link.url}" for link in result.open_links]
        lines.append(boundary.around("\n".join(links)))
    return "\n".join(lines)
