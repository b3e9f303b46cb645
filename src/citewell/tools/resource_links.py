"""Resources as clients see them, and links to the passages that a result names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.app.scratch import URI_SCHEME, parse_scratch_uri
from citewell.core.boundary import SUPPLIED, Boundary, label, path_label
from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from citewell.app.scratch import Passage
    from citewell.core.records import PageOrigin
    from citewell.tools.tool import Call

MAX_LINKS = 10


@frozen
class ResourceTemplate:
    """A kind of resource and the template of its URIs."""

    name: str
    title: str
    uri_template: str
    description: str
    mime_type: str
    priority: float


@frozen
class Resource:
    """A resource as it is listed, before it is read."""

    uri: str
    name: str
    description: str
    template: ResourceTemplate
    last_modified: datetime
    size_bytes: int | None = None
    """None for a page, whose text is not loaded for the list."""


PASSAGES = ResourceTemplate(
    name="passage",
    title="A passage that was found",
    uri_template=f"{URI_SCHEME}{{session}}/{{passage}}",
    description="The text of a passage that a kb tool found in this session, by its URI.",
    mime_type="text/plain",
    priority=0.1,
)


def find_links(structured: dict[str, Any], call: Call) -> list[Resource]:
    """Return the caller's passages that a tool's result names, in its order, each once."""
    passages: dict[str, Passage] = {}
    for uri in _scratch_uris(structured):
        names = parse_scratch_uri(uri)
        passage = call.parts.scratch.read(call.caller, *names) if names else None
        if passage is not None:
            passages.setdefault(uri, passage)
    return [_passage_resource(passage) for passage in list(passages.values())[:MAX_LINKS]]


def describe_resource(resource: Resource) -> dict[str, Any]:
    """Return the JSON that a listed resource and a link to it share."""
    described = {
        "uri": resource.uri,
        "name": resource.name,
        "description": resource.description,
        "mimeType": resource.template.mime_type,
        "annotations": {
            "audience": ["assistant"],
            "priority": resource.template.priority,
            "lastModified": resource.last_modified.isoformat(timespec="seconds"),
        },
    }
    return described if resource.size_bytes is None else {**described, "size": resource.size_bytes}


def describe_page(title: str, url: str) -> str:
    """Return a page's title and URL inside the boundary, since hosts show them to models."""
    return Boundary().quote(f"{label(title) or 'Untitled'} — {url}")


def note_supplied(origin: PageOrigin) -> str:
    """Return the suffix of descriptions of text that a caller supplied."""
    return f", {SUPPLIED}" if origin == "supplied" else ""


def _scratch_uris(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if value.startswith(URI_SCHEME):
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _scratch_uris(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scratch_uris(item)


def _passage_resource(passage: Passage) -> Resource:
    place = passage.place
    heading = path_label(place.heading_path)
    title = " › ".join(part for part in (label(place.title), heading) if part)
    return Resource(
        uri=passage.uri,
        name=f"passage {passage.passage_id}",
        description=describe_page(title, place.url) + note_supplied(place.origin),
        template=PASSAGES,
        last_modified=passage.created_at,
        size_bytes=passage.size_bytes,
    )
