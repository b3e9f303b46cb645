"""Writing a page and all it implies, inside the caller's transaction."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.core.errors import SuppliedTextRefused
from citewell.core.ids import content_hash
from citewell.core.storage import PutResult
from citewell.store.releases import KEPT_TEXTS
from citewell.store.rows import page_values
from citewell.store.sqlite.mentions import put_mentions
from citewell.store.sqlite.session import SQL, adapt_values, timestamp
from citewell.store.symbols import symbol_rows

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from citewell.core.records import Chunk, PageDraft
    from citewell.store.word_index import WordIndex


# A chunk takes up to 60 µs to write or to remove, a link 5: no other writer should wait for more.
_MOST_CHUNKS = 1_500
_MOST_LINKS = 15_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PageHead:
    """The page that was written, and what was there before it."""

    source_id: int
    is_new: bool
    text_changed: bool
    same_title: bool

    def result(self, draft: PageDraft, *, kept: int) -> PutResult:
        """Return what became of the page, `kept` of whose chunks were there before."""
        return PutResult(
            source_id=self.source_id,
            created=self.is_new,
            text_changed=self.text_changed,
            chunks=len(draft.chunks),
            chunks_kept=kept,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkChanges:
    """How the chunks of a page differ from those that are stored."""

    new: list[Chunk]
    kept: list[tuple[Chunk, sqlite3.Row]]
    """Those whose embedded text is stored; they keep their rows, and with them ids and vectors."""
    gone: list[int]
    """Ids of rows that no chunk of the draft takes over."""


def is_large(draft: PageDraft) -> bool:
    """Return whether writing the page at once would keep other writers waiting."""
    return len(draft.chunks) > _MOST_CHUNKS or len(draft.extracted.links) > _MOST_LINKS


def put_page(
    connection: sqlite3.Connection,
    draft: PageDraft,
    *,
    response: dict[str, object] | None,
    index: WordIndex,
) -> PutResult | None:
    """Write the page, replacing what its URL held in its project; `response` is packed.

    None: nothing was written, since removing what the URL holds would take too long.

    Raises:
        SuppliedTextRefused: the text is supplied, and a page of another origin has its URL.
    """
    before = page_before(connection, draft)
    if before is not None and before["chunks"] > _MOST_CHUNKS:
        return None
    head = put_head(connection, draft, before)
    source_id = head.source_id
    for removal in ("remove_links", "remove_symbols"):
        connection.execute(SQL[removal], {"source_id": source_id})
    put_links(connection, draft, source_id=source_id)
    put_response(connection, response, source_id=source_id)
    connection.executemany(SQL["add_symbol"], symbol_rows(draft, source_id))
    put_mentions(connection, draft, source_id=source_id)
    changes = compare_chunks(connection, draft, source_id=source_id)
    move_chunks(connection, changes.kept)
    for chunk, old in changes.kept:
        if not (head.same_title and has_same_words(chunk, old)):
            reword_chunk(connection, chunk, chunk_id=old["chunk_id"], index=index)
    add_chunks(connection, changes.new, source_id=source_id, index=index)
    remove_chunks(connection, changes.gone)
    return head.result(draft, kept=len(changes.kept))


def page_before(connection: sqlite3.Connection, draft: PageDraft) -> sqlite3.Row | None:
    """Return what is known of the page that the draft replaces."""
    key = {"project": draft.project, "url": draft.url}
    row: sqlite3.Row | None = connection.execute(SQL["page_before"], key).fetchone()
    return row


def put_head(
    connection: sqlite3.Connection,
    draft: PageDraft,
    before: sqlite3.Row | None,
    marks: Mapping[str, object] | None = None,
) -> PageHead:
    """Write the page's row, text, tags, sections and images; `marks` replace values of the row.

    Raises:
        SuppliedTextRefused: the text is supplied, and a page of another origin has its URL.
    """
    text_hash = content_hash(draft.extracted.text)
    text_changed = before is None or before["text_hash"] != text_hash
    if before is not None and text_changed:
        limits = KEPT_TEXTS | {"source_id": before["source_id"]}
        connection.execute(SQL["keep_earlier_text"], limits)
        connection.execute(SQL["drop_earlier_texts"], limits)
    values = page_values(draft, text_hash)
    values["fetched_at"] = timestamp(draft.fetched.fetched_at)
    values.update(marks or {})
    row = connection.execute(SQL["put_page"], values).fetchone()
    if row is None:
        raise SuppliedTextRefused("a page of this URL was fetched or read from a file")
    source_id = int(row[0])
    _put_parts(connection, draft, source_id=source_id)
    return PageHead(
        source_id=source_id,
        is_new=before is None,
        text_changed=text_changed,
        same_title=before is not None and before["title"] == draft.extracted.title,
    )


def _put_parts(connection: sqlite3.Connection, draft: PageDraft, *, source_id: int) -> None:
    """Replace what belongs to the text of the page and has no identity of its own."""
    extracted = draft.extracted
    body = {
        "source_id": source_id,
        "description": extracted.description,
        "structured_data": extracted.structured_data,
        "text": extracted.text,
    }
    connection.execute(SQL["put_page_body"], body)
    for removal in ("remove_tags", "remove_sections", "remove_images"):
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
        SQL["put_image"],
        [
            (source_id, ordinal, image.url, image.alt, image.caption, image.section, image.start)
            for ordinal, image in enumerate(extracted.images)
        ],
    )


def put_links(
    connection: sqlite3.Connection,
    draft: PageDraft,
    *,
    source_id: int,
    first: int = 0,
    end: int | None = None,
) -> None:
    """Write the links from number `first` up to `end`."""
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
            for ordinal, link in enumerate(draft.extracted.links[first:end], first)
        ],
    )


def put_response(
    connection: sqlite3.Connection, response: dict[str, object] | None, *, source_id: int
) -> None:
    """Write the response that the page was made from, or drop that of the page before."""
    key = {"source_id": source_id}
    if response is None:
        connection.execute(SQL["drop_response"], key)
        return
    connection.execute(SQL["put_response"], adapt_values(response | key))


def compare_chunks(
    connection: sqlite3.Connection, draft: PageDraft, *, source_id: int
) -> ChunkChanges:
    """Return how the draft's chunks differ from those that the page has."""
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
    gone = [row["chunk_id"] for rows in before.values() for row in rows]
    return ChunkChanges(new=new, kept=kept, gone=gone)


def move_chunks(connection: sqlite3.Connection, kept: Sequence[tuple[Chunk, sqlite3.Row]]) -> None:
    """Write where kept chunks lie in their page now, unless they lie where they did."""
    moved = [
        _place(chunk) | {"chunk_id": old["chunk_id"]}
        for chunk, old in kept
        if any(old[column] != value for column, value in _place(chunk).items())
    ]
    connection.executemany(SQL["move_chunk"], moved)


def has_same_words(chunk: Chunk, old: sqlite3.Row) -> bool:
    """Return whether a kept chunk has the text and headings that its row has."""
    same: bool = old["text"] == chunk.text and old["heading_path"] == _path(chunk)
    return same


def add_chunks(
    connection: sqlite3.Connection, chunks: Sequence[Chunk], *, source_id: int, index: WordIndex
) -> None:
    """Write chunks that are new, with their words."""
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


def remove_chunks(connection: sqlite3.Connection, chunk_ids: Sequence[int]) -> None:
    """Remove chunks with their words."""
    if chunk_ids:
        connection.execute(SQL["remove_chunks"], {"chunk_ids": json.dumps(chunk_ids)})


def reword_chunk(
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
    """Return where the chunk lies in its page, by column."""
    return {
        "ordinal": chunk.ordinal,
        "section": chunk.section,
        "start_offset": chunk.start,
        "end_offset": chunk.end,
        "tokens": chunk.tokens,
        "has_code": int(chunk.has_code),
        "anchor": chunk.anchor,
    }


def _path(chunk: Chunk) -> str:
    return json.dumps(chunk.heading_path, ensure_ascii=False)
