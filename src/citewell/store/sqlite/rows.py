"""Rows of the database as records."""

from __future__ import annotations

import json
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from citewell.core.records import Image, Link, PageInfo, Section, StoredChunk

if TYPE_CHECKING:
    import sqlite3


def page_info(row: sqlite3.Row) -> PageInfo:
    """Return the page that a row of `page_info` or `list_pages` holds."""
    return PageInfo(
        source_id=row["source_id"],
        url=row["url"],
        final_url=row["final_url"],
        title=row["title"],
        kind=row["kind"],
        language=row["language"],
        content_type=row["content_type"],
        project=row["project"],
        tags=_texts(row["tags"]),
        text_hash=row["text_hash"],
        chunks=row["chunks"],
        tokens=row["tokens"],
        embedded_chunks=row["embedded_chunks"],
        fetched_at=datetime.fromisoformat(row["fetched_at"]),
        etag=row["etag"],
        last_modified=row["last_modified"],
        published_at=row["published_at"],
        modified_at=row["modified_at"],
        origin=row["origin"],
        extractor=row["extractor"],
    )


def stored_chunk(row: sqlite3.Row) -> StoredChunk:
    """Return the chunk that a row of `load_chunks` or `chunks_of_page` holds.

    By place: a search reads sixty of them, and to look each column up by name takes twice as long.
    """
    (
        chunk_id, source_id, ordinal, section, heading_path, anchor, start, end, text, tokens,
        has_code, url, title, page_hash, fetched_at, language, kind, content_type, page_chunks,
        tags, origin, words,
    ) = row  # fmt: skip
    return StoredChunk(
        chunk_id=chunk_id,
        source_id=source_id,
        url=url,
        title=title,
        page_hash=page_hash,
        fetched_at=_moment(fetched_at),
        language=language,
        kind=kind,
        content_type=content_type,
        ordinal=ordinal,
        section=section,
        heading_path=_texts(heading_path),
        anchor=anchor,
        start=start,
        end=end,
        text=text,
        tokens=tokens,
        has_code=bool(has_code),
        page_chunks=page_chunks,
        tags=_texts(tags),
        origin=origin,
        words=words,
    )


def section(row: sqlite3.Row) -> Section:
    """Return the section that a row of `page_sections` holds."""
    return Section(
        ordinal=row["ordinal"],
        parent=row["parent"],
        level=row["level"],
        heading=row["heading"],
        anchor=row["anchor"],
        start=row["start_offset"],
        end=row["end_offset"],
    )


def link(row: sqlite3.Row) -> Link:
    """Return the link that a row of `page_links` holds."""
    return Link(
        url=row["url"],
        text=row["text"],
        context=row["context"],
        section=row["section"],
        start=row["start_offset"],
        kind=row["kind"],
    )


def image(row: sqlite3.Row) -> Image:
    """Return the image that a row of `page_images` holds."""
    return Image(
        url=row["url"],
        alt=row["alt"],
        caption=row["caption"],
        section=row["section"],
        start=row["start_offset"],
    )


@lru_cache(maxsize=4096)
def _texts(json_list: str) -> tuple[str, ...]:
    # The chunks of a page share its tags, and those of a section its headings.
    return tuple(json.loads(json_list))


@lru_cache(maxsize=4096)
def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
