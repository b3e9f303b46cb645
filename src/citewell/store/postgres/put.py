"""Writing a page and all it implies, inside the caller's transaction."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from citewell.core.ids import content_hash
from citewell.core.records import PutResult
from citewell.store.postgres.connection import SQL
from citewell.store.postgres.graph import put_mentions
from citewell.store.word_index import WordIndex, check_slices

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psycopg import AsyncConnection

    from citewell.core.records import Chunk, PageDraft

    Session = AsyncConnection[dict[str, Any]]


async def put_page(connection: Session, draft: PageDraft) -> PutResult:
    """Write the page, replacing what its URL held in its project.

    Raises:
        ValueError: a chunk is not the slice of the page's text that it claims to be.
    """
    check_slices(draft)
    key = {"project": draft.project, "url": draft.url}
    before = await (await connection.execute(SQL["page_before"], key)).fetchone()
    text_hash = content_hash(draft.extracted.text)
    source_id = await _put_page_row(connection, draft, text_hash=text_hash)
    await connection.execute(SQL["join_page_of_website"], key | {"source_id": source_id})
    await _put_parts(connection, draft, source_id=source_id)
    same_title = before is not None and before["title"] == draft.extracted.title
    kept = await _put_chunks(connection, draft, source_id=source_id, same_title=same_title)
    # Last, since it locks rows that the pages of other writers name too.
    await put_mentions(connection, draft, source_id=source_id)
    return PutResult(
        source_id=source_id,
        created=before is None,
        text_changed=before is None or before["text_hash"] != text_hash,
        chunks=len(draft.chunks),
        chunks_kept=kept,
    )


async def _put_page_row(connection: Session, draft: PageDraft, *, text_hash: str) -> int:
    fetched, extracted = draft.fetched, draft.extracted
    values = {
        "source_id": draft.source_id,
        "project": draft.project,
        "url": draft.url,
        "final_url": fetched.final_url,
        "title": extracted.title,
        "kind": extracted.kind,
        "language": extracted.language,
        "content_type": draft.content_type,
        "tags": sorted(set(draft.tags)),
        "text_hash": text_hash,
        "chunks": len(draft.chunks),
        "tokens": sum(chunk.tokens for chunk in draft.chunks),
        "fetched_at": fetched.fetched_at,
        "etag": fetched.etag,
        "last_modified": fetched.last_modified,
        "published_at": extracted.published_at,
        "modified_at": extracted.modified_at,
        "canonical_url": extracted.canonical_url,
    }
    row = await (await connection.execute(SQL["put_page"], values)).fetchone()
    assert row is not None, "an upsert returns its row"
    if row["source_id"] == draft.source_id:
        await connection.execute(SQL["pass_page_number"], {"source_id": draft.source_id})
    return int(row["source_id"])


async def _put_parts(connection: Session, draft: PageDraft, *, source_id: int) -> None:
    """Replace what hangs on the page and has no identity of its own."""
    extracted = draft.extracted
    body = {
        "source_id": source_id,
        "description": extracted.description,
        "structured_data": extracted.structured_data,
        "text": extracted.text,
    }
    await connection.execute(SQL["put_page_body"], body)
    await connection.execute(SQL["remove_parts"], {"source_id": source_id})
    await _copy(
        connection,
        "copy_sections",
        (
            (source_id, at.ordinal, at.parent, at.level, at.heading, at.anchor, at.start, at.end)
            for at in extracted.sections
        ),
    )
    await _copy(
        connection,
        "copy_links",
        (
            (source_id, ordinal, link.url, link.text, link.context, link.section, link.start)
            for ordinal, link in enumerate(extracted.links)
        ),
    )
    await _copy(
        connection,
        "copy_images",
        (
            (source_id, ordinal, image.url, image.alt, image.caption, image.section, image.start)
            for ordinal, image in enumerate(extracted.images)
        ),
    )


async def _put_chunks(
    connection: Session, draft: PageDraft, *, source_id: int, same_title: bool
) -> int:
    """Write the chunks and return how many were there before.

    A chunk whose embedded text was there before keeps its row, and with it its id and vector.
    """
    before: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    found = await connection.execute(SQL["chunks_before"], {"source_id": source_id})
    async for row in found:
        before[row["embedded_text"]].append(row)
    index = WordIndex(draft.extracted.title)
    new: list[Chunk] = []
    kept: list[tuple[Chunk, dict[str, Any]]] = []
    for chunk in draft.chunks:
        same = before.get(chunk.embedded_text)
        if same:
            kept.append((chunk, same.pop(0)))
        else:
            new.append(chunk)
    for chunk, old in kept:
        values = _place(chunk) | {"chunk_id": old["chunk_id"]}
        await connection.execute(SQL["move_chunk"], values)
        unchanged = old["text"] == chunk.text and tuple(old["heading_path"]) == chunk.heading_path
        if not (same_title and unchanged):
            await _reword_chunk(connection, chunk, chunk_id=old["chunk_id"], index=index)
    await _add_chunks(connection, new, source_id=source_id, index=index)
    gone = [row["chunk_id"] for rows in before.values() for row in rows]
    if gone:
        await connection.execute(SQL["remove_chunks"], {"chunk_ids": gone})
    return len(kept)


async def _add_chunks(
    connection: Session, chunks: Sequence[Chunk], *, source_id: int, index: WordIndex
) -> None:
    if not chunks:
        return
    drawn = await connection.execute(SQL["next_chunk_ids"], {"count": len(chunks)})
    ids = [row["chunk_id"] for row in await drawn.fetchall()]
    numbered = list(zip(ids, chunks, strict=True))
    await _copy(
        connection,
        "copy_chunks",
        (
            (
                chunk_id,
                source_id,
                chunk.ordinal,
                chunk.section,
                chunk.start,
                chunk.end,
                chunk.tokens,
                chunk.has_code,
                chunk.anchor,
                list(chunk.heading_path),
                chunk.text,
                chunk.embedded_text,
            )
            for chunk_id, chunk in numbered
        ),
    )
    await _copy(
        connection,
        "copy_words",
        (
            (chunk_id, source_id, indexed.total, indexed.heading, indexed.body)
            for chunk_id, indexed in (
                (chunk_id, index.words_of(chunk)) for chunk_id, chunk in numbered
            )
        ),
    )


async def _reword_chunk(
    connection: Session, chunk: Chunk, *, chunk_id: int, index: WordIndex
) -> None:
    """Index anew a chunk that the embedder sees as before but whose words may differ."""
    indexed = index.words_of(chunk)
    values = {
        "chunk_id": chunk_id,
        "heading_path": list(chunk.heading_path),
        "text": chunk.text,
        "total": indexed.total,
        "heading": indexed.heading,
        "body": indexed.body,
    }
    await connection.execute(SQL["reword_chunk"], values)
    await connection.execute(SQL["replace_words"], values)


def _place(chunk: Chunk) -> dict[str, object]:
    """Return where the chunk lies in its page."""
    return {
        "ordinal": chunk.ordinal,
        "section": chunk.section,
        "start": chunk.start,
        "end": chunk.end,
        "tokens": chunk.tokens,
        "has_code": chunk.has_code,
        "anchor": chunk.anchor,
    }


async def _copy(connection: Session, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
    async with connection.cursor() as cursor, cursor.copy(SQL[statement]) as copy:
        for row in rows:
            await copy.write_row(row)
