"""A page that was read, as bytes for the way from one process to another.

Pickling calls Python for every record, and a page may hold thousands of links; packing calls it
only to rebuild them.
"""

from __future__ import annotations

import marshal
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
_PLAIN = tuple(name for name in ExtractedPage.__slots__ if name not in _PARTS)


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
    return list(map(attrgetter(*kind.__slots__), records))


def _records(kind: type[_Record], rows: list[_Row]) -> tuple[_Record, ...]:
    names = kind.__slots__
    return tuple([kind(**dict(zip(names, row, strict=True))) for row in rows])
