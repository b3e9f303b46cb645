"""Judge citations again when their pages change, and report new verdicts."""

from __future__ import annotations

import logging
from collections import Counter
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING

import anyio

from citewell.app.quote_search import look_for_quotes
from citewell.core.errors import CitewellError, ExtractionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.citations import CitationChange, CitationToJudge
    from citewell.core.records import PageText
    from citewell.events.emitter import Events
    from citewell.ingest.pipeline import Ingester
    from citewell.store.protocol import Store

logger = logging.getLogger(__name__)

# Citations read from the store at a time.
_AT_ONCE = 200
_GATHER_SECONDS = 0.5
_REPORTED_IDS = 50
_DIFFERENCE_CHARACTERS = 2_000
# How long judging may go on when the program stops; the next start does the rest.
CLOSING_SECONDS = 5.0


class CitationWatch:
    """Judges the citations of changed pages; its queue is in the store and survives a crash."""

    def __init__(self, store: Store, events: Events) -> None:
        self._store = store
        self._events = events
        self._something_changed = anyio.Event()
        self._is_behind = False

    def wake(self) -> None:
        """Ask for citations to be judged soon."""
        self._is_behind = True
        self._something_changed.set()

    async def keep_judging(self, ingester: Ingester) -> None:
        """Judge the citations of pages as they change, until cancelled."""
        while True:
            await self._something_changed.wait()
            self._something_changed = anyio.Event()
            await anyio.sleep(_GATHER_SECONDS)
            await self._catch_up(ingester)

    async def finish(self, ingester: Ingester) -> None:
        """Judge what is still waiting, within CLOSING_SECONDS."""
        if self._is_behind:
            with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSING_SECONDS):
                await self._catch_up(ingester)

    async def _catch_up(self, ingester: Ingester) -> None:
        self._is_behind = False
        is_done = False
        try:
            await self.judge_all(ingester)
            is_done = True
        except CitewellError as error:
            logger.warning("citations not judged yet: %s", error.message)
        finally:
            self._is_behind |= not is_done

    async def judge_all(self, ingester: Ingester) -> None:
        """Judge all citations of changed pages, and report those whose verdict changed.

        Raises:
            StoreError: the store failed; the rest is judged next time.
        """
        await self._store.citations.attach()
        judged: set[tuple[str, str]] = set()
        while waiting := await self._store.citations.list_to_judge(limit=_AT_ONCE):
            texts = await self._store.page_texts(list({citation.source_id for citation in waiting}))
            # A page that changes faster than it is judged waits for its next change.
            new = [
                citation
                for citation in waiting
                if citation.source_id in texts
                and (citation.citation_id, texts[citation.source_id].info.text_hash) not in judged
            ]
            if not new:
                break
            for source_id, of_page in groupby(new, key=lambda citation: citation.source_id):
                try:
                    await self._judge_page(texts[source_id], list(of_page), ingester)
                except ExtractionError as error:
                    # One page's failure does not keep the others from being judged.
                    logger.warning("citations of a page not judged: %s", error.message)
            judged |= {
                (citation.citation_id, texts[citation.source_id].info.text_hash) for citation in new
            }
        self._report(await self._store.citations.take_changes())

    async def _judge_page(
        self, page: PageText, citations: Sequence[CitationToJudge], ingester: Ingester
    ) -> None:
        sandbox = ingester.sandbox
        results = await look_for_quotes(
            [(citation.quote, citation.start) for citation in citations], page.text, sandbox=sandbox
        )
        missing = [
            citation.quote
            for citation, result in zip(citations, results, strict=True)
            if result.verdict in ("changed", "gone")
        ]
        whole = await _whole_text(page, ingester) if missing else None
        outside = await look_for_quotes(
            [(quote, None) for quote in missing if whole is not None], whole or "", sandbox=sandbox
        )
        elsewhere = {
            quote
            for quote, result in zip(missing, outside, strict=False)
            if result.verdict == "exact"
        }
        for citation, result in zip(citations, results, strict=True):
            has_moved = citation.quote in elsewhere
            await self._store.citations.judge(
                citation,
                "moved" if has_moved else result.verdict,
                difference="" if has_moved else (result.difference or "")[:_DIFFERENCE_CHARACTERS],
                page_hash=page.info.text_hash,
                now=datetime.now(UTC),
            )

    def _report(self, changes: Sequence[CitationChange]) -> None:
        """Emit one event per page; it names citations, not their owners or their words."""
        for (project, url), group in groupby(
            changes, key=lambda change: (change.project, change.url)
        ):
            of_page = list(group)
            verdicts = Counter(change.verdict for change in of_page)
            self._events.emit(
                "CitationsChanged",
                project=project,
                url=url,
                exact=verdicts["exact"],
                moved=verdicts["moved"],
                changed=verdicts["changed"],
                gone=verdicts["gone"],
                citations={
                    change.citation_id: change.verdict for change in of_page[:_REPORTED_IDS]
                },
            )


async def _whole_text(page: PageText, ingester: Ingester) -> str | None:
    """Return the whole text of a page, furniture included; None if it is not available."""
    try:
        return await ingester.read_whole_text(page.info)
    except CitewellError as error:
        logger.warning("only the main text of %s was looked at: %s", page.info.url, error.message)
        return None
