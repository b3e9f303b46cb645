"""Writing and deleting large pages in short transactions, so that no other writer waits long.

While a page is written, readers see its new text with some of its chunks and links missing, never
two texts mixed. Until the last transaction the page's row has a negative number instead of the
extractor's version, and no ETag: it counts as stale and as read by an older extractor, so whatever
cuts the writing off, the next call that needs the page or the next start of a server mends it. The
number is random and tells two writers of one page apart; the later one goes on.
"""

from __future__ import annotations

import secrets
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import anyio

from citewell.core.errors import StoreBusy, SuppliedTextRefused
from citewell.store.sqlite import put
from citewell.store.sqlite.mentions import put_mentions
from citewell.store.sqlite.session import SQL
from citewell.store.symbols import symbol_rows

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence

    from citewell.core.records import Chunk, PageDraft
    from citewell.core.storage import PutResult
    from citewell.store.sqlite.connection import Database
    from citewell.store.word_index import WordIndex

Item = TypeVar("Item")

# Some 40 ms of CPU each.
_CHUNKS_AT_ONCE = 1_000
_LINKS_AT_ONCE = 8_000
# SQLite looks for the lock that another process holds every 1 to 25 ms, later less often.
_PAUSE_SECONDS = 0.02
_LARGEST_CLAIM = 2**62


async def put_in_slices(
    database: Database,
    draft: PageDraft,
    *,
    response: dict[str, object] | None,
    index: WordIndex,
) -> PutResult:
    """Write a page and return what became of it; a caller that is cancelled waits for it.

    Raises:
        StoreBusy: another process began to write or delete the same page.
        SuppliedTextRefused: the text is supplied, and a page of another origin has its URL.
    """
    return await _SlicedPut(database, draft, response=response, index=index).run()


async def delete_in_slices(database: Database, source_id: int) -> None:
    """Delete most chunks of a large page, so that deleting the rest is quick."""
    key = {"source_id": source_id}

    def list_chunks(connection: sqlite3.Connection) -> list[int]:
        return [row[0] for row in connection.execute(SQL["chunk_ids_of_page"], key)]

    chunk_ids = await database.read(list_chunks)
    for part in _slices(chunk_ids[_CHUNKS_AT_ONCE:], _CHUNKS_AT_ONCE):
        await database.write(partial(put.remove_chunks, chunk_ids=part))
        await anyio.sleep(_PAUSE_SECONDS)


class _SlicedPut:
    """One page on its way into the database."""

    def __init__(
        self,
        database: Database,
        draft: PageDraft,
        *,
        response: dict[str, object] | None,
        index: WordIndex,
    ) -> None:
        self._database = database
        self._draft = draft
        self._response = response
        self._index = index
        self._claim = -1 - secrets.randbelow(_LARGEST_CLAIM)

    async def run(self) -> PutResult:
        with anyio.CancelScope(shield=True):
            source_id = await self._database.write(self._claim_page)
            kept, new = await self._make_room(source_id)
            head = await self._database.write(partial(self._switch, kept=kept))
            await self._add(head, kept, new)
            await self._database.write(partial(self._finish, source_id=head.source_id))
        return head.result(self._draft, kept=len(kept))

    async def _make_room(
        self, source_id: int | None
    ) -> tuple[list[tuple[Chunk, sqlite3.Row]], list[Chunk]]:
        """Remove what the page loses, and return the chunks that it keeps and those to add."""
        if source_id is None:
            return [], list(self._draft.chunks)
        changes = await self._database.read(
            partial(put.compare_chunks, draft=self._draft, source_id=source_id)
        )
        # A chunk whose own text changed cannot wait for its turn to be written anew.
        kept = [pair for pair in changes.kept if put.has_same_words(*pair)]
        kept_ids = {old["chunk_id"] for _, old in kept}
        kept_ordinals = {chunk.ordinal for chunk, _ in kept}
        replaced = [old["chunk_id"] for _, old in changes.kept]
        await self._remove(
            source_id, [at for at in (*changes.gone, *replaced) if at not in kept_ids]
        )
        return kept, [each for each in self._draft.chunks if each.ordinal not in kept_ordinals]

    def _claim_page(self, connection: sqlite3.Connection) -> int | None:
        """Mark the page that is there as being written, and return its id."""
        draft = self._draft
        key = {"project": draft.project, "url": draft.url}
        is_supplied = draft.fetched.origin == "supplied"
        if is_supplied and connection.execute(SQL["has_fetched_page"], key).fetchone()[0]:
            raise SuppliedTextRefused("a page of this URL was fetched or read from a file")
        before = put.page_before(connection, draft)
        if before is None:
            return None
        source_id = int(before["source_id"])
        connection.execute(SQL["claim_page"], {"source_id": source_id, "claim": self._claim})
        return source_id

    def _switch(
        self, connection: sqlite3.Connection, kept: Sequence[tuple[Chunk, sqlite3.Row]]
    ) -> put.PageHead:
        """Replace the text, with all that has an offset into it."""
        before = put.page_before(connection, self._draft)
        if before is not None:
            self._check_claim(connection, int(before["source_id"]))
        marks = {"extractor": self._claim, "etag": None, "last_modified": None}
        head = put.put_head(connection, self._draft, before, marks)
        connection.execute(SQL["remove_symbols"], {"source_id": head.source_id})
        put.move_chunks(connection, kept)
        put.put_response(connection, self._response, source_id=head.source_id)
        return head

    async def _remove(self, source_id: int, gone: Sequence[int]) -> None:
        write = partial(self._write, source_id)
        for part in _slices(gone, _CHUNKS_AT_ONCE):
            await write(partial(put.remove_chunks, chunk_ids=part))
        links = await self._database.read(partial(_count_links, source_id=source_id))
        for first in range(0, links, _LINKS_AT_ONCE):
            before = first + _LINKS_AT_ONCE
            await write(partial(_remove_links, source_id=source_id, before=before))

    async def _add(
        self,
        head: put.PageHead,
        kept: Sequence[tuple[Chunk, sqlite3.Row]],
        new: Sequence[Chunk],
    ) -> None:
        write = partial(self._write, head.source_id)
        index = self._index
        for part in _slices(new, _CHUNKS_AT_ONCE):
            await write(partial(put.add_chunks, chunks=part, source_id=head.source_id, index=index))
        for pairs in _slices([] if head.same_title else kept, _CHUNKS_AT_ONCE):
            await write(partial(_reword_chunks, kept=pairs, index=index))
        for first in range(0, len(self._draft.extracted.links), _LINKS_AT_ONCE):
            await write(
                partial(
                    put.put_links,
                    draft=self._draft,
                    source_id=head.source_id,
                    first=first,
                    end=first + _LINKS_AT_ONCE,
                )
            )

    def _finish(self, connection: sqlite3.Connection, source_id: int) -> None:
        self._check_claim(connection, source_id)
        connection.executemany(SQL["add_symbol"], symbol_rows(self._draft, source_id))
        put_mentions(connection, self._draft, source_id=source_id)
        values = {
            "source_id": source_id,
            "extractor": self._draft.extractor,
            "etag": self._draft.fetched.etag,
            "last_modified": self._draft.fetched.last_modified,
        }
        connection.execute(SQL["finish_page"], values)

    async def _write(self, source_id: int, work: Callable[[sqlite3.Connection], object]) -> None:
        """Run `work` in a transaction of its own, and let others write before the next."""

        def checked(connection: sqlite3.Connection) -> None:
            self._check_claim(connection, source_id)
            work(connection)

        await self._database.write(checked)
        await anyio.sleep(_PAUSE_SECONDS)

    def _check_claim(self, connection: sqlite3.Connection, source_id: int) -> None:
        values = {"source_id": source_id, "claim": self._claim}
        if not connection.execute(SQL["is_claimed"], values).fetchone()[0]:
            raise StoreBusy("another process began to write or delete the page")


def _count_links(connection: sqlite3.Connection, source_id: int) -> int:
    return int(connection.execute(SQL["count_links"], {"source_id": source_id}).fetchone()[0])


def _remove_links(connection: sqlite3.Connection, source_id: int, before: int) -> None:
    connection.execute(SQL["remove_some_links"], {"source_id": source_id, "before": before})


def _reword_chunks(
    connection: sqlite3.Connection,
    kept: Sequence[tuple[Chunk, sqlite3.Row]],
    index: WordIndex,
) -> None:
    for chunk, old in kept:
        put.reword_chunk(connection, chunk, chunk_id=old["chunk_id"], index=index)


def _slices(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for first in range(0, len(items), size):
        yield items[first : first + size]
