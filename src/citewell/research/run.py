"""One research run: ingest, retrieve, judge, follow links, and stop for a reason."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import anyio

from citewell.core.boundary import label, mark
from citewell.core.errors import CitewellError, InferenceError
from citewell.core.off_loop import in_thread
from citewell.core.progress import OnProgress, Phase, Progress
from citewell.core.results import ExpansionStep, Question, StopReason, Timing
from citewell.core.text import one_line
from citewell.ingest.outcome import IngestOutcome
from citewell.research.frontier import Frontier, Need
from citewell.research.read_path import judge_parts
from citewell.research.site_pages import search_site
from citewell.research.source_urls import find_named_pages
from citewell.research.support import KNOWN_MODEL
from citewell.research.weigh import weigh_by_wishes
from citewell.retrieve.pipeline import Models, Options, retrieve
from citewell.web.asked_for import asked_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import RankedChunk, SearchFilter
    from citewell.research.analyse import QueryAnalysis
    from citewell.research.frontier import Lead
    from citewell.research.parts import Limits, Parts
    from citewell.research.read_path import JudgedPart
    from citewell.research.support import Judgement
    from citewell.retrieve.pipeline import Retrieval

logger = logging.getLogger(__name__)

# How promising a link must look: least when nothing supports the question yet, more when some of
# it is supported; and when all is, it must be one that the evidence itself names, since the page
# behind it is the authority on what it names. Chosen on bench/link_following.py.
_PROMISING = 0.02
_WORTHWHILE = 0.1
_COMPELLING = 0.22
_COMPELLING_PAGES = 2
# Rounds in which no page could be read and which therefore do not count.
_MOST_FAILED_ROUNDS = 3
# A round that brings no more than this ends the search for further pages.
_PLATEAU = 0.05
_SHOWN_SO_FAR = 3
_PARALLEL_SEEDS = 4
# Links that are compared by meaning in a round, 2 ms each: with 200, the answers of nine sites are
# the same.
_COMPARED_LINKS = 48


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
    outcomes: dict[str, IngestOutcome] = field(default_factory=dict)
    """By given URL; one that is missing was not read in time."""
    source_ids: list[int] = field(default_factory=list)
    followed: list[int] = field(default_factory=list)
    followed_anew: int = 0
    steps: list[ExpansionStep] = field(default_factory=list)
    frontier: Frontier = field(default_factory=Frontier)
    reading_links: anyio.Lock = field(default_factory=anyio.Lock)
    """Pages are ingested side by side; the frontier takes in one at a time."""
    found: Retrieval | None = None
    judged: dict[str, JudgedPart] = field(default_factory=dict)
    """The sub-queries with what was found for them."""
    is_over_stored_pages: bool = False
    documents_searched: int = 0
    notes: list[str] = field(default_factory=list)
    iterations: int = 0
    stop_reason: StopReason = "time is up"
    spent: Timing = field(default_factory=Timing)

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
        self.is_over_stored_pages = True
        if not self.question.urls:
            await self._search(self.question.pages())
            return
        named = await find_named_pages(
            self.question.urls, store=self.parts.store, within=self.question.pages()
        )
        self.source_ids += named.source_ids
        self.notes += named.notes
        await self.search()

    async def search(self) -> None:
        """Retrieve over the pages of this run and weigh what is found."""
        await self._search(self.question.pages(self.source_ids))

    async def _search(self, where: SearchFilter) -> None:
        self.documents_searched = await self.parts.store.count_pages(where)
        await self._tell("retrieval", f"Searching {self.documents_searched} documents...")
        found = await retrieve(
            self.question.query,
            store=self.parts.store,
            models=Models(embedder=self.parts.embedder, reranker=self.parts.reranker),
            where=where,
            options=Options(
                limit=self.max_blocks,
                sub_queries=self.analysis.sub_queries,
                weigh=weigh_by_wishes(self.analysis),
            ),
        )
        await self._tell("reranking", f"Reranking {found.chunks_evaluated} chunks...")
        self.spent.retrieval_ms += found.retrieval_ms
        self.spent.reranking_ms += found.reranking_ms
        self.spent.merge_ms += found.merge_ms
        named = [page.source_id for each in self.outcomes.values() if (page := each.page)]
        judged = await judge_parts(
            found, self.analysis.sub_queries, embedder=self.parts.embedder, named=named
        )
        # Together, with no wait between them: the run may be stopped at any wait.
        self.found, self.judged = found, judged
        await self._tell_evidence()

    @property
    def judgements(self) -> dict[str, Judgement]:
        """How well what was found supports each sub-query."""
        return {part: judged.judgement for part, judged in self.judged.items()}

    def unsupported(self) -> list[str]:
        """Return the sub-queries that nothing found so far supports."""
        judged = self.judgements
        return [
            query
            for query in self.analysis.sub_queries
            if query not in judged or not judged[query].is_supported
        ]

    async def _ingest_seeds(self) -> None:
        """Ingest the given pages side by side; each counts from the moment it is stored."""
        started = time.monotonic()
        urls = list(dict.fromkeys(self.question.urls))
        limit = anyio.Semaphore(_PARALLEL_SEEDS)

        async def ingest(url: str) -> None:
            async with limit:
                try:
                    outcome = await self.parts.ingester.ingest(
                        url,
                        project=self.question.project,
                        tags=self.question.tags,
                        on_progress=self.on_progress,
                    )
                except CitewellError as error:
                    outcome = IngestOutcome(url=url, page=None, error=error)
            self.outcomes[url] = outcome
            if outcome.page is not None and outcome.page.source_id not in self.source_ids:
                await self._add_page(outcome.page.source_id, depth=0)

        try:
            async with anyio.create_task_group() as tasks:
                for url in urls:
                    tasks.start_soon(ingest, url)
        finally:
            self.spent.ingest_ms = (time.monotonic() - started) * 1000

    async def _add_page(self, source_id: int, *, depth: int) -> None:
        page = await self.parts.store.get_page(source_id)
        if page is not None and source_id not in self.source_ids:
            self.source_ids.append(source_id)
            async with self.reading_links:
                await in_thread(partial(self.frontier.add_page, page, depth=depth))

    async def _expand(self) -> StopReason:
        budget = self.question.expansion_budget
        rounds = self.limits.max_depth if budget is None else budget
        if rounds == 0:
            return "expansion is off"
        failed_rounds = 0
        await self._search_site()
        while True:
            await self._compare_links()
            leads = await self._next_leads(max_depth=self.limits.max_depth)
            if not leads:
                return await self._why_no_leads()
            if self.iterations >= rounds:
                return "expansion budget is used up" if self.unsupported() else "answered"
            if len(self.followed) >= self.limits.max_pages:
                return "page limit is reached"
            self.iterations += 1
            message = f"Expanding to linked pages (iteration {self.iterations}/{rounds})..."
            await self._tell("expansion", message)
            before, followed, was_settled = self._progress(), len(self.followed), self._is_settled()
            leads = leads[: self.limits.max_pages - len(self.followed)]
            await self._follow(leads)
            has_failed = all(step.failure is not None for step in self.steps[-len(leads) :])
            if has_failed and failed_rounds < _MOST_FAILED_ROUNDS:
                failed_rounds += 1
                self.iterations -= 1
                continue
            if was_settled and len(self.followed) > followed:
                return "answered"
            is_full = len(self.followed) >= self.limits.max_pages
            has_risen = self._progress() > before + _PLATEAU
            is_stuck = self.iterations > 1 and not has_risen and not is_full
            if is_stuck and not self.unsupported():
                return "score plateau"
            if is_stuck and len(self.followed) == followed:
                return "score plateau"

    async def _search_site(self) -> None:
        """Search the site of the first page, unless its own text settles the question."""
        page = next((each.page for each in self.outcomes.values() if each.page is not None), None)
        if page is None or self._is_settled():
            return
        pages = await search_site(
            page,
            self.question,
            known=self.source_ids,
            # Only generated sites have an index; others need not be asked for it.
            asks_index=bool(self.unsupported()) and self.frontier.has_html_files,
            parts=self.parts,
        )
        self.frontier.add_search_results(pages, parent_url=page.url)

    async def _compare_links(self) -> None:
        """Compare what links say with the question by meaning, while nothing supports it."""
        embedder, query = self.parts.embedder, self.question.query
        if embedder is None or embedder.name != KNOWN_MODEL or not self.unsupported():
            return
        links = partial(self.frontier.links_to_compare, Need(query=query), limit=_COMPARED_LINKS)
        texts = await in_thread(links)
        known = {url: text for url, text in texts.items() if embedder.supports(text)}
        if not known or not embedder.supports(query):
            return
        try:
            asked = await embedder.embed_query(query)
            vectors = await embedder.embed_passages(list(known.values()))
        except InferenceError as error:
            self.notes.append(f"Links were ranked by words only: {error.message}")
            return
        self.frontier.note_cosines(
            {url: float(vector @ asked) for url, vector in zip(known, vectors, strict=True)}
        )

    async def _next_leads(self, *, max_depth: int) -> list[Lead]:
        return await in_thread(partial(self._choose_leads, max_depth=max_depth))

    def _choose_leads(self, *, max_depth: int) -> list[Lead]:
        judged = self.judgements.items()
        lacking = [
            Need(query=query, missing=judgement.missing.keys())
            for query, judgement in judged
            if not judgement.is_enough
        ]
        least = _PROMISING if self.unsupported() else _WORTHWHILE
        pages = self.limits.pages_per_round
        sought = self._leads(lacking, limit=pages, max_depth=max_depth) if lacking else []
        asked = [Need(query=query) for query, _ in judged]
        named = self._leads(asked, limit=min(pages, _COMPELLING_PAGES), max_depth=max_depth)
        chosen = {lead.url: lead for lead in sought if lead.score >= least}
        for lead in named:
            if lead.in_evidence and lead.score >= _COMPELLING:
                chosen.setdefault(lead.url, lead)
        return list(chosen.values())[:pages]

    def _leads(self, needs: Sequence[Need], *, limit: int, max_depth: int) -> list[Lead]:
        leads = self.frontier.leads(
            needs, evidence=self.best_chunks, limit=limit, max_depth=max_depth
        )
        prefixes = self.question.url_prefixes
        return [lead for lead in leads if not prefixes or lead.url.startswith(prefixes)]

    async def _why_no_leads(self) -> StopReason:
        if not self.unsupported():
            return "answered"
        is_too_deep = await self._next_leads(max_depth=self.limits.max_depth + 1)
        return "maximum depth" if is_too_deep else "no promising links"

    def _is_settled(self) -> bool:
        return all(judgement.is_enough for judgement in self.judgements.values())

    def _progress(self) -> float:
        """Return how far the run has come: more support and fewer missing words count for it."""
        judged = self.judgements.values()
        return self._score() + sum(
            judgement.support - sum(judgement.missing.values()) for judgement in judged
        )

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
                with asked_for([*self.question.urls, lead.parent_url]):
                    results[lead.url] = await self.parts.ingester.ingest(
                        lead.url, project=self.question.project, tags=self.question.tags
                    )
            except CitewellError as error:
                results[lead.url] = error
            durations[lead.url] = (time.monotonic() - begun) * 1000

        async with anyio.create_task_group() as tasks:
            for lead in leads:
                tasks.start_soon(follow, lead)
        added = [lead.url for lead in leads if await self._take_in(lead, results[lead.url])]
        self.spent.expansion_ms += (time.monotonic() - started) * 1000
        if added:
            await self.search()
        for lead in leads:
            self.steps.append(
                _step(
                    lead,
                    results[lead.url],
                    is_new=lead.url in added,
                    scores=(before, self._score()),
                    duration_ms=durations[lead.url],
                )
            )

    async def _take_in(self, lead: Lead, outcome: IngestOutcome | CitewellError) -> bool:
        """Add a followed page to the run; return whether it was not there before."""
        if isinstance(outcome, CitewellError) or outcome.page is None:
            return False
        source_id = outcome.page.source_id
        if source_id in self.source_ids:
            return False
        await self._add_page(source_id, depth=lead.depth)
        self.followed.append(source_id)
        self.followed_anew += outcome.changed
        return True

    @property
    def best_chunks(self) -> tuple[RankedChunk, ...]:
        """The best of what was found so far."""
        return self.found.chunks if self.found is not None else ()

    def _score(self) -> float:
        return self.best_chunks[0].relevance if self.best_chunks else 0.0

    async def _tell(self, phase: Phase, message: str) -> None:
        await self.on_progress(Progress(phase=phase, message=message))

    async def _tell_evidence(self) -> None:
        shown = [
            f"{mark(label(each.chunk.title))}, {mark(each.chunk.url)} ({each.relevance:.2f}): "
            f"{mark(one_line(each.chunk.text, limit=160))}"
            for each in self.best_chunks[:_SHOWN_SO_FAR]
        ]
        if shown:
            await self._tell("retrieval", "Evidence so far — " + " | ".join(shown))


def _step(
    lead: Lead,
    outcome: IngestOutcome | CitewellError,
    *,
    is_new: bool,
    scores: tuple[float, float],
    duration_ms: float,
) -> ExpansionStep:
    failure = outcome.message if isinstance(outcome, CitewellError) else None
    page = None if isinstance(outcome, CitewellError) else outcome.page
    before, after = scores
    return ExpansionStep(
        url=lead.url,
        parent_url=lead.parent_url,
        depth=lead.depth,
        chunks_added=page.chunks if page is not None and is_new else 0,
        score_before=before,
        score_after=before if failure is not None else after,
        duration_ms=duration_ms,
        failure=failure,
    )
