"""Writing a page and all it implies, inside the caller's transaction."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from citewell.core.errors import SuppliedTextRefused
from citewell.core.ids import content_hash
from citewell.core.off_loop import in_thread
from citewell.core.storage import PutResult
from citewell.store.postgres.mentions import put_mentions
from citewell.store.postgres.statements import SQL
from citewell.store.releases import KEPT_TEXTS
from citewell.store.rows import page_values
from citewell.store.symbols import symbol_rows
from citewell.store.word_index import MANY_CHUNKS, check_slices

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psycopg import AsyncConnection

    from citewell.core.records import Chunk, PageDraft
    from citewell.store.word_index import WordIndex

    Session = AsyncConnection[dict[str, Any]]

# Writing this many rows as JSON takes a few milliseconds.
_CHUNKS_AT_ONCE = 1_000


async def put_page(
    connection: Session,
    draft: PageDraft,
    *,
    response: dict[str, object] | None,
    index: WordIndex,
) -> PutResult:
    """Write the page, replacing what its URL held in its project; `response` is packed.

    Raises:
        ValueError: a chunk is not the slice of the page's text that it claims to be.
        SuppliedTextRefused: the text is supplied, and a page of another origin has its URL.
    """
    check_slices(draft)
    key = {"project": draft.project, "url": draft.url}
    before = await (await connection.execute(SQL["page_before"], key)).fetchone()
    text_hash = content_hash(draft.extracted.text)
    if before is not None and before["text_hash"] != text_hash:
        limits = KEPT_TEXTS | {"source_id": before["source_id"]}
        await connection.execute(SQL["keep_earlier_text"], limits)
        await connection.execute(SQL["drop_earlier_texts"], limits)
    put = await _put_page_row(connection, draft, text_hash=text_hash)
    await _put_parts(connection, draft, put=put)
    await _put_symbols(connection, draft, put=put)
    if response is not None:
        await connection.execute(SQL["put_response"], response | {"source_id": put.source_id})
    new, kept = list(draft.chunks), 0
    if not put.created:
        same_title = before is not None and before["title"] == draft.extracted.title
        new = await _keep_chunks(
            connection, draft, source_id=put.source_id, index=index, same_title=same_title
        )
        kept = len(draft.chunks) - len(new)
    await _add_chunks(connection, new, source_id=put.source_id, index=index)
    # Last, since it locks rows that other writers need too.
    await put_mentions(connection, draft, source_id=put.source_id, is_new=put.created)
    return PutResult(
        source_id=put.source_id,
        created=put.created,
        text_changed=before is None or before["text_hash"] != text_hash,
        chunks=len(draft.chunks),
        chunks_kept=kept,
    )


class _PutRow(NamedTuple):
    """The page's row, and whether there was none before."""

    source_id: int
    created: bool


async def _put_page_row(connection: Session, draft: PageDraft, *, text_hash: str) -> _PutRow:
    values = {**page_values(draft, text_hash), "tags": sorted(set(draft.tags))}
    row = await (await connection.execute(SQL["put_page"], values)).fetchone()
    if row is None:
        raise SuppliedTextRefused("a page of this URL was fetched or read from a file")
    if row["source_id"] == draft.source_id:
        await connection.execute(SQL["pass_page_number"], {"source_id": draft.source_id})
    return _PutRow(**row)


async def _put_parts(connection: Session, draft: PageDraft, *, put: _PutRow) -> None:
    """Replace the parts of a page that have no identity across versions."""
    if not put.created:
        await connection.execute(SQL["remove_parts"], {"source_id": put.source_id})
    many = len(draft.chunks) > MANY_CHUNKS
    parts = await in_thread(_part_values, draft) if many else _part_values(draft)
    await connection.execute(SQL["add_parts"], {"source_id": put.source_id, **parts})


def _part_values(draft: PageDraft) -> dict[str, object]:
    extracted = draft.extracted
    sections = [
        {
            "ordinal": section.ordinal,
            "parent": section.parent,
            "level": section.level,
            "heading": section.heading,
            "anchor": section.anchor,
            "start_offset": section.start,
            "end_offset": section.end,
        }
        for section in extracted.sections
    ]
    links = [
        {
            "ordinal": ordinal,
            "url": link.url,
            "text": link.text,
            "context": link.context,
            "section": link.section,
            "start_offset": link.start,
            "kind": link.kind,
        }
        for ordinal, link in enumerate(extracted.links)
    ]
    images = [
        {
            "ordinal": ordinal,
            "url": image.url,
            "alt": image.alt,
            "caption": image.caption,
            "section": image.section,
            "start_offset": image.start,
        }
        for ordinal, image in enumerate(extracted.images)
    ]
    return {
        "sections": _rows(sections),
        "links": _rows(links),
        "images": _rows(images),
        "description": extracted.description,
        "structured_data": extracted.structured_data,
        "text": extracted.text,
        "screen": extracted.screen,
    }


async def _put_symbols(connection: Session, draft: PageDraft, *, put: _PutRow) -> None:
    if not put.created:
        await connection.execute(SQL["remove_symbols"], {"source_id": put.source_id})
    rows = symbol_rows(draft, put.source_id)
    if rows:
        async with connection.cursor() as cursor:
            await cursor.executemany(SQL["add_symbol"], rows)


async def _keep_chunks(
    connection: Session, draft: PageDraft, *, source_id: int, index: WordIndex, same_title: bool
) -> list[Chunk]:
    """Update the chunks that the page keeps, delete the others; return those to insert.

    A chunk whose embedded text was there before keeps its row, and with it its id and vector.
    """
    before: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    rows = await connection.execute(SQL["chunks_before"], {"source_id": source_id})
    async for row in rows:
        before[row["embedded_text"]].append(row)
    new: list[Chunk] = []
    for chunk in draft.chunks:
        same = before.get(chunk.embedded_text)
        if not same:
            new.append(chunk)
            continue
        old = same.pop(0)
        await connection.execute(SQL["move_chunk"], _place(chunk) | {"chunk_id": old["chunk_id"]})
        unchanged = old["text"] == chunk.text and tuple(old["heading_path"]) == chunk.heading_path
        if not (same_title and unchanged):
            await _reword_chunk(connection, chunk, chunk_id=old["chunk_id"], index=index)
    gone = [row["chunk_id"] for rows in before.values() for row in rows]
    if gone:
        await connection.execute(SQL["remove_chunks"], {"chunk_ids": gone})
    return new


async def _add_chunks(
    connection: Session, chunks: Sequence[Chunk], *, source_id: int, index: WordIndex
) -> None:
    if not chunks:
        return
    for start in range(0, len(chunks), _CHUNKS_AT_ONCE):
        batch = chunks[start : start + _CHUNKS_AT_ONCE]
        many = len(batch) > MANY_CHUNKS
        rows = await in_thread(_chunk_rows, batch, index) if many else _chunk_rows(batch, index)
        await connection.execute(SQL["add_chunks"], {"source_id": source_id, "chunks": rows})


def _chunk_rows(chunks: Sequence[Chunk], index: WordIndex) -> str:
    return _rows(
        [
            _place(chunk)
            | {
                "heading_path": chunk.heading_path,
                "text": chunk.text,
                "embedded_text": chunk.embedded_text,
            }
            | index.words_of(chunk)._asdict()
            for chunk in chunks
        ]
    )


async def _reword_chunk(
    connection: Session, chunk: Chunk, *, chunk_id: int, index: WordIndex
) -> None:
    """Reindex a chunk whose embedding input is unchanged but whose words may differ."""
    values = {
        "chunk_id": chunk_id,
        "heading_path": list(chunk.heading_path),
        "text": chunk.text,
        **index.words_of(chunk)._asdict(),
    }
    await connection.execute(SQL["reword_chunk"], values)
    await connection.execute(SQL["replace_words"], values)


def _place(chunk: Chunk) -> dict[str, object]:
    """Return where the chunk lies in its page."""
    return {
        "ordinal": chunk.ordinal,
        "section": chunk.section,
        "start_offset": chunk.start,
        "end_offset": chunk.end,
        "tokens": chunk.tokens,
        "has_code": chunk.has_code,
        "anchor": chunk.anchor,
    }


def _rows(rows: Sequence[Mapping[str, object]]) -> str:
    """Return the rows as json_to_recordset reads them."""
    return json.dumps(rows, ensure_ascii=False)
