"""Records as rows of the database, and back."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from citewell.core.records import Image, Link, PageInfo, Section, StoredChunk
from citewell.core.releases import Release, release_of_page
from citewell.store.session import read_datetime, read_list

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import DataclassInstance

    from citewell.core.records import PageDraft
    from citewell.store.session import Row

Record = TypeVar("Record", bound="DataclassInstance")

_READERS: dict[object, Callable[[Any], Any]] = {
    "bool": bool,
    "datetime": read_datetime,
    "datetime | None": read_datetime,
    "tuple[str, ...]": read_list,
}


def read_record(record_type: type[Record], row: Row, /, **values: object) -> Record:
    """Return the record whose fields are the columns of the same names, apart from `values`."""
    for name, read in _readers(record_type):
        if name not in values:
            values[name] = row[name] if read is None else read(row[name])
    return record_type(**values)


@cache
def _readers(record_type: type[DataclassInstance]) -> list[tuple[str, Callable[[Any], Any] | None]]:
    """Return each field with what turns its column into its value; None where they are the same."""
    return [(field.name, _READERS.get(field.type)) for field in fields(record_type)]


def record_values(record: DataclassInstance) -> dict[str, Any]:
    """Return the fields of a record as values of a statement that names them alike."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def read_page_info(row: Row) -> PageInfo:
    """Return the page that a row of any statement on whole pages holds."""
    return read_record(PageInfo, row, release=_read_release(row))


def read_chunk(row: Row) -> StoredChunk:
    """Return the chunk that a row of `load_chunks` or `chunks_of_page` holds."""
    return read_record(
        StoredChunk,
        row,
        page_hash=row["text_hash"],
        start=row["start_offset"],
        end=row["end_offset"],
        release=_read_release(row),
    )


def read_section(row: Row) -> Section:
    """Return the section that one of the `all_sections` of `whole_page` holds."""
    return read_record(Section, row, start=row["start_offset"], end=row["end_offset"])


def read_link(row: Row) -> Link:
    """Return the link that one of the `all_links` of `whole_page` holds."""
    return read_record(Link, row, start=row["start_offset"])


def read_image(row: Row) -> Image:
    """Return the image that one of the `all_images` of `whole_page` holds."""
    return read_record(Image, row, start=row["start_offset"])


def _read_release(row: Row) -> Release:
    return Release(product=row["product"], version=row["version"])


def page_values(draft: PageDraft, text_hash: str) -> dict[str, object]:
    """Return the values of `put_page`, apart from tags."""
    fetched, extracted = draft.fetched, draft.extracted
    documents = release_of_page(draft.url, draft.tags)
    return {
        "source_id": draft.source_id,
        "project": draft.project,
        "url": draft.url,
        "final_url": fetched.final_url,
        "title": extracted.title,
        "kind": extracted.kind,
        "language": extracted.language,
        "content_type": draft.content_type,
        "text_hash": text_hash,
        "chunks": len(draft.chunks),
        "tokens": sum(chunk.tokens for chunk in draft.chunks),
        "text_bytes": len(draft.extracted.text.encode("utf-8", "surrogatepass")),
        "fetched_at": fetched.fetched_at,
        "etag": fetched.etag,
        "last_modified": fetched.last_modified,
        "published_at": extracted.published_at,
        "modified_at": extracted.modified_at,
        "canonical_url": extracted.canonical_url,
        "origin": fetched.origin,
        "supplied_by": fetched.supplied_by,
        "incomplete": fetched.incomplete,
        "extractor": draft.extractor,
        "product": documents.release.product,
        "version": documents.release.version,
        "place": documents.place,
    }
