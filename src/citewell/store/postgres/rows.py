"""Rows of the database as records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.core.graph import Node, NodeRef
from citewell.core.records import Image, Link, PageInfo, Section, StoredChunk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.core.graph import NodeKind

    Row = Mapping[str, Any]


def page_info(row: Row) -> PageInfo:
    """Return the page that a row of `page_info`, `whole_pages` or `list_pages` holds."""
    return PageInfo(
        source_id=row["source_id"],
        url=row["url"],
        final_url=row["final_url"],
        title=row["title"],
        kind=row["kind"],
        language=row["language"],
        content_type=row["content_type"],
        project=row["project"],
        tags=tuple(row["tags"]),
        text_hash=row["text_hash"],
        chunks=row["chunks"],
        tokens=row["tokens"],
        embedded_chunks=row["embedded_chunks"],
        fetched_at=row["fetched_at"],
        etag=row["etag"],
        last_modified=row["last_modified"],
        published_at=row["published_at"],
        modified_at=row["modified_at"],
        origin=row["origin"],
        extractor=row["extractor"],
    )


def stored_chunk(row: Row) -> StoredChunk:
    """Return the chunk that a row of `load_chunks` or `chunks_of_page` holds."""
    return StoredChunk(
        chunk_id=row["chunk_id"],
        source_id=row["source_id"],
        url=row["url"],
        title=row["title"],
        page_hash=row["text_hash"],
        fetched_at=row["fetched_at"],
        language=row["language"],
        kind=row["kind"],
        content_type=row["content_type"],
        ordinal=row["ordinal"],
        section=row["section"],
        heading_path=tuple(row["heading_path"]),
        anchor=row["anchor"],
        start=row["start_offset"],
        end=row["end_offset"],
        text=row["text"],
        tokens=row["tokens"],
        has_code=row["has_code"],
        page_chunks=row["page_chunks"],
        tags=tuple(row["tags"]),
        origin=row["origin"],
        words=row.get("words"),
    )


def section(row: Row) -> Section:
    """Return the section that one of the `all_sections` of `whole_pages` holds."""
    return Section(
        ordinal=row["ordinal"],
        parent=row["parent"],
        level=row["level"],
        heading=row["heading"],
        anchor=row["anchor"],
        start=row["start_offset"],
        end=row["end_offset"],
    )


def link(row: Row) -> Link:
    """Return the link that one of the `all_links` of `whole_pages` holds."""
    return Link(
        url=row["url"],
        text=row["text"],
        context=row["context"],
        section=row["section"],
        start=row["start_offset"],
        kind=row["kind"],
    )


def image(row: Row) -> Image:
    """Return the image that one of the `all_images` of `whole_pages` holds."""
    return Image(
        url=row["url"],
        alt=row["alt"],
        caption=row["caption"],
        section=row["section"],
        start=row["start_offset"],
    )


def node(row: Row, kind: NodeKind) -> Node:
    """Return the node that a row of `page_nodes`, `section_nodes` or `entity_nodes` holds."""
    return Node(
        ref=NodeRef(kind, row["number"], row["section"]),
        name=row["name"],
        title=row["title"],
        url=row["url"],
        anchor=row["anchor"],
        entity_kind=row["entity_kind"],
        sections=row["sections"],
        entities=row["entities"],
    )
