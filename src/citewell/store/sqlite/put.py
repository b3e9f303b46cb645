"""Writing a page and all it implies, inside the caller's transaction."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

from citewell.core.errors import SuppliedTextRefused
from citewell.core.ids import content_hash
from citewell.core.storage import PutResult
from citewell.store.releases import KEPT_TEXTS
from citewell.store.rows import page_values
from citewell.store.sqlite.mentions import put_mentions
from citewell.store.sqlite.session import SQL, adapt_values, timestamp
from citewell.store.symbols import symbol_rows
from citewell.store.word_index import check_slices

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from citewell.core.records import Chunk, PageDraft
    from citewell.store.word_index import WordIndex


def put_page(
    connection: sqlite3.Connection,
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
    before = connection.execute(SQL["page_before"], key).fetchone()
    text_hash = content_hash(draft.extracted.text)
    if before is not None and before["text_hash"] != text_hash:
        limits = KEPT_TEXTS | {"source_id": before["source_id"]}
        connection.execute(SQL["keep_earlier_text"], limits)
        connection.execute(SQL["drop_earlier_texts"], limits)
    source_id = _put_page_row(connection, draft, text_hash=text_hash)
    _put_parts(connection, draft, source_id=source_id)
    _put_response(connection, response, source_id=source_id)
    connection.execute(SQL["remove_symbols"], {"source_id": source_id})
    connection.executemany(SQL["add_symbol"], symbol_rows(draft, source_id))
    put_mentions(connection, draft, source_id=source_id)
    same_title = before is not None and before["title"] == draft.extracted.title
    kept = _put_chunks(connection, draft, source_id=source_id, index=index, same_title=same_title)
    return PutResult(
        source_id=source_id,
        created=before is None,
        text_changed=before is None or before["text_hash"] != text_hash,
        chunks=len(draft.chunks),
        chunks_kept=kept,
    )


def _put_page_row(connection: sqlite3.Connection, draft: PageDraft, *, text_hash: str) -> int:
    values = page_values(draft, text_hash)
    values["fetched_at"] = timestamp(draft.fetched.fetched_at)
    row = connection.execute(SQL["put_page"], values).fetchone()
    if row is None:
        raise SuppliedTextRefused("a page of this URL was fetched or read from a file")
    return int(row[0])


def _put_parts(connection: sqlite3.Connection, draft: PageDraft, *, source_id: int) -> None:
    """Replace what hangs on the page and has no identity of its own."""
    extracted = draft.extracted
    body = {
        "source_id": source_id,
        "description": extracted.description,
        "structured_data": extracted.structured_data,
        "text": extracted.text,
    }
    connection.execute(SQL["put_page_body"], body)
    for removal in ("remove_tags", "remove_sections", "remove_links", "remove_images"):
        connection.execute(SQL[removal], {"source_id": source_id})
    connection.executemany(SQL["put_tag"], [(source_id, tag) for tag in draft.tags])
    connection.executemany(
        SQL["put_section"],
        [
            (
                source_id,
                section.ordinal,
                section.parent,
                section.level,
                section.heading,
                section.anchor,
                section.start,
                section.end,
            )
            for section in extracted.sections
        ],
    )
    connection.executemany(
        SQL["put_link"],
        [
            (
                source_id,
                ordinal,
                link.url,
                link.text,
                link.context,
                link.section,
                link.start,
                link.kind,
            )
            for ordinal, link in enumerate(extracted.links)
        ],
    )
    connection.executemany(
        SQL["put_image"],
        [
            (source_id, ordinal, image.url, image.alt, image.caption, image.section, image.start)
            for ordinal, image in enumerate(extracted.images)
        ],
    )


def _put_response(
    connection: sqlite3.Connection, response: dict[str, object] | None, *, source_id: int
) -> None:
    key = {"source_id": source_id}
    if response is None:
        connection.execute(SQL["drop_response"], key)
        return
    connection.execute(SQL["put_response"], adapt_values(response | key))


def _put_chunks(
    connection: sqlite3.Connection,
    draft: PageDraft,
    *,
    source_id: int,
    index: WordIndex,
    same_title: bool,
) -> int:
    """Write the chunks and return how many existed before.

    A chunk whose embedded text was there before keeps its row, and with it its id and vector.
    """
    before: defaultdict[str, list[sqlite3.Row]] = defaultdict(list)
    for row in connection.execute(SQL["chunks_before"], {"source_id": source_id}).fetchall():
        before[row["embedded_text"]].append(row)
    new: list[Chunk] = []
    kept: list[tuple[Chunk, sqlite3.Row]] = []
    for chunk in draft.chunks:
        same = before.get(chunk.embedded_text)
        if same:
            kept.append((chunk, same.pop(0)))
        else:
            new.append(chunk)
    for chunk, old in kept:
        connection.execute(SQL["move_chunk"], _place(chunk) | {"chunk_id": old["chunk_id"]})
        unchanged = old["text"] == chunk.text and old["heading_path"] == _path(chunk)
        if not (same_title and unchanged):
            _reword_chunk(connection, chunk, chunk_id=old["chunk_id"], index=index)
    _add_chunks(connection, new, source_id=source_id, index=index)
    gone = [row["chunk_id"] for rows in before.values() for row in rows]
    if gone:
        connection.execute(SQL["remove_chunks"], {"chunk_ids": json.dumps(gone)})
    return len(kept)


def _add_chunks(
    connection: sqlite3.Connection, chunks: Sequence[Chunk], *, source_id: int, index: WordIndex
) -> None:
    first_id: int = connection.execute(SQL["next_chunk_id"]).fetchone()[0]
    numbered = [
        (chunk_id, chunk, index.words_of(chunk)) for chunk_id, chunk in enumerate(chunks, first_id)
    ]
    rows = [
        _place(chunk)
        | {
            "chunk_id": chunk_id,
            "source_id": source_id,
            "words": indexed.total,
            "heading_path": _path(chunk),
            "text": chunk.text,
            "embedded_text": chunk.embedded_text,
        }
        for chunk_id, chunk, indexed in numbered
    ]
    # All rows before all words: a row's trigger makes the word index write out what it has
    # gathered, which takes four times as long as the row when it happens for each of them.
    connection.executemany(SQL["add_chunk"], rows)
    connection.executemany(
        SQL["add_words"],
        [(chunk_id, indexed.heading, indexed.body) for chunk_id, _, indexed in numbered],
    )


def _reword_chunk(
    connection: sqlite3.Connection, chunk: Chunk, *, chunk_id: int, index: WordIndex
) -> None:
    """Reindex a chunk whose embedding input is unchanged but whose words may differ."""
    indexed = index.words_of(chunk)
    values = {
        "chunk_id": chunk_id,
        "words": indexed.total,
        "heading_path": _path(chunk),
        "text": chunk.text,
    }
    connection.execute(SQL["reword_chunk"], values)
    connection.execute(SQL["remove_words"], {"chunk_id": chunk_id})
    connection.execute(SQL["add_words"], (chunk_id, indexed.heading, indexed.body))


def _place(chunk: Chunk) -> dict[str, object]:
    """Return where the chunk lies in its page."""
    return {
        "ordinal": chunk.ordinal,
        "section": chunk.section,
        "start": chunk.start,
        "end": chunk.end,
        "tokens": chunk.tokens,
        "has_code": int(chunk.has_code),
        "anchor": chunk.anchor,
    }


def _path(chunk: Chunk) -> str:
    return json.dumps(chunk.heading_path, ensure_ascii=False)
