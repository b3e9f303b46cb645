"""Writing a page and all it implies, inside the caller's transaction."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from citewell.core.errors import SuppliedTextRefused
from citewell.core.frozen import frozen
from citewell.core.storage import PutResult
from citewell.store.releases import KEPT_TEXTS
from citewell.store.sqlite.mentions import put_mentions
from citewell.store.sqlite.page_parts import compare_parts, put_changes
from citewell.store.sqlite.session import SQL, adapt_values

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from citewell.store.sqlite.page_parts import PartChanges
    from citewell.store.sqlite.prepared_page import PreparedChunk, PreparedPage

MANY_CHUNKS = 1_500
"""Writing or removing more takes over 60 ms, for which all other writers wait."""


KEEPING_TEXT = ("keep_earlier_text", "drop_earlier_texts")
"""What keeps the text of a page before it is replaced; until then nobody sees it twice."""


class StoredChunk(NamedTuple):
    """A chunk of the page as it is stored, in the order of `chunks_before`."""

    chunk_id: int
    ordinal: int
    section: int
    start: int
    end: int
    tokens: int
    has_code: int
    anchor: str | None
    words: int
    heading_path: str
    text: str
    embedded_text: str

    @property
    def place(self) -> tuple[object, ...]:
        """Where the chunk lies in its page."""
        return self[1:8]

    def reads_as(self, chunk: PreparedChunk) -> bool:
        """Return whether the chunk has the text and the headings of `chunk`."""
        return self.text == chunk.text and self.heading_path == chunk.heading_path


@frozen
class ChunkChanges:
    """How the chunks of a page differ from those that are stored.

    A chunk whose embedded text is stored is kept: its row stays, and with it its id and vector.
    """

    new: list[PreparedChunk]
    gone: list[StoredChunk]
    kept: int
    moved: list[tuple[object, ...]]
    """Values of `move_chunk`, for kept chunks that lie elsewhere in the page."""
    reworded: list[tuple[int, PreparedChunk]]
    """Kept chunks, by id, whose words may differ."""
    stored: list[StoredChunk]
    """All chunks before."""
    same: list[tuple[PreparedChunk, int | None]]
    """All chunks of the page, with the id of the stored one that has the same embedded text."""

    def __len__(self) -> int:
        """How many chunks are written, moved or removed."""
        return len(self.new) + len(self.gone) + len(self.moved) + len(self.reworded)


@frozen
class RowChanges:
    """How the rows of a page differ from those that are stored."""

    parts: list[PartChanges]
    chunks: ChunkChanges


def put_page(connection: sqlite3.Connection, page: PreparedPage) -> PutResult | None:
    """Write the page, replacing what its URL held in its project.

    None: nothing was written, since other writers would wait too long.

    Raises:
        SuppliedTextRefused: the text is supplied, and a page of another origin has its URL.
    """
    before = page_before(connection, page)
    if before is not None and before["chunks"] > MANY_CHUNKS:
        return None
    return put_whole_page(connection, page)


def put_whole_page(connection: sqlite3.Connection, page: PreparedPage) -> PutResult:
    """Write the page however large it is.

    Raises:
        SuppliedTextRefused: as `put_page`.
    """
    before = page_before(connection, page)
    return put_in_place(connection, page, before, compare_rows(connection, page, before))


def compare_rows(
    connection: sqlite3.Connection, page: PreparedPage, before: sqlite3.Row | None
) -> RowChanges:
    """Return how the rows of the page differ from those that are stored."""
    # No page has the id 0.
    rows_id = before["rows_id"] if before is not None else 0
    parts = compare_parts(connection, page, rows_id=rows_id)
    return RowChanges(parts=parts, chunks=_compare_chunks(connection, page, before))


def put_in_place(
    connection: sqlite3.Connection,
    page: PreparedPage,
    before: sqlite3.Row | None,
    changes: RowChanges,
) -> PutResult:
    """Write the page and what differs of its rows.

    Raises:
        SuppliedTextRefused: as `put_page`.
    """
    for statement in KEEPING_TEXT:
        keep_text(connection, page, before, statement)
    source_id = put_head(connection, page)
    rows_id = rows_of_page(connection, source_id)
    put_body(connection, page, rows_id=rows_id)
    put_changes(connection, changes.parts, rows_id=rows_id)
    put_mentions(connection, page.draft, source_id=source_id)
    chunks = changes.chunks
    _put_kept_chunks(connection, chunks)
    add_chunks(connection, [(chunk, None) for chunk in chunks.new], rows_id=rows_id)
    count_chunks(connection, added=chunks.new)
    gone = json.dumps([chunk.chunk_id for chunk in chunks.gone])
    connection.execute(SQL["remove_chunks"], {"chunk_ids": gone})
    return put_result(page, before, source_id=source_id, kept=chunks.kept)


def page_before(connection: sqlite3.Connection, page: PreparedPage) -> sqlite3.Row | None:
    """Return what is known of the page that will be replaced."""
    key = {"project": page.draft.project, "url": page.draft.url}
    row: sqlite3.Row | None = connection.execute(SQL["page_before"], key).fetchone()
    return row


def rows_of_page(connection: sqlite3.Connection, source_id: int) -> int:
    """Return the id that the page's chunks, sections, links, images and symbols have."""
    return int(connection.execute(SQL["rows_of_page"], {"source_id": source_id}).fetchone()[0])


def keep_text(
    connection: sqlite3.Connection,
    page: PreparedPage,
    before: sqlite3.Row | None,
    statement: str,
) -> None:
    """Run a statement of `KEEPING_TEXT`, if the page will have another text."""
    if before is not None and before["text_hash"] != page.text_hash:
        connection.execute(SQL[statement], KEPT_TEXTS | {"source_id": before["source_id"]})


def put_body(connection: sqlite3.Connection, page: PreparedPage, *, rows_id: int) -> None:
    """Write the text of the page."""
    connection.execute(SQL["put_page_body"], page.body | {"rows_id": rows_id})


def put_head(connection: sqlite3.Connection, page: PreparedPage) -> int:
    """Write the page's row, tags and response, and return its id.

    Raises:
        SuppliedTextRefused: the text is supplied, and a page of another origin has its URL.
    """
    row = connection.execute(SQL["put_page"], page.values).fetchone()
    if row is None:
        raise SuppliedTextRefused("a page of this URL was fetched or read from a file")
    key: dict[str, Any] = {"source_id": int(row[0])}
    connection.execute(SQL["remove_tags"], key)
    tags = [(key["source_id"], tag) for tag in page.draft.tags]
    connection.executemany(SQL["put_tag"], tags)
    if page.response is None:
        connection.execute(SQL["drop_response"], key)
    else:
        connection.execute(SQL["put_response"], adapt_values(page.response | key))
    return int(key["source_id"])


def put_result(
    page: PreparedPage, before: sqlite3.Row | None, *, source_id: int, kept: int
) -> PutResult:
    """Return what became of the page, `kept` of whose chunks were there before."""
    return PutResult(
        source_id=source_id,
        created=before is None,
        text_changed=before is None or before["text_hash"] != page.text_hash,
        chunks=len(page.chunks),
        chunks_kept=kept,
    )


def _compare_chunks(
    connection: sqlite3.Connection, page: PreparedPage, before: sqlite3.Row | None
) -> ChunkChanges:
    chunks_before = _stored_chunks(connection, before)
    stored: defaultdict[str, list[StoredChunk]] = defaultdict(list)
    for old in reversed(chunks_before):
        stored[old.embedded_text].append(old)
    same_title = before is not None and before["title"] == page.draft.extracted.title
    new: list[PreparedChunk] = []
    kept: list[tuple[StoredChunk, PreparedChunk]] = []
    reworded: list[tuple[StoredChunk, PreparedChunk]] = []
    same: list[tuple[PreparedChunk, int | None]] = []
    for chunk in page.chunks:
        alike = stored.get(chunk.embedded_text)
        same.append((chunk, alike[-1].chunk_id if alike else None))
        if not alike:
            new.append(chunk)
        elif same_title and alike[-1].reads_as(chunk):
            kept.append((alike.pop(), chunk))
        else:
            reworded.append((alike.pop(), chunk))
    gone = [chunk for chunks in stored.values() for chunk in chunks]
    kept += reworded
    return ChunkChanges(
        new=new,
        gone=gone,
        kept=len(kept),
        moved=[(*chunk.place, old.chunk_id) for old, chunk in kept if old.place != chunk.place],
        reworded=[(old.chunk_id, chunk) for old, chunk in reworded],
        stored=chunks_before,
        same=same,
    )


def _stored_chunks(connection: sqlite3.Connection, page: sqlite3.Row | None) -> list[StoredChunk]:
    if page is None:
        return []
    cursor = connection.cursor()
    cursor.row_factory = None
    rows = cursor.execute(SQL["chunks_before"], {"rows_id": page["rows_id"]})
    return [StoredChunk(*row) for row in rows]


def _put_kept_chunks(connection: sqlite3.Connection, changes: ChunkChanges) -> None:
    """Write where kept chunks lie now, and reindex those whose words may differ."""
    connection.executemany(SQL["move_chunk"], changes.moved)
    # All rows before all words, as in `add_chunks`.
    connection.executemany(
        SQL["reword_chunk"],
        [
            (chunk.words.total, chunk.heading_path, chunk.text, chunk_id)
            for chunk_id, chunk in changes.reworded
        ],
    )
    connection.executemany(SQL["remove_words"], [(chunk_id,) for chunk_id, _ in changes.reworded])
    _add_words(connection, changes.reworded)


def add_chunks(
    connection: sqlite3.Connection,
    chunks: Sequence[tuple[PreparedChunk, int | None]],
    *,
    rows_id: int,
) -> None:
    """Write chunks with their words, each with the vector of the one whose id comes with it.

    They are not counted yet.
    """
    first_id: int = connection.execute(SQL["next_chunk_id"]).fetchone()[0]
    numbered = list(enumerate(chunks, first_id))
    # All rows before all words: a statement between two words makes the word index write out what
    # it has gathered, which takes four times as long as the row.
    connection.executemany(
        SQL["add_chunk"],
        [
            (
                *(chunk_id, rows_id, *chunk.place, chunk.words.total),
                *(chunk.heading_path, chunk.text, chunk.embedded_text, same_id),
            )
            for chunk_id, (chunk, same_id) in numbered
        ],
    )
    _add_words(connection, [(chunk_id, chunk) for chunk_id, (chunk, _) in numbered])


def count_chunks(
    connection: sqlite3.Connection,
    *,
    added: Sequence[PreparedChunk],
    unlisted: Sequence[StoredChunk] = (),
) -> None:
    """Count chunks that became part of the library, and those that are no longer."""
    words = sum(chunk.words.total for chunk in added) - sum(chunk.words for chunk in unlisted)
    values = {"chunks": len(added) - len(unlisted), "words": words}
    connection.execute(SQL["count_chunks"], values)


def _add_words(
    connection: sqlite3.Connection, numbered: Sequence[tuple[int, PreparedChunk]]
) -> None:
    connection.executemany(
        SQL["add_words"],
        [(chunk_id, chunk.words.heading, chunk.words.body) for chunk_id, chunk in numbered],
    )
