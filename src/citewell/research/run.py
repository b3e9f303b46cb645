"""One research run: ingest, retrieve, judge, follow links, and stop for a reason."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from citewell.core.errors import CitewellError
from citewell.core.records import SearchFilter
from citewell.core.results import ExpansionStep, Progress
from citewell.core.text import one_line
from citewell.research.evidence import weigh_blocks
from citewell.research.frontier import Frontier
from citewell.research.judge import KNOWN_MODEL, SETTLED, SUPPORTED, support
from citewell.retrieve.pipeline import retrieve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import Block, RankedChunk
    from citewell.core.results import OnProgress, Phase, Question, StopReason
    from citewell.inference.protocols import Embedder, Reranker
    from citewell.ingest.pipeline import Ingester, IngestOutcome
    from citewell.research.analyse import QueryAnalysis
    from citewell.research.frontier import Lead
    from citewell.retrieve.pipeline import Retrieval
    from citewell.store.protocol import Store

logger = logging.getLogger(__name__)

# A link must look this promising to be followed when the question lacks support …
_PROMISING = 0.16
# … and this promising, standing in the evidence itself, when it already has support.
_COMPELLING = 0.42
_COMPELLING_PAGES = 2
_SHOWN_SO_FAR = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a run works with."""

    store: Store
    ingester: Ingester
    embedder: Embedder | None
    reranker: Reranker | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far a run may go."""

    max_blocks: int
    max_depth: int
    pages_per_round: int
    max_pages: int
    full_context_tokens: int


@dataclass(slots=True, kw_only=True)
class Spent:
    """Milliseconds spent so far, by stage."""

    analysis_ms: float = 0.0
    ingest_ms: float = 0.0
    retrieval_ms: float = 0.0
    reranking_ms: float = 0.0
    expansion_ms: float = 0.0
    locality_ms: float = 0.0
    merge_ms: float = 0.0


@dataclass(slots=True, kw_only=True)
class ResearchRun:
    """The state of one run; `gather` may be cancelled at any moment and what it has stays."""

    parts: Parts
    limits: Limits
    max_blocks: int
    question: Question
    analysis: QueryAnalysis
    on_progress: OnProgress
    started: float
    """Of time.monotonic()."""
    outcomes: list[IngestOutcome] = field(default_factory=list)
    source_ids: list[int] = field(default_factory=list)
    followed: list[int] = field(default_factory=list)
    steps: list[ExpansionStep] = field(default_factory=list)
    frontier: Frontier = field(default_factory=Frontier)
    blocks: list[Block] = field(default_factory=list)
    found: Retrieval | None = None
    supports: dict[str, float] = field(default_factory=dict)
    """How likely each sub-query is to be supported by what was found."""
    documents_searched: int = 0
    notes: list[str] = field(default_factory=list)
    iterations: int = 0
    stop_reason: StopReason = "time is up"
    spent: Spent = field(default_factory=Spent)

    async def gather(self) -> None:
        """Ingest the given pages, then retrieve and follow links until there is reason to stop."""
        await self._ingest_seeds()
        if not self.source_ids:
            return
        await self.search()
        self.stop_reason = await self._expand()

    async def search_stored(self) -> None:
        """Retrieve over the stored pages of the question's URLs, or over all when it has none."""
        self.stop_reason = "search does not follow links"
        if not self.question.urls:
            await self._search(SearchFilter(project=self.question.project))
            return
        for url in self.question.urls:
            page = await self.parts.ingester.find_page(url, project=self.question.project)
            if page is not None:
                self.source_ids.append(page.source_id)
            else:
                self.notes.append(f"{url} is not indexed; call answer or ingest with it.")
        await self.search()

    async def search(self) -> None:
        """Retrieve over the pages of this run and weigh what is found."""
        source_ids = tuple(self.source_ids)
        await self._search(SearchFilter(project=self.question.project, source_ids=source_ids))

    async def _search(self, where: SearchFilter) -> None:
        self.documents_searched = (await self.parts.store.corpus_stats(where)).pages
        await self._tell("retrieval", f"Searching {self.documents_searched} documents...")
        found = await retrieve(
            self.question.query,
            store=self.parts.store,
            embedder=self.parts.embedder,
            reranker=self.parts.reranker,
            where=where,
            limit=2 * self.max_blocks,
            sub_queries=self.analysis.sub_queries,
        )
        await self._tell("reranking", f"Reranking {found.chunks_evaluated} chunks...")
        self.spent.retrieval_ms += found.retrieval_ms
        self.spent.reranking_ms += found.reranking_ms
        self.spent.locality_ms += found.locality_ms
        self.spent.merge_ms += found.merge_ms
        self.found = found
        self.supports = self._judge(found)
        self.blocks = weigh_blocks(found.blocks, self.analysis)
        await self._tell_evidence()

    def unsupported(self) -> list[str]:
        """Return the sub-queries that nothing found so far supports."""
        return [query for query in self.analysis.sub_queries if self._support(query) < SUPPORTED]

    def unsettled(self) -> list[str]:
        """Return the sub-queries for which more evidence is worth a fetch."""
        return [query for query in self.analysis.sub_queries if self._support(query) < SETTLED]

    def _support(self, query: str) -> float:
        return self.supports.get(query, 0.0)

    def _judge(self, found: Retrieval) -> dict[str, float]:
        embedder = self.parts.embedder
        known = embedder is not None and embedder.name == KNOWN_MODEL
        return {
            query: support(
                query,
                _own_first(query, found),
                cosine=found.best_cosines.get(query) if known else None,
            )
            for query in self.analysis.sub_queries
        }

    async def _ingest_seeds(self) -> None:
        started = time.monotonic()
        self.outcomes = await self.parts.ingester.ingest_all(
            list(dict.fromkeys(self.question.urls)),
            project=self.question.project,
            on_progress=self.on_progress,
        )
        for outcome in self.outcomes:
            if outcome.page is not None and outcome.page.source_id not in self.source_ids:
                await self._add_page(outcome.page.source_id, depth=0)
        self.spent.ingest_ms = (time.monotonic() - started) * 1000

    async def _add_page(self, source_id: int, *, depth: int) -> None:
        page = await self.parts.store.get_page(source_id)
        if page is not None:
            self.source_ids.append(source_id)
            self.frontier.add_page(page, depth=depth)

    async def _expand(self) -> StopReason:
        budget = self.question.expansion_budget
        if budget == 0:
            return "expansion is off"
        rounds = self.limits.max_depth if budget is None else budget
        while True:
            leads = self._next_leads()
            if not leads:
                return self._why_no_leads()
            if self.iterations >= rounds:
                return "expansion budget is used up"
            if len(self.followed) >= self.limits.max_pages:
                return "page limit is reached"
            self.iterations += 1
            message = f"Expanding to linked pages (iteration {self.iterations}/{rounds})..."
            await self._tell("expansion", message)
            before = self._score()
            await self._follow(leads)
            if not self.unsupported():
                return "answered"
            if self._score() <= before and self.iterations > 1:
                return "score plateau"

    def _next_leads(self) -> list[Lead]:
        lacking = self.unsupported()
        limit = min(self.limits.pages_per_round, self.limits.max_pages - len(self.followed))
        leads = self.frontier.leads(
            lacking or self.analysis.sub_queries,
            evidence=self.blocks,
            limit=limit if lacking else min(limit, _COMPELLING_PAGES),
            max_depth=self.limits.max_depth,
        )
        if lacking:
            return [lead for lead in leads if lead.score >= _PROMISING]
        return [lead for lead in leads if lead.in_evidence and lead.score >= _COMPELLING]

    def _why_no_leads(self) -> StopReason:
        if not self.unsupported():
            return "answered"
        deepest = max((step.depth for step in self.steps), default=0)
        return "maximum depth" if deepest >= self.limits.max_depth else "no promising links"

    async def _follow(self, leads: Sequence[Lead]) -> None:
        """Fetch and ingest the pages behind `leads` side by side, then search again."""
        started = time.monotonic()
        before = self._score()
        results: dict[str, IngestOutcome | CitewellError] = {}
        durations: dict[str, float] = {}

        async def follow(lead: Lead) -> None:
            self.frontier.close(lead.url)
            begun = time.monotonic()
            await self._tell("expansion", f"Scraping {one_line(lead.url, limit=80)}...")
            try:
                results[lead.url] = await self.parts.ingester.ingest(
                    lead.url, project=self.question.project
                )
            except CitewellError as error:
                results[lead.url] = error
            durations[lead.url] = (time.monotonic() - begun) * 1000

        async with anyio.create_task_group() as tasks:
            for lead in leads:
                tasks.start_soon(follow, lead)
        for lead in leads:
            outcome = results[lead.url]
            if not isinstance(outcome, CitewellError) and outcome.page is not None:
                source_id = outcome.page.source_id
                if source_id not in self.source_ids:
                    await self._add_page(source_id, depth=lead.depth)
                    self.followed.append(source_id)
        self.spent.expansion_ms += (time.monotonic() - started) * 1000
        await self.search()
        for lead in leads:
            step = _step(lead, results[lead.url], before, self._score(), durations[lead.url])
            self.steps.append(step)

    def _score(self) -> float:
        return self.blocks[0].relevance if self.blocks else 0.0

    async def _tell(self, phase: Phase, message: str) -> None:
        await self.on_progress(Progress(phase=phase, message=message))

    async def _tell_evidence(self) -> None:
        shown = [
            f"{one_line(block.title, limit=60)}, {block.url} ({block.relevance:.2f}): "
            f"{one_line(block.text, limit=160)}"
            for block in self.blocks[:_SHOWN_SO_FAR]
        ]
        if shown:
            await self._tell("retrieval", "Evidence so far — " + " | ".join(shown))


def _own_first(query: str, found: Retrieval) -> list[RankedChunk]:
    """Return the chunks found, those that `query` itself brought first."""
    best = found.best_by_query.get(query)
    first = {best.chunk.chunk_id: best} if best is not None else {}
    own = [ranked for ranked in found.ranked if ranked.sub_query == query]
    return list((first | {each.chunk.chunk_id: each for each in (*own, *found.ranked)}).values())


def _step(
    lead: Lead,
    outcome: IngestOutcome | CitewellError,
    before: float,
    after: float,
    duration_ms: float,
) -> ExpansionStep:
    failed = isinstance(outcome, CitewellError)
    page = None if isinstance(outcome, CitewellError) else outcome.page
    return ExpansionStep(
        url=lead.url,
        parent_url=lead.parent_url,
        depth=lead.depth,
        chunks_added=page.chunks if page is not None else 0,
        score_before=before,
        score_after=before if failed else after,
        duration_ms=duration_ms,
        failure=outcome.message if isinstance(outcome, CitewellError) else None,
    )
