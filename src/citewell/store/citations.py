"""Citations that were handed out, each belonging to one owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.citations import (
    Citation,
    CitationChange,
    CitationCounts,
    CitationToJudge,
)
from citewell.store.rows import read_record, record_values

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from citewell.core.citations import CitationDraft, Verdict
    from citewell.store.session import Database, Row, Session


class CitationStore:
    """Citations by owner and project; what belongs to another owner is as if it did not exist.

    Every method may raise StoreError. Deleting a page forgets its citations; `mark_gone` keeps
    those of a page that the site itself removed, and `mark_missing` those of its copy.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def remember(self, drafts: Sequence[CitationDraft]) -> None:
        """Remember citations; one handed out again for the same question is counted."""
        rows = [record_values(draft) for draft in drafts]
        await self._database.transaction(lambda session: session.execute_many("put_citation", rows))

    async def list_citations(
        self,
        owner: str,
        *,
        project: str,
        limit: int,
        verdict: Verdict | None = None,
        offset: int = 0,
        matching: str | None = None,
    ) -> list[Citation]:
        """Return the owner's citations, newest first, without the first `offset`.

        `matching` is a part of the question, the title, the URL or the quote, in any case.
        """
        values = {
            "owner": owner,
            "project": project,
            "limit": limit,
            "verdict": verdict,
            "offset": offset,
            "matching": matching.lower() if matching else None,
        }
        rows = await self._database.fetch_all("list_citations", values)
        return [_citation(row) for row in rows]

    async def citations_of_page(
        self, source_id: int, *, owner: str, project: str, limit: int
    ) -> list[Citation]:
        """Return the owner's citations of a page, one for each question, newest first."""
        values = {"source_id": source_id, "owner": owner, "project": project, "limit": limit}
        rows = await self._database.fetch_all("citations_of_page", values)
        return [_citation(row) for row in rows]

    async def count_citations(self, owner: str, *, project: str) -> CitationCounts:
        """Return how many quotes are remembered, by what became of them."""
        values = {"owner": owner, "project": project}
        rows = await self._database.fetch_all("count_citations", values)
        return CitationCounts(
            by_verdict={row["verdict"]: row["citations"] for row in rows},
            waiting=sum(row["waiting"] for row in rows),
        )

    async def list_to_judge(self, *, limit: int) -> list[CitationToJudge]:
        """Return quotes of pages that changed since they were judged, page by page."""
        rows = await self._database.fetch_all("citations_to_judge", {"limit": limit})
        return [read_record(CitationToJudge, row) for row in rows]

    async def judge(
        self,
        citation: CitationToJudge,
        verdict: Verdict,
        *,
        difference: str,
        page_hash: str,
        now: datetime,
    ) -> bool:
        """Record what became of a quote in the text with `page_hash`.

        Returns False, and records nothing, when the page has another text by now.
        """
        values = {
            "source_id": citation.source_id,
            "citation_id": citation.citation_id,
            "verdict": verdict,
            "difference": difference,
            "judged_at": now,
            "judged_hash": page_hash,
        }
        return await self._database.execute("judge_citation", values) > 0

    async def mark_gone(self, source_id: int, *, now: datetime) -> None:
        """Record that the site removed a page; call it before the page is deleted."""
        values = {"source_id": source_id, "judged_at": now}
        await self._database.execute("detach_citations", values)

    async def mark_missing(self, source_id: int, *, now: datetime) -> None:
        """Record that the site has a page no more whose copy is kept; its citations are gone."""
        values = {"source_id": source_id, "missing_at": now}

        async def work(session: Session) -> None:
            await session.execute("mark_page_missing", values)
            await session.execute("lose_citations", values)

        await self._database.transaction(work)

    async def mark_found(self, source_id: int) -> bool:
        """Record that a page was fetched; return whether it was missing before."""
        return await self._database.execute("mark_page_found", {"source_id": source_id}) > 0

    async def attach(self) -> None:
        """Return the citations of pages that their sites had removed to pages that are back."""
        await self._database.execute("attach_citations")

    async def take_changes(self) -> list[CitationChange]:
        """Return the quotes whose verdicts changed, each change to one caller only."""

        async def work(session: Session) -> list[CitationChange]:
            rows = await session.fetch_all("take_unreported_citations")
            changes = {read_record(CitationChange, row) for row in rows}
            # The same quote may have been handed out to several owners, for several questions.
            return sorted(changes, key=lambda change: (change.url, change.citation_id))

        return await self._database.transaction(work)

    async def forget_before(self, before: datetime, *, most: int) -> int:
        """Forget citations handed out before a time, and all but the newest of each owner.

        Returns how many were forgotten.
        """

        async def work(session: Session) -> int:
            old = await session.execute("forget_citations_before", {"before": before})
            return old + await session.execute("forget_oldest_citations", {"most": most})

        return await self._database.transaction(work)

    async def forget(self, owner: str, *, project: str) -> int:
        """Forget all citations of an owner; return how many there were."""
        values = {"owner": owner, "project": project}
        return await self._database.execute("forget_citations_of", values)


def _citation(row: Row) -> Citation:
    return read_record(Citation, row, user=row["user_name"])
