"""Convert pages and websites to the plain records of an archive, and back."""

from __future__ import annotations

import base64
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from citewell.core.library import CrawlOptions, WebsiteDraft
from citewell.core.records import (
    Chunk,
    ExtractedPage,
    FetchedPage,
    Image,
    Link,
    PageDraft,
    PageOrigin,
    Section,
)
from citewell.core.screen import pack_screen, unpack_screen
from citewell.ingest.entities import find_entities

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from citewell.core.library import Member, Website
    from citewell.core.records import Page, StoredChunk

    Vector = npt.NDArray[np.float32]

_SINCE_2 = ("canonical_url", "description", "structured_data")


def page_to_record(
    page: Page,
    chunks: Sequence[StoredChunk],
    *,
    embedded_texts: Mapping[int, str],
    vectors: Mapping[int, Vector],
    model: str | None,
) -> dict[str, Any]:
    """Return a page with everything that belongs to it."""
    info = page.info
    return {
        "url": info.url,
        "final_url": info.final_url,
        "title": info.title,
        "kind": info.kind,
        "language": info.language,
        "content_type": info.content_type,
        "tags": list(info.tags),
        "text_hash": info.text_hash,
        "fetched_at": info.fetched_at.isoformat(),
        "etag": info.etag,
        "last_modified": info.last_modified,
        "published_at": info.published_at,
        "modified_at": info.modified_at,
        "origin": info.origin,
        "supplied_by": info.supplied_by,
        "incomplete": info.incomplete,
        "extractor": info.extractor,
        "canonical_url": page.canonical_url,
        "description": page.description,
        "structured_data": page.structured_data,
        "text": page.text,
        "screen": unpack_screen(page.screen),
        "sections": [asdict(section) for section in page.sections],
        "links": [asdict(link) for link in page.links],
        "images": [asdict(image) for image in page.images],
        "model": model,
        "chunks": [
            {
                "section": chunk.section,
                "start": chunk.start,
                "end": chunk.end,
                "tokens": chunk.tokens,
                "heading_path": list(chunk.heading_path),
                "anchor": chunk.anchor,
                "embedded_text": embedded_texts[chunk.chunk_id],
                "has_code": chunk.has_code,
                "vector": _vector_to_text(vectors.get(chunk.chunk_id)),
            }
            for chunk in chunks
        ],
    }


def page_from_record(record: dict[str, Any], *, project: str) -> PageDraft:
    """Return the page to store; its entities are extracted from its text again."""
    text = record["text"]
    # A file of version 1 lacks these.
    since_2 = {name: record[name] for name in _SINCE_2 if name in record}
    extracted = ExtractedPage(
        title=record["title"],
        text=text,
        kind=record["kind"],
        language=record["language"],
        sections=tuple(Section(**section) for section in record["sections"]),
        links=tuple(Link(**link) for link in record["links"]),
        images=tuple(Image(**image) for image in record["images"]),
        published_at=record["published_at"],
        modified_at=record["modified_at"],
        screen=pack_screen(record.get("screen", "")),
        **since_2,
    )
    fetched = FetchedPage(
        url=record["url"],
        final_url=record["final_url"],
        status=200,
        kind=record["kind"],
        body=b"",
        fetched_at=datetime.fromisoformat(record["fetched_at"]),
        etag=record["etag"],
        last_modified=record["last_modified"],
        origin=origin_of(record),
        supplied_by=record.get("supplied_by", ""),
        incomplete=record.get("incomplete", ""),
    )
    return PageDraft(
        url=record["url"],
        fetched=fetched,
        extracted=extracted,
        chunks=tuple(
            _chunk_from_record(each, text, ordinal) for ordinal, each in enumerate(record["chunks"])
        ),
        project=project,
        tags=tuple(record["tags"]),
        content_type=record["content_type"],
        entities=find_entities(extracted),
        extractor=record.get("extractor", 0),
    )


def origin_of(record: dict[str, Any]) -> PageOrigin:
    """Return where the text of a page came from; a file before version 3 does not say."""
    if "origin" not in record:
        return "file" if record["url"].startswith("file:") else "fetched"
    origin: PageOrigin = record["origin"]
    if origin not in get_args(PageOrigin):
        raise ValueError(f"a page cannot have the origin {origin!r}")
    return origin


def vectors_from_record(record: dict[str, Any]) -> dict[int, Vector]:
    """Return the vectors of a page's chunks, by the chunk's ordinal."""
    return {
        ordinal: np.frombuffer(base64.b64decode(each["vector"]), dtype="<f2").astype(np.float32)
        for ordinal, each in enumerate(record["chunks"])
        if each["vector"]
    }


def website_to_record(website: Website, members: Sequence[Member]) -> dict[str, Any]:
    """Return an entry with the URLs of its pages."""
    return {
        "url": website.url,
        "kind": website.kind,
        "content_type": website.content_type,
        "status": website.status,
        "error_message": website.error_message,
        "title": website.title,
        "tags": list(website.tags),
        "options": asdict(website.options),
        "refresh_seconds": website.refresh_seconds,
        "members": [{"url": member.url, "fields": dict(member.fields)} for member in members],
    }


def website_from_record(record: dict[str, Any], *, project: str) -> WebsiteDraft:
    """Return the entry to add."""
    options = dict(record["options"])
    for name in ("include", "exclude"):
        options[name] = tuple(options[name])
    return WebsiteDraft(
        url=record["url"],
        project=project,
        kind=record["kind"],
        content_type=record["content_type"],
        tags=tuple(record["tags"]),
        options=CrawlOptions(**options),
        refresh_seconds=record["refresh_seconds"],
    )


def _chunk_from_record(record: dict[str, Any], text: str, ordinal: int) -> Chunk:
    return Chunk(
        ordinal=ordinal,
        section=record["section"],
        start=record["start"],
        end=record["end"],
        text=text[record["start"] : record["end"]],
        tokens=record["tokens"],
        heading_path=tuple(record["heading_path"]),
        anchor=record["anchor"],
        embedded_text=record["embedded_text"],
        has_code=record["has_code"],
    )


def _vector_to_text(vector: Vector | None) -> str | None:
    # The store keeps half precision, so nothing is lost.
    return None if vector is None else base64.b64encode(vector.astype("<f2").tobytes()).decode()
