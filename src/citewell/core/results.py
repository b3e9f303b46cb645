"""What a research run is asked, and what it brings back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from citewell.core.frozen import frozen
from citewell.core.records import SearchFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import Block, Intent, Quote

Mode = Literal["chunk", "full_context"]
Detail = Literal["quotes", "passages", "brief"]
"""The sentences that answer; the blocks around them; or both, with images and the trace."""

StopReason = Literal[
    "answered",
    "answered in part",
    "score plateau",
    "expansion budget is used up",
    "maximum depth",
    "page limit is reached",
    "no promising links",
    "time is up",
    "expansion is off",
    "search does not follow links",
]


@frozen
class Question:
    """What the caller wants to know, of which pages."""

    urls: tuple[str, ...]
    query: str
    project: str
    intent: Intent | None = None
    """Inferred when None."""
    known_context: str = ""
    constraints: tuple[str, ...] = ()
    expansion_budget: int | None = None
    """Rounds of link following; None lets the engine decide."""
    within: SearchFilter | None = None
    """Stored pages that may be searched; those of the project when None."""
    tags: tuple[str, ...] = ()
    """What pages that are ingested for it are tagged with."""
    url_prefixes: tuple[str, ...] = ()
    """Where links may lead; anywhere when empty."""
    detail: Detail = "quotes"

    def pages(self, source_ids: Sequence[int] | None = None) -> SearchFilter:
        """Return the filter of the pages it may see: all, or those of `source_ids`."""
        within = self.within or SearchFilter(project=self.project)
        if source_ids is None:
            return within
        allowed = within.source_ids
        seen = [page for page in source_ids if allowed is None or page in allowed]
        return replace(within, source_ids=tuple(seen))


@dataclass(slots=True, kw_only=True)
class Timing:
    """Milliseconds that a run has spent, by stage; counted while it goes on."""

    total_ms: float = 0.0
    ingest_ms: float = 0.0
    query_analysis_ms: float = 0.0
    retrieval_ms: float = 0.0
    reranking_ms: float = 0.0
    expansion_ms: float = 0.0
    locality_ms: float = 0.0
    merge_ms: float = 0.0


@frozen
class ExpansionStep:
    """One linked page that was tried; `parent_url` is the page that linked to it."""

    url: str
    parent_url: str
    depth: int
    chunks_added: int
    score_before: float
    score_after: float
    duration_ms: float
    failure: str | None = None


@frozen
class FailedUrl:
    """A URL the caller gave that could not be read, and why."""

    url: str
    reason: str
    suggestion: str


@frozen
class PageChecked:
    """A page that was searched."""

    url: str
    title: str


@frozen
class OpenLink:
    """A promising link that was not followed."""

    url: str
    text: str


@frozen
class Disagreement:
    """Two statements that give different values for the same thing; the first was found first."""

    quotes: tuple[Quote, Quote]
    values: tuple[str, str]
    newer: int | None = None
    """Which of the two is newer: 0 or 1, by version or date; None where neither says."""
    newer_by: str = ""
    """What shows it, such as two versions."""
    more_specific: int | None = None
    """Which of the two stands under headings that name more of what was asked."""


@frozen
class OrchestrationResult:
    """Everything a brief is made of."""

    query: str
    intent: Intent
    sub_queries: tuple[str, ...]
    mode: Mode
    answered: bool
    quotes: tuple[Quote, ...]
    """Best first."""
    blocks: tuple[Block, ...] = ()
    """Best first; only where the question asks for the whole brief."""
    omitted: int = 0
    """Pieces of evidence that were left out to fit a budget."""
    seeds: tuple[str, ...] = ()
    """The given pages that were read, by the URL they ended at."""
    steps: tuple[ExpansionStep, ...] = ()
    stop_reason: StopReason
    documents_searched: int
    documents_matched: int
    chunks_evaluated: int
    iterations: int = 0
    expansion_budget: int | None = None
    max_depth: int = 0
    urls_ingested: int
    timing: Timing
    failures: tuple[FailedUrl, ...] = ()
    notes: tuple[str, ...] = ()
    """What was degraded on the way: vectors missing, a stale page kept, time nearly up."""
    cautions: tuple[str, ...] = ()
    """What the question asks for and nothing found holds; to be read before the evidence."""
    disagreements: tuple[Disagreement, ...] = ()
    """Where sources, versions or sections give different values for the same thing."""
    partial: bool = False
    index_url: str | None = None
    """A given page that is mostly links, where nothing supports the question."""
    checked: tuple[PageChecked, ...] = ()
    """The pages searched, where nothing supports the question."""
    open_links: tuple[OpenLink, ...] = ()
    """The most promising links not followed, where nothing supports the question."""
