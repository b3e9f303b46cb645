"""Citations that were handed out: who got which quote, and whether its page still says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

Verdict = Literal["exact", "moved", "changed", "gone"]
"""What became of a quote, from the best to the worst."""

VERDICTS: tuple[Verdict, ...] = ("exact", "moved", "changed", "gone")


@frozen
class CitationDraft:
    """A quote that is being handed out to a caller."""

    citation_id: str
    source_id: int
    start: int
    end: int
    page_hash: str
    section: str
    quote: str
    tool: str
    question: str
    """Empty where questions are not kept."""
    owner: str
    project: str
    user: str
    agent: str
    handed_at: datetime
    is_shown_again: bool = False
    """Whether one of the same question stays as it is: a person reloaded an answer."""


@frozen
class Citation:
    """A quote that was handed out for a question, and what became of it."""

    citation_id: str
    source_id: int | None
    """None when the site removed the page."""
    url: str
    title: str
    section: str
    start: int
    end: int
    quote: str
    tool: str
    question: str
    user: str
    agent: str
    times: int
    """How often it was handed out for this question."""
    handed_at: datetime
    """When it was handed out last."""
    verdict: Verdict
    difference: str
    """The edits from the quote to the page where it has changed."""
    judged_at: datetime | None
    """None while the page is as it was quoted."""


@frozen
class CitationToJudge:
    """A quote of a page that has changed since the quote was last checked."""

    citation_id: str
    source_id: int
    start: int
    quote: str


@frozen
class CitationCounts:
    """How many quotes of an owner are remembered, by what became of them."""

    by_verdict: Mapping[Verdict, int]
    waiting: int = 0
    """How many of them are of pages that changed and were not checked yet."""

    @property
    def total(self) -> int:
        """How many there are."""
        return sum(self.by_verdict.values())

    def as_numbers(self) -> dict[str, int]:
        """Return the counts by name, without those that are zero."""
        numbers = {verdict: self.by_verdict.get(verdict, 0) for verdict in VERDICTS}
        return {
            name: count for name, count in (*numbers.items(), ("waiting", self.waiting)) if count
        }


@frozen
class CitationChange:
    """A quote whose verdict has changed, as it is reported to everyone who listens."""

    citation_id: str
    project: str
    url: str
    verdict: Verdict
