"""The symbols that pages define, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.symbols import find_symbols
from citewell.store.filters import allowed_pages
from citewell.store.rows import read_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import PageDraft, SearchFilter
    from citewell.store.session import Database, Session


@frozen
class StoredSymbol:
    """A symbol, and where in the text of its page the section begins that defines it."""

    source_id: int
    full_name: str
    start: int
    chunk_id: int
    product: str = ""
    """What its page documents: `npm:zod`."""


class SymbolStore:
    """Symbols by the last part of their names. Every method may raise StoreError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def symbols_named(
        self, last_names: Sequence[str], *, where: SearchFilter, limit: int
    ) -> list[StoredSymbol]:
        """Return the symbols whose last part, in lower case, is one of these."""

        async def work(session: Session) -> list[StoredSymbol]:
            allowed = await allowed_pages(session, where)
            values = {
                "last_names": [*last_names],
                "project": where.project,
                "source_ids": allowed.source_ids if allowed is not None else None,
                "limit": limit,
            }
            return [
                read_record(StoredSymbol, row, start=row["start_offset"])
                for row in await session.fetch_all("symbols_named", values)
                if row["chunk_id"] is not None
            ]

        return await self._database.view(work)

    async def count_symbols(self, source_ids: Sequence[int]) -> int:
        """Return how many symbols these pages define."""
        row = await self._database.fetch_one("count_symbols", {"source_ids": [*source_ids]})
        return 0 if row is None else int(row["symbols"])


def symbol_rows(draft: PageDraft, source_id: int) -> list[dict[str, object]]:
    """Return the rows of the symbols that a page defines."""
    return [
        {
            "source_id": source_id,
            "section": symbol.section,
            "last_name": symbol.last_name,
            "full_name": symbol.full_name,
            "start_offset": draft.extracted.sections[symbol.section].start + symbol.offset,
        }
        for symbol in find_symbols(draft.extracted)
    ]
