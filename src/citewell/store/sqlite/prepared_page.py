"""A page as the rows that store it, made before the transaction: no other writer waits for that."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from citewell.core.frozen import frozen
from citewell.core.ids import content_hash
from citewell.core.off_loop import in_thread
from citewell.store.rows import page_values
from citewell.store.sqlite.session import timestamp
from citewell.store.symbols import symbol_rows
from citewell.store.word_index import MANY_CHUNKS, IndexedWords, check_slices, index_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.core.records import Chunk, PageDraft
    from citewell.store.word_index import WordIndex


class PreparedChunk(NamedTuple):
    """A chunk as its row holds it, with its words."""

    place: tuple[object, ...]
    """Where it lies in its page, in the order of `move_chunk`."""
    heading_path: str
    text: str
    embedded_text: str
    words: IndexedWords


@frozen
class PreparedPage:
    """What a page is written from."""

    draft: PageDraft
    text_hash: str
    values: dict[str, Any]
    """Of the statement `put_page`."""
    body: dict[str, Any]
    response: dict[str, object] | None
    """Packed."""
    parts: Mapping[str, list[tuple[object, ...]]]
    """The rows of each part, without the id of the page."""
    chunks: list[PreparedChunk]


async def prepare_page(draft: PageDraft, *, response: dict[str, object] | None) -> PreparedPage:
    """Return the rows of a page; `response` is packed.

    Raises:
        ValueError: a chunk is not the slice of the page's text that it claims to be.
    """
    index = await index_words(draft)
    if len(draft.chunks) > MANY_CHUNKS:
        return await in_thread(_prepare, draft, response, index)
    return _prepare(draft, response, index)


def _prepare(
    draft: PageDraft, response: dict[str, object] | None, index: WordIndex
) -> PreparedPage:
    check_slices(draft)
    extracted = draft.extracted
    text_hash = content_hash(extracted.text)
    fetched_at = timestamp(draft.fetched.fetched_at)
    return PreparedPage(
        draft=draft,
        text_hash=text_hash,
        values=page_values(draft, text_hash) | {"fetched_at": fetched_at},
        body={
            "description": extracted.description,
            "structured_data": extracted.structured_data,
            "text": extracted.text,
            "screen": extracted.screen,
        },
        response=response,
        parts=_parts(draft),
        chunks=[_prepare_chunk(chunk, index) for chunk in draft.chunks],
    )


def _parts(draft: PageDraft) -> dict[str, list[tuple[object, ...]]]:
    extracted = draft.extracted
    return {
        "sections": [
            (
                *(section.ordinal, section.parent, section.level, section.heading),
                *(section.anchor, section.start, section.end),
            )
            for section in extracted.sections
        ],
        "links": [
            (ordinal, link.url, link.text, link.context, link.section, link.start, link.kind)
            for ordinal, link in enumerate(extracted.links)
        ],
        "images": [
            (ordinal, image.url, image.alt, image.caption, image.section, image.start)
            for ordinal, image in enumerate(extracted.images)
        ],
        "symbols": [
            (row["section"], row["last_name"], row["full_name"], row["start_offset"])
            for row in symbol_rows(draft, 0)
        ],
    }


def _prepare_chunk(chunk: Chunk, index: WordIndex) -> PreparedChunk:
    return PreparedChunk(
        place=(
            *(chunk.ordinal, chunk.section, chunk.start, chunk.end),
            *(chunk.tokens, int(chunk.has_code), chunk.anchor),
        ),
        heading_path=json.dumps(chunk.heading_path, ensure_ascii=False),
        text=chunk.text,
        embedded_text=chunk.embedded_text,
        words=index.words_of(chunk),
    )
