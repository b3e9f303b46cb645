"""Remember the citations that are handed out, without making callers wait."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import anyio

from citewell.core.citations import CitationDraft
from citewell.core.errors import StoreError
from citewell.core.frozen import frozen
from citewell.core.ids import citation_id
from citewell.core.redaction import redact
from citewell.core.text import one_line
from citewell.core.write_behind import WriteBehind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citewell.core.records import Caller, Quote
    from citewell.store.citations import CitationStore

logger = logging.getLogger(__name__)

MOST_CITATIONS = 20_000
"""Per owner; the oldest are forgotten first."""

_QUESTION_CHARACTERS = 300
_NAME_CHARACTERS = 80
# Of a long quote, its beginning and its id are enough to judge it again.
_QUOTE_CHARACTERS = 5_000
# Reached only after a long failure of the store; then the oldest are dropped.
_MOST_WAITING = 10_000
_DAY_SECONDS = 86_400.0


@frozen
class CitedQuote:
    """A slice of a page as a tool returned it."""

    source_id: int
    page_hash: str
    start: int
    text: str
    section: str = ""

    @property
    def citation_id(self) -> str:
        """The id that the quote is cited by."""
        return citation_id(self.source_id, self.page_hash, self.start, self.start + len(self.text))

    @classmethod
    def of(cls, quote: Quote) -> CitedQuote:
        """Return the slice that a quote of a research result cites."""
        return cls(
            source_id=quote.source_id,
            page_hash=quote.page_hash,
            start=quote.start,
            text=quote.text,
            section=quote.heading_path[-1] if quote.heading_path else "",
        )


class CitationMemory:
    """Remembers what is handed out; `remember` neither waits nor fails."""

    def __init__(self, store: CitationStore, *, keep_days: int, keeps_questions: bool) -> None:
        self._store = store
        self._keep_days = keep_days
        self._keeps_questions = keeps_questions
        self._waiting = WriteBehind(self._write, what="citations", most=_MOST_WAITING)

    @property
    def is_on(self) -> bool:
        """Whether citations are remembered at all."""
        return self._keep_days > 0

    def remember(
        self,
        quotes: Iterable[CitedQuote],
        *,
        caller: Caller,
        tool: str,
        question: str,
        is_shown_again: bool = False,
    ) -> None:
        """Remember the quotes that a tool returned to a caller for a question.

        Those that are only shown again are remembered if they are new, and not counted otherwise.
        """
        # Callers without a key share one owner, and would see each other's questions.
        if not self.is_on or not (caller.key_hash or caller.is_local):
            return
        asked = _storable(one_line(redact(question), limit=_QUESTION_CHARACTERS))
        now = datetime.now(UTC)
        self._waiting.add(
            CitationDraft(
                citation_id=quote.citation_id,
                source_id=quote.source_id,
                start=quote.start,
                end=quote.start + len(quote.text),
                page_hash=quote.page_hash,
                section=_storable(one_line(quote.section)),
                quote=_storable(quote.text[:_QUOTE_CHARACTERS]),
                tool=tool,
                question=asked if self._keeps_questions else "",
                owner=caller.owner,
                project=caller.project,
                user=_storable(one_line(caller.user or "", limit=_NAME_CHARACTERS)),
                agent=_storable(one_line(caller.agent or "", limit=_NAME_CHARACTERS)),
                handed_at=now,
                is_shown_again=is_shown_again,
            )
            for quote in quotes
        )

    async def keep_writing(self) -> None:
        """Keep writing what has been remembered, until cancelled."""
        await self._waiting.keep_writing()

    async def write_out(self) -> bool:
        """Write everything that waits; return False if the store failed and it still waits."""
        return await self._waiting.write_out()

    async def _write(self, drafts: list[CitationDraft]) -> None:
        with anyio.CancelScope(shield=True):
            await self._store.remember(drafts)

    async def keep_forgetting(self) -> None:
        """Drop citations that are too old or too many, once a day until cancelled."""
        while True:
            before = datetime.now(UTC) - timedelta(days=self._keep_days)
            try:
                await self._store.forget_before(before, most=MOST_CITATIONS if self.is_on else 0)
            except StoreError as error:
                logger.warning("old citations not dropped: %s", error.message)
            await anyio.sleep(_DAY_SECONDS)


def _storable(text: str) -> str:
    """Return the text as every database accepts it; a refused row would block the others."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
