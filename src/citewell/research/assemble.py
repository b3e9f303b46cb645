"""Assembling a result: what to show, quotes that are checked, and what a reader should know."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.answer.links import link_quotes
from citewell.answer.quote import QuoteLimits, refuse_inexact
from citewell.core.boundary import mark
from citewell.core.certainty import DOUBTFUL, certainty_of
from citewell.core.ids import citation_id
from citewell.core.off_loop import in_thread
from citewell.core.page_slice import starts_inside, stops_in_sentence, stops_inside
from citewell.core.progress import Progress
from citewell.core.records import Quote
from citewell.core.results import FailedUrl, OpenLink, OrchestrationResult, PageChecked
from citewell.core.words import content_words
from citewell.research.disagreements import find_disagreements
from citewell.research.frontier import Need
from citewell.research.read_path import as_searched, quote_evidence
from citewell.research.support import absence_warnings, absent_words
from citewell.research.weigh import choose_blocks
from citewell.research.whole_pages import whole_page_blocks
from citewell.retrieve.pipeline import gather_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.records import Block, PageInfo, PageText
    from citewell.core.results import Mode, StopReason
    from citewell.research.read_path import ChosenQuote
    from citewell.research.run import ResearchRun

_LISTED_LINKS = 5
# From so many links on a page is taken for an index, if they are much of its text.
_INDEX_LINKS = 15
_LISTED_PAGES = 10
# What does not support a question is shown from this support on, as the nearest there is: of the
# answerable questions that bench/questions.py finds refused, three in four have more.
_LEAST_SHOWN = 0.1
_NEAREST_QUOTES = 2
_MOST_QUOTES = 7
_QUOTES_PER_PART = 3
_OTHER_TOKENS = 70
_LONGEST_TOKENS = 150
# Of all quotes with their frames; the brief's own frame takes about 90 more. Where the best quote
# answers hardly more than once in three times, the answer is often further down.
_USUAL_TOKENS = 470
_DOUBTFUL_TOKENS = 980
_DOUBTFUL = 0.35
_NOT_IN_TIME = "it was not read in time"
_ASK_AGAIN = "Ask again; give this URL alone or raise the time limit."


async def assemble(run: ResearchRun, *, partial: bool = False) -> OrchestrationResult:
    """Return the result of a run: its best blocks with citations, or why there are none."""
    assert run.found is not None, "a run is assembled after it has searched"
    began = time.monotonic()
    parts = [part for part in run.analysis.sub_queries if part not in run.unsupported()]
    answered = bool(parts)
    await run.on_progress(Progress(phase="locality", message="Grabbing adjacent context..."))
    mode, blocks = await _blocks(run, parts) if answered else ("chunk", [])
    if run.question.detail == "passages":
        quotes, quoted = await _checked_quotes(
            run, [_as_quote(block) for block in blocks], are_passages=True
        )
        blocks = []
    else:
        shown = parts or [part for part in run.analysis.sub_queries if _is_near(run, part)]
        quotes, quoted = await _quote(run, shown, answered=answered) if shown else ([], [])
    lacking = _missing(run, answered=answered)
    disagreements = await find_disagreements(run, quotes) if answered else ()
    message = f"Assembling results ({len(quotes)} quotes)..."
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
        stop_reason=_stop_reason(run, lacking),
        documents_searched=run.documents_searched,
        documents_matched=len({each.chunk.source_id for each in run.best_chunks}),
        chunks_evaluated=run.found.chunks_evaluated,
        iterations=run.iterations,
        expansion_budget=run.question.expansion_budget,
        max_depth=run.limits.max_depth,
        urls_ingested=sum(outcome.changed for outcome in run.outcomes.values()) + run.followed_anew,
        timing=replace(run.spent, total_ms=(time.monotonic() - run.started) * 1000),
        failures=_failures(run),
        notes=(*run.found.notes, *run.notes, *_stale(run)),
        cautions=(
            *lacking,
            *_incomplete(run, quoted),
            *_doubts(quotes, lacking, answered=answered),
        ),
        disagreements=disagreements,
        partial=partial,
        index_url=None if answered else await _index_url(run),
        checked=() if answered else await _checked(run),
        open_links=() if answered else await in_thread(_open_links, run),
    )


def _is_near(run: ResearchRun, part: str) -> bool:
    """Return whether what was found for an unsupported part may still answer it."""
    return part in run.judgements and run.judgements[part].support >= _LEAST_SHOWN


def _limits(run: ResearchRun, parts: Sequence[str], *, answered: bool) -> QuoteLimits:
    """Return how much is quoted for each part: more where the first quote may well not answer."""
    if not answered:
        return QuoteLimits(max_quotes=_NEAREST_QUOTES)
    usual, least_chance = _DOUBTFUL_TOKENS // len(parts), 0.0
    if len(parts) == 1:
        usual, least_chance = _USUAL_TOKENS, run.judgements[parts[0]].least_chance(_DOUBTFUL)
    return QuoteLimits(
        max_quotes=max(_MOST_QUOTES, _QUOTES_PER_PART * len(parts)),
        other_tokens=_OTHER_TOKENS,
        longest_tokens=_LONGEST_TOKENS,
        total_tokens=usual,
        doubtful_tokens=_DOUBTFUL_TOKENS,
        least_chance=least_chance,
    )


async def _quote(
    run: ResearchRun, parts: Sequence[str], *, answered: bool
) -> tuple[list[Quote], list[PageInfo]]:
    """Return the quotes for `parts` of the question, and the pages they are on."""
    assert run.found is not None, "a run is assembled after it has searched"
    # A comparison is answered by a sentence about both sides, if there is one.
    is_comparison = run.analysis.intent == "comparison" and len(parts) > 1
    asked = (run.question.query, *parts) if is_comparison else parts
    chosen = await quote_evidence(
        run.found,
        asked,
        judged=run.judged,
        limits=_limits(run, asked, answered=answered),
        embedder=run.parts.embedder,
    )
    quotes = [each.as_quote() for each in chosen]
    if is_comparison:
        sides = [_side_of(each, parts) for each in chosen]
        quotes = [replace(each, sub_query=side) for each, side in zip(quotes, sides, strict=True)]
    return await _checked_quotes(run, quotes)


async def _checked_quotes(
    run: ResearchRun, quotes: Sequence[Quote], *, are_passages: bool = False
) -> tuple[list[Quote], list[PageInfo]]:
    """Return the quotes that stand on their pages, linked, and those pages.

    They are marked as cut where they begin or stop inside a sentence, as a chunk may, and passages
    also where they stop inside a table or code.
    """
    pages = await run.parts.store.page_texts(list({quote.source_id for quote in quotes}))
    texts = {source_id: page.text for source_id, page in pages.items()}
    exact = await in_thread(link_quotes, refuse_inexact(quotes, texts), pages)
    marked = [_mark_cuts(quote, texts[quote.source_id], is_passage=are_passages) for quote in exact]
    return marked, [page.info for page in pages.values()]


def _mark_cuts(quote: Quote, text: str, *, is_passage: bool) -> Quote:
    is_cut = stops_in_sentence(text, quote.end) or (is_passage and stops_inside(text, quote.end))
    return replace(
        quote, is_cut=quote.is_cut or is_cut, is_cut_before=starts_inside(text, quote.start)
    )


def _side_of(quote: ChosenQuote, parts: Sequence[str]) -> str:
    """Return the side of a comparison that a quote speaks of, its own part if of none more."""
    held = frozenset(content_words(quote.text))
    return max(
        parts,
        key=lambda part: (len(held.intersection(content_words(part))), part == quote.part),
    )


def _as_quote(block: Block) -> Quote:
    """Return a block as the quote that it is: one slice of its page."""
    return Quote(
        citation_id=citation_id(block.source_id, block.page_hash, block.start, block.end),
        text=block.text,
        source_id=block.source_id,
        url=block.url,
        title=block.title,
        heading_path=block.heading_path,
        anchor=block.anchor,
        start=block.start,
        end=block.end,
        page_hash=block.page_hash,
        fetched_at=block.fetched_at,
        confidence=block.confidence,
        relevance=block.relevance,
        sub_query=block.sub_query,
        origin=block.origin,
    )


async def _blocks(run: ResearchRun, parts: Sequence[str]) -> tuple[Mode, list[Block]]:
    """Return the blocks around the quotes, or short pages whole; none unless they are asked for."""
    assert run.found is not None, "a run is assembled after it has searched"
    if run.question.detail == "quotes":
        return "chunk", []
    blocks, _ = await gather_blocks(run.found, store=run.parts.store, limit=2 * run.max_blocks)
    if run.question.detail == "brief" and run.source_ids and not run.followed:
        pages = await _pages(run, set(run.source_ids))
        if sum(page.info.tokens for page in pages) <= run.limits.full_context_tokens:
            best = {block.source_id: block for block in reversed(blocks)}
            return "full_context", whole_page_blocks(pages, best)
    return "chunk", choose_blocks(blocks, parts=parts, limit=run.max_blocks)


async def _pages(run: ResearchRun, source_ids: set[int]) -> list[PageText]:
    """Return the pages by rising source_id."""
    known = await run.parts.store.page_texts(sorted(source_ids))
    return [known[source_id] for source_id in sorted(source_ids) if source_id in known]


async def _checked(run: ResearchRun) -> tuple[PageChecked, ...]:
    assert run.found is not None, "a run is assembled after it has searched"
    searched = run.source_ids or [ranked.chunk.source_id for ranked in run.found.ranked]
    pages = await _pages(run, set(list(dict.fromkeys(searched))[:_LISTED_PAGES]))
    return tuple(PageChecked(url=page.info.url, title=page.info.title) for page in pages)


async def _index_url(run: ResearchRun) -> str | None:
    """Return the first given page that is little more than links to others."""
    for url in run.question.urls:
        outcome = run.outcomes.get(url)
        if outcome is None or outcome.page is None:
            continue
        page = await run.parts.store.get_page(outcome.page.source_id)
        links = [] if page is None else [link for link in page.links if link.kind != "navigation"]
        linked = sum(len(link.text) for link in links)
        if page is not None and len(links) >= _INDEX_LINKS and linked >= 0.2 * len(page.text):
            return page.info.url
        if page is not None and len(page.links) >= _INDEX_LINKS and not links:
            return page.info.url
    return None


def _open_links(run: ResearchRun) -> tuple[OpenLink, ...]:
    leads = run.frontier.leads(
        [Need(query=query) for query in run.analysis.sub_queries],
        evidence=run.best_chunks,
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
    absent = [
        word
        for query in unsettled
        for word in absent_words(
            as_searched(query, run.found).written,
            run.found.ranked,
            unknown=run.found.unknown_words,
            notes=run.found.notes,
        )
    ]
    return [*notes, *absence_warnings(absent, has_evidence=answered)]


def _doubts(quotes: Sequence[Quote], lacking: Sequence[str], *, answered: bool) -> list[str]:
    """Return a warning where no quote is likely to answer and nothing else warns of it."""
    is_doubtful = certainty_of(quote.confidence for quote in quotes) == "low"
    return [DOUBTFUL] if answered and quotes and is_doubtful and not lacking else []


def _stop_reason(run: ResearchRun, lacking: Sequence[str]) -> StopReason:
    """Return why the run stopped; what lacks something is not called answered."""
    is_partial = run.stop_reason == "answered" and bool(lacking)
    return "answered in part" if is_partial else run.stop_reason


def _incomplete(run: ResearchRun, quoted: Sequence[PageInfo]) -> list[str]:
    """Return which of the given and the quoted pages may lack some of their text, and why."""
    given = [outcome.page for outcome in run.outcomes.values() if outcome.page is not None]
    pages = {page.url: page for page in (*given, *quoted) if page.incomplete}
    return [
        f"Some of {mark(page.url)} may be missing: {page.incomplete}."
        for page in list(pages.values())[:_LISTED_PAGES]
    ]


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
