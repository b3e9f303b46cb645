"""From question to ranked chunks: the one way that every tool searches, its steps in order."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import anyio

from citewell.core.definitions import asked_terms, raise_definitions
from citewell.core.errors import InvalidArgument
from citewell.core.frozen import frozen
from citewell.core.off_loop import in_thread
from citewell.core.question import Query, parse_query
from citewell.core.records import SearchFilter
from citewell.retrieve.blocks import cut_blocks, plan_blocks
from citewell.retrieve.candidates import Candidates, find_candidates, join_candidates
from citewell.retrieve.duplicates import SeenTexts
from citewell.retrieve.graph import add_neighbours
from citewell.retrieve.locality import add_locality
from citewell.retrieve.missing_words import explain_missing_words
from citewell.retrieve.products import find_named_products
from citewell.retrieve.releases import choose_releases
from citewell.retrieve.rerank import (
    Ranking,
    best_first,
    merge_rankings,
    raise_signs,
    rank,
    rank_by_cosine,
)
from citewell.retrieve.spelling import apply_corrections
from citewell.retrieve.symbols import find_definitions, mark_definitions, with_definitions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from citewell.core.records import Block, PageText, RankedChunk
    from citewell.inference.protocols import Embedder, Reranker
    from citewell.retrieve.candidates import Definitions, FoundChunk
    from citewell.store.protocol import Store

    Vector = npt.NDArray[np.float32]

# Chunks per query that are reranked: enough that ten pages are among them.
DEPTH = 60
# From so many chunks on, a project has the vocabulary of its subject and a word that it lacks says
# something; what a page or two lack may only be put differently there.
_SIZEABLE_CHUNKS = 1_000

# What a misspelt question finds may lack the words that are meant; what it finds once some of them
# are corrected holds more.
_CORRECTIONS = 2

SearchMode = Literal["hybrid", "vectors", "neighbours"]
"""By words and vectors; by vectors alone; or also the pages that the best chunk links to."""

Further = Callable[["Sequence[FoundChunk]"], Awaitable["Sequence[FoundChunk]"]]
"""Gives candidates that the caller knows of beside those that were found."""
Weigh = Callable[["Sequence[RankedChunk]"], "Sequence[float]"]
"""Gives the relevance of ranked chunks as the caller sees it."""


@frozen
class Models:
    """What ranks; either may be missing."""

    embedder: Embedder | None
    reranker: Reranker | None


@frozen
class Options:
    """What differs from one caller to another."""

    limit: int
    """Most chunks, and most blocks, to return."""
    sub_queries: tuple[str, ...] = ()
    mode: SearchMode = "hybrid"
    per_page: int | None = None
    """Most chunks of one page, those in `shown` included."""
    shown: frozenset[int] = frozenset()
    """Chunks that the caller has seen: neither they nor near-duplicates come again."""
    query_vector: Vector | None = None
    """The caller's own vector of the query, instead of the embedder's."""
    further: Further | None = None
    weigh: Weigh | None = None


@frozen
class Retrieval:
    """What a question found, best first, and how long each stage took in milliseconds."""

    query: Query
    chunks: tuple[RankedChunk, ...]
    """The best, as many as were asked for, without near-duplicates."""
    more: bool
    """Whether the ranking goes on after `chunks`."""
    ranked: tuple[RankedChunk, ...]
    """All that was ranked."""
    queries: Mapping[str, Query]
    """The question and its parts as they were searched for, by the text they were asked in."""
    by_query: Mapping[str, tuple[RankedChunk, ...]]
    """What the question and each of its parts found by itself, best first."""
    calibrated: bool
    """Whether confidences mean anything."""
    best_cosines: Mapping[str, float]
    """The highest cosine of any candidate, for each query that was also asked by vectors."""
    unknown_words: tuple[str, ...]
    """Words the question is about that no page of the project holds, as they are written."""
    is_sizeable: bool
    """Whether the project is so large that an unknown word counts against an answer."""
    chunks_matched: int
    """How many chunks words or vectors named, over all queries."""
    retrieval_ms: float
    reranking_ms: float
    merge_ms: float
    notes: tuple[str, ...] = ()
    """What could not be done, such as searching by vectors."""

    @property
    def chunks_evaluated(self) -> int:
        """How many different chunks were ranked, over all queries."""
        return len(self.ranked)


async def retrieve(
    question: str, *, store: Store, models: Models, where: SearchFilter, options: Options
) -> Retrieval:
    """Return the chunks that best answer `question` and its parts.

    A model that fails does not fail the search: what remains decides, and a note says so.

    Raises:
        InvalidArgument: only vectors may be searched, and there are none for this question.
        StoreError: the store could not be read.
    """
    clock = _Stopwatch()
    chosen_releases = await choose_releases(question, store=store, where=where)
    where = chosen_releases.where
    texts = dict.fromkeys((question, *options.sub_queries))
    asked = [parse_query(text) for text in texts if text.strip()]
    if options.mode == "vectors":
        asked = [_without_words(query, models.embedder, options) for query in asked]
    names = [query.text for query in asked]
    asked = [_replace_text(query, chosen_releases.without_versions(query.text)) for query in asked]
    gathered = await _find_all(asked, store=store, models=models, where=where, options=options)
    corrected: dict[str, str] = {}
    unknown: tuple[str, ...] = ()
    is_sizeable = False
    for _ in range(_CORRECTIONS if options.mode == "hybrid" else 0):
        slips, unknown = await explain_missing_words(asked, gathered, store=store, where=where)
        if not slips:
            break
        corrected |= slips
        asked = [parse_query(apply_corrections(query.written, slips)) for query in asked]
        gathered = await _find_all(asked, store=store, models=models, where=where, options=options)
    gathered = await _about_named_products(
        asked, gathered, store=store, models=models, where=where, options=options
    )
    if unknown:
        stats = await store.corpus_stats(SearchFilter(project=where.project))
        is_sizeable = stats.chunks >= _SIZEABLE_CHUNKS
    retrieval_ms = clock.lap_ms()
    rankings = [
        await _rank(query, candidates, models=models, options=options)
        for query, candidates in zip(asked, gathered, strict=True)
    ]
    ranking = merge_rankings(rankings)
    if options.mode == "neighbours":
        near = await add_neighbours(ranking.chunks, question, store=store, where=where)
        ranking = replace(ranking, chunks=near)
    reranking_ms = clock.lap_ms()
    before = await store.load_chunks(sorted(options.shown)) if options.shown else []
    chosen, more = await in_thread(
        partial(
            _choose,
            ranking.chunks,
            [(chunk.source_id, chunk.text) for chunk in before],
            limit=options.limit,
            per_page=options.per_page,
        )
    )
    return Retrieval(
        query=asked[0] if asked else parse_query(question),
        chunks=tuple(chosen),
        more=more,
        ranked=ranking.chunks,
        queries=dict(zip(names, asked, strict=True)),
        by_query={name: one.chunks for name, one in zip(names, rankings, strict=True)},
        calibrated=ranking.calibrated,
        best_cosines=_best_cosines(names, gathered),
        unknown_words=unknown,
        is_sizeable=is_sizeable,
        chunks_matched=sum(candidates.chunks_matched for candidates in gathered),
        retrieval_ms=retrieval_ms,
        reranking_ms=reranking_ms,
        merge_ms=clock.lap_ms(),
        notes=_once(
            (
                *(f'Read "{word}" as "{meant}".' for word, meant in corrected.items()),
                *chosen_releases.notes,
                *chosen_releases.warn_of_other_versions(each.chunk for each in chosen),
                *(note for each in gathered for note in each.notes),
                *(note for each in gathered for note in each.definitions.notes),
                *ranking.notes,
            )
        ),
    )


async def gather_blocks(
    found: Retrieval, *, store: Store, limit: int
) -> tuple[list[Block], dict[int, PageText]]:
    """Return the best chunks joined with their neighbours, and the pages they are slices of."""
    plans = plan_blocks(found.ranked, limit=limit, calibrated=found.calibrated)
    plans = await add_locality(plans, store=store, limit=limit)
    pages = await store.page_texts(list(dict.fromkeys(plan.source_id for plan in plans)))
    return cut_blocks(plans, pages), pages


def _replace_text(query: Query, text: str) -> Query:
    """Return the query that `text` makes, without words if it had none."""
    if text == query.text or not text:
        return query
    return parse_query(text) if query.words else replace(parse_query(text), words=())


def _without_words(query: Query, embedder: Embedder | None, options: Options) -> Query:
    has_vector = embedder is not None and embedder.supports(query.text)
    if not has_vector and options.query_vector is None:
        raise InvalidArgument(
            "There are no vectors to search for a question in this language.",
            suggestion='Use mode "auto", which also searches by words.',
        )
    return replace(query, words=())


async def _find_all(
    asked: Sequence[Query],
    *,
    store: Store,
    models: Models,
    where: SearchFilter,
    options: Options,
) -> list[Candidates]:
    found: dict[int, Candidates] = {}
    depth = max(DEPTH, 2 * (options.limit + len(options.shown)))

    async def find(at: int) -> None:
        found[at] = await find_candidates(
            asked[at],
            store=store,
            embedder=models.embedder,
            where=where,
            depth=depth,
            query_vector=options.query_vector,
        )
        definitions = await find_definitions(asked[at], store=store, where=where)
        found[at] = replace(
            found[at],
            found=with_definitions(found[at].found, definitions),
            definitions=definitions,
        )
        if options.further is not None:
            further = await options.further(found[at].found)
            found[at] = replace(found[at], found=(*found[at].found, *further))

    async with anyio.create_task_group() as tasks:
        for at in range(len(asked)):
            tasks.start_soon(find, at)
    return [found[at] for at in range(len(asked))]


async def _about_named_products(
    asked: Sequence[Query],
    gathered: list[Candidates],
    *,
    store: Store,
    models: Models,
    where: SearchFilter,
    options: Options,
) -> list[Candidates]:
    """Return the candidates, only those about the products that the question names, if it does."""
    every = [each for found in gathered for each in found.found]
    named = await find_named_products(asked, every, store=store, where=where)
    if named is None:
        return gathered
    narrowed = [
        await _find_all(asked, store=store, models=models, where=own, options=options)
        for own in named.narrow(where)
    ]
    return [
        join_candidates(
            [candidates[place] for candidates in narrowed],
            [each for each in found.found if named.concerns(each.chunk)],
        )
        for place, found in enumerate(gathered)
    ]


async def _rank(
    query: Query, candidates: Candidates, *, models: Models, options: Options
) -> Ranking:
    found = candidates.found
    if options.mode == "vectors":
        return rank_by_cosine(query, found)
    ranking = await rank(query, found, reranker=models.reranker)
    return await in_thread(_with_wishes, query, ranking, candidates.definitions, options)


def _with_wishes(
    query: Query, ranking: Ranking, definitions: Definitions, options: Options
) -> Ranking:
    """Return the ranking as the caller weighs it, definitions of what is asked about first."""
    chunks = ranking.chunks
    if options.weigh is not None:
        chunks = _with_relevance(chunks, options.weigh(chunks))
    raised = raise_definitions(
        [each.relevance for each in chunks],
        [each.chunk.text for each in chunks],
        asked_terms(query.text),
    )
    raised = raise_signs(raised, [each.chunk.text for each in chunks], query.signs)
    chunks = mark_definitions(_with_relevance(chunks, raised), definitions)
    return replace(ranking, chunks=chunks)


def _with_relevance(
    ranked: Sequence[RankedChunk], relevances: Sequence[float]
) -> tuple[RankedChunk, ...]:
    return best_first(
        replace(each, relevance=relevance)
        for each, relevance in zip(ranked, relevances, strict=True)
    )


def _choose(
    ranked: Sequence[RankedChunk],
    before: Iterable[tuple[int, str]],
    *,
    limit: int,
    per_page: int | None,
) -> tuple[list[RankedChunk], bool]:
    """Return the next `limit` chunks, and whether more would follow."""
    seen = SeenTexts()
    counts: dict[int, int] = {}

    def note(source_id: int, text: str) -> None:
        seen.add(text)
        counts[source_id] = counts.get(source_id, 0) + 1

    for source_id, text in before:
        note(source_id, text)
    chosen: list[RankedChunk] = []
    for each in ranked:
        chunk = each.chunk
        is_full = per_page is not None and counts.get(chunk.source_id, 0) >= per_page
        if is_full or seen.holds(chunk.text):
            continue
        if len(chosen) == limit:
            return chosen, True
        chosen.append(each)
        note(chunk.source_id, chunk.text)
    return chosen, False


def _best_cosines(names: Sequence[str], gathered: Sequence[Candidates]) -> dict[str, float]:
    known = {
        name: [each.vector_score for each in found.found if each.vector_score is not None]
        for name, found in zip(names, gathered, strict=True)
    }
    return {text: max(cosines) for text, cosines in known.items() if cosines}


def _once(notes: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))


class _Stopwatch:
    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap_ms(self) -> float:
        now = time.perf_counter()
        lap, self._last = (now - self._last) * 1000, now
        return lap
