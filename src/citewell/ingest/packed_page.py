"""A page that was read, as bytes for the way from one process to another.

Pickling calls Python for every record, and a page may hold thousands of links; packing calls it
only to rebuild them.
"""

from __future__ import annotations

import marshal
from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from citewell.core.graph import EntityMention
from citewell.core.records import Chunk, ExtractedPage, Image, Link, Section

if TYPE_CHECKING:
    from collections.abc import Iterable

ReadPage = tuple[ExtractedPage, tuple[Chunk, ...], tuple[EntityMention, ...]]
"""The page itself, its chunks and the entities that it names."""

_Record = TypeVar("_Record", Section, Link, Image, Chunk, EntityMention)
_Row = tuple[Any, ...]
_PARTS = ("sections", "links", "images")
_PLAIN = tuple(field.name for field in fields(ExtractedPage) if field.name not in _PARTS)


def pack_page(read: ReadPage) -> bytes:
    """Return what was read as bytes, for `unpack_page` of the same Python."""
    extracted, chunks, entities = read
    return marshal.dumps(
        (
            attrgetter(*_PLAIN)(extracted),
            _rows(Section, extracted.sections),
            _rows(Link, extracted.links),
            _rows(Image, extracted.images),
            _rows(Chunk, chunks),
            _rows(EntityMention, entities),
        )
    )


def unpack_page(packed: bytes) -> ReadPage:
    """Return what `pack_page` packed."""
    plain, sections, links, images, chunks, entities = marshal.loads(packed)
    extracted = ExtractedPage(
        **dict(zip(_PLAIN, plain, strict=True)),
        sections=_records(Section, sections),
        links=_records(Link, links),
        images=_records(Image, images),
    )
    return extracted, _records(Chunk, chunks), _records(EntityMention, entities)


def _rows(kind: type[_Record], records: Iterable[_Record]) -> list[_Row]:
    return list(map(attrgetter(*_names(kind)), records))


def _records(kind: type[_Record], rows: list[_Row]) -> tuple[_Record, ...]:
    names = _names(kind)
    return tuple([kind(**dict(zip(names, row, strict=True))) for row in rows])


def _names(kind: type[_Record]) -> list[str]:
    return [field.name for field in fields(kind)]
