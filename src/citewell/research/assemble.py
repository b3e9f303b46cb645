"""Assembling a result: what to show, quotes that are checked, and what a reader should know."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from citewell.answer.quote import pick_quotes, refuse_inexact
from citewell.core.progress import Progress
from citewell.core.results import FailedUrl, OpenLink, OrchestrationResult, PageChecked, Timing
from citewell.research.evidence import choose_blocks
from citewell.research.excerpt import shorten_blocks
from citewell.research.frontier import Need
from citewell.research.judge import absent_words, tell_absent
from citewell.research.whole_pages import whole_page_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import Block, PageText, Quote
    from citewell.core.results import Mode
    from citewell.research.run import ResearchRun, Spent

_LISTED_LINKS = 5
# The answer often stands a sentence away from the words of the question (bench/quotes.py).
_QUOTES_PER_BLOCK = (3, 1)
_LISTED_PAGES = 10
_NOT_IN_TIME = "it was not read in time"
_ASK_AGAIN = "Ask again; give this URL alone or raise the time limit."


async def assemble(run: ResearchRun, *, partial: bool = False) -> OrchestrationResult:
    """Return the result of a run: its best blocks with citations, or why there are none."""
    assert run.found is not None, "a run is assembled after it has searched"
    began = time.monotonic()
    unsupported = run.unsupported()
    answered = len(unsupported) < len(run.analysis.sub_queries)
    mode, blocks = await _choose(run, unsupported) if answered else ("chunk", [])
    quotes = _cite(run, blocks, await _pages(run, {block.source_id for block in blocks}))
    if mode == "chunk":
        blocks = shorten_blocks(blocks, quotes)
    tokens = sum(block.tokens for block in blocks)
    message = f"Assembling results ({len(blocks)} chunks, {tokens} tokens)..."
    await run.on_progress(Progress(phase="merge", message=message))
    run.spent.merge_ms += (time.monotonic() - began) * 1000
    return OrchestrationResult(
        query=run.question.query,
        intent=run.analysis.intent,
        sub_queries=run.analysis.sub_queries,
        mode=mode,
        answered=answered,
        blocks=tuple(blocks),
        quotes=tuple(quotes),
        seeds=_seeds(run),
        steps=tuple(run.steps),
        stop_reason=run.stop_reason,
        documents_searched=run.documents_searched,
        documents_matched=len({block.source_id for block in run.blocks}),
        chunks_evaluated=run.found.chunks_evaluated,
        iterations=run.iterations,
        expansion_budget=run.question.expansion_budget,
        max_depth=run.limits.max_depth,
        urls_ingested=sum(outcome.changed for outcome in run.outcomes.values()) + run.followed_anew,
        timing=_timing(run.spent, total_ms=(time.monotonic() - run.started) * 1000),
        failures=_failures(run),
        notes=(*run.found.notes, *run.notes, *_stale(run)),
        cautions=tuple(_missing(run, answered=answered)),
        partial=partial,
        checked=() if answered else await _checked(run),
        open_links=() if answered else _open_links(run),
    )


async def _choose(run: ResearchRun, unsupported: Sequence[str]) -> tuple[Mode, list[Block]]:
    if run.source_ids and not run.followed:
        pages = await _pages(run, set(run.source_ids))
        if sum(page.info.tokens for page in pages) <= run.limits.full_context_tokens:
            best = {block.source_id: block for block in reversed(run.blocks)}
            return "full_context", whole_page_blocks(pages, best)
    blocks = choose_blocks(
        run.blocks,
        sub_queries=[query for query in run.analysis.sub_queries if query not in unsupported],
        pages=run.pages_to_show(),
        limit=run.max_blocks,
    )
    return "chunk", blocks


def _cite(run: ResearchRun, blocks: Sequence[Block], pages: Sequence[PageText]) -> list[Quote]:
    quotes = pick_quotes(run.question.query, blocks, limit=len(blocks), per_block=_QUOTES_PER_BLOCK)
    return refuse_inexact(quotes, {page.info.source_id: page.text for page in pages})


async def _pages(run: ResearchRun, source_ids: set[int]) -> list[PageText]:
    """Return the pages by rising source_id; those that blocks were cut from, as they were then."""
    assert run.found is not None, "a run is assembled after it has searched"
    known = dict(run.found.pages)
    if unread := sorted(source_ids - known.keys()):
        known |= await run.parts.store.page_texts(unread)
    return [known[source_id] for source_id in sorted(source_ids) if source_id in known]


async def _checked(run: ResearchRun) -> tuple[PageChecked, ...]:
    assert run.found is not None, "a run is assembled after it has searched"
    searched = run.source_ids or [ranked.chunk.source_id for ranked in run.found.ranked]
    pages = await _pages(run, set(list(dict.fromkeys(searched))[:_LISTED_PAGES]))
    return tuple(PageChecked(url=page.info.url, title=page.info.title) for page in pages)


def _open_links(run: ResearchRun) -> tuple[OpenLink, ...]:
    leads = run.frontier.leads(
        [Need(query=query) for query in run.analysis.sub_queries],
        evidence=run.blocks,
        limit=_LISTED_LINKS,
        max_depth=run.limits.max_depth + 1,
    )
    return tuple(OpenLink(url=lead.url, text=lead.text) for lead in leads if lead.score > 0)


def _seeds(run: ResearchRun) -> tuple[str, ...]:
    outcomes = [run.outcomes.get(url) for url in run.question.urls]
    return tuple(each.page.url for each in outcomes if each is not None and each.page is not None)


def _missing(run: ResearchRun, *, answered: bool) -> list[str]:
    """Return what the evidence lacks: parts of the question, and words that stand nowhere in it."""
    assert run.found is not None, "a run is assembled after it has searched"
    lacking = run.unsupported() if answered else []
    notes = [f'Nothing found supports the part "{query}".' for query in lacking]
    unsettled = [query for query, judged in run.judgements.items() if not judged.is_settled]
    absent = [word for query in unsettled for word in absent_words(query, run.found.ranked)]
    return [*notes, *tell_absent(absent, has_evidence=answered)]


def _stale(run: ResearchRun) -> list[str]:
    return [
        f"{outcome.url} could not be fetched again; the copy of "
        f"{outcome.page.fetched_at:%Y-%m-%d} was used."
        for outcome in run.outcomes.values()
        if outcome.page is not None and outcome.error is not None
    ]


def _failures(run: ResearchRun) -> tuple[FailedUrl, ...]:
    if run.is_over_stored_pages:
        return ()
    failed: list[FailedUrl] = []
    for url in dict.fromkeys(run.question.urls):
        outcome = run.outcomes.get(url)
        if outcome is None:
            failed.append(FailedUrl(url=url, reason=_NOT_IN_TIME, suggestion=_ASK_AGAIN))
        elif outcome.page is None and outcome.error is not None:
            error = outcome.error
            failed.append(FailedUrl(url=url, reason=error.message, suggestion=error.suggestion))
    return tuple(failed)


def _timing(spent: Spent, *, total_ms: float) -> Timing:
    return Timing(
        total_ms=total_ms,
        ingest_ms=spent.ingest_ms,
        query_analysis_ms=spent.analysis_ms,
        retrieval_ms=spent.retrieval_ms,
        reranking_ms=spent.reranking_ms,
        expansion_ms=spent.expansion_ms,
        locality_ms=spent.locality_ms,
        merge_ms=spent.merge_ms,
    )
