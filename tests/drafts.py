"""Pages to put into a store, built from their paragraphs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from citewell.core.records import (
    Chunk,
    ExtractedPage,
    FetchedPage,
    Image,
    Language,
    Link,
    PageDraft,
    Section,
)
from citewell.ingest.reading import read_page

FETCHED_AT = datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC)


def draft(
    url: str,
    *paragraphs: str,
    title: str = "",
    heading: str = "",
    project: str = "default",
    tags: tuple[str, ...] = (),
    content_type: str = "general",
    language: Language = "en",
    final_url: str | None = None,
    fetched_at: datetime = FETCHED_AT,
    etag: str | None = None,
    links: tuple[Link, ...] = (),
    images: tuple[Image, ...] = (),
) -> PageDraft:
    """Return a page of one section with one chunk per paragraph."""
    text = "\n\n".join(paragraphs)
    section = Section(
        ordinal=0,
        parent=None,
        level=1 if heading else 0,
        heading=heading,
        anchor=heading.lower() or None,
        start=0,
        end=len(text),
    )
    fetched = FetchedPage(
        url=url,
        final_url=final_url or url,
        status=200,
        kind="html",
        body=text.encode("utf-8", "surrogatepass"),
        fetched_at=fetched_at,
        etag=etag,
    )
    extracted = ExtractedPage(
        title=title,
        text=text,
        kind="html",
        language=language,
        sections=(section,),
        links=links,
        images=images,
    )
    return PageDraft(
        url=url,
        fetched=fetched,
        extracted=extracted,
        chunks=_chunks(paragraphs, title=title, section=section),
        project=project,
        tags=tags,
        content_type=content_type,
    )


def draft_of(fetched: FetchedPage, **changes: Any) -> PageDraft:
    """Return a page as ingestion reads it."""
    extracted, chunks, entities = read_page(fetched)
    page = PageDraft(
        url=fetched.url, fetched=fetched, extracted=extracted, chunks=chunks, entities=entities
    )
    return replace(page, **changes)


def _chunks(paragraphs: tuple[str, ...], *, title: str, section: Section) -> tuple[Chunk, ...]:
    chunks = []
    start = 0
    for ordinal, paragraph in enumerate(paragraphs):
        path = (section.heading,) if section.heading else ()
        chunks.append(
            Chunk(
                ordinal=ordinal,
                section=section.ordinal,
                start=start,
                end=start + len(paragraph),
                text=paragraph,
                tokens=len(paragraph.split()),
                heading_path=path,
                anchor=section.anchor,
                embedded_text=" › ".join((title, *path)) + "\n" + paragraph,
            )
        )
        start += len(paragraph) + 2
    return tuple(chunks)
