"""Passages: found by a search, kept in scratch, read again from the store when they are gone."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from citewell.answer.definitions import asked_terms, raise_definitions
from citewell.app.scratch import (
    Passage,
    PassagePlace,
    parse_scratch_uri,
    section_of_passage,
)
from citewell.core.errors import InvalidArgument, NotFound, ScopeViolation
from citewell.core.records import RankedChunk, SearchFilter
from citewell.retrieve.candidates import find_candidates
from citewell.retrieve.duplicates import SeenTexts
from citewell.retrieve.graph import add_neighbours
from citewell.retrieve.pipeline import DEPTH
from citewell.retrieve.query import read_query
from citewell.retrieve.rerank import rank

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from citewell.core.records import Page, StoredChunk
    from citewell.retrieve.candidates import FoundChunk
    from citewell.retrieve.query import Query
    from citewell.tools.kb.arguments import Mode
    from citewell.tools.registry import Call
    from citewell.tools.scope import Scope

FoundBy = Literal["reranked", "rrf_fusion", "graph_expanded", "vector", "bm25", "hybrid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassage:
    """A passage that a search found, with all its scores."""

    passage: Passage
    chunk: StoredChunk
    relevance: float
    confidence: float | None
    source: FoundBy
    word_score: float
    vector_score: float | None
    fused_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassages:
    """What a search found, best first."""

    found: tuple[FoundPassage, ...]
    more: bool
    """Whether the ranking goes on after them."""
    ranked: tuple[RankedChunk, ...]
    """All that was ranked, best first."""
    best_cosine: float | None
    """The highest of any chunk with the question; None when no vector was compared."""
    notes: tuple[str, ...] = ()


async def find_passages(
    question: str,
    *,
    call: Call,
    where: SearchFilter,
    mode: Mode,
    limit: int,
    max_per_doc: int,
    shown: Collection[int] = (),
) -> FoundPassages:
    """Return up to `limit` passages that are not among the `shown` chunks, and keep them.

    At most `max_per_doc` are of one page, those shown before included; near-duplicates of better
    ones are left out.

    Raises:
        InvalidArgument: only vectors may be searched, and there are none for this question.
    """
    parts = call.parts
    query = read_query(question)
    if mode == "vector_only":
        _require_vectors(question, call)
        query = replace(query, words=())
    candidates = await find_candidates(
        query,
        store=parts.store,
        embedder=parts.embedder,
        where=where,
        depth=max(DEPTH, 3 * (limit + len(shown))),
    )
    ranked, calibrated, notes = await _rank(query, candidates.found, mode=mode, call=call)
    if mode == "hybrid_local":
        ranked = await add_neighbours(ranked, question, store=parts.store, where=where)
    before = await parts.store.load_chunks(sorted(shown)) if shown else []
    best_first = _definitions_first(ranked, question)
    chosen, more = _choose(best_first, before, limit=limit, max_per_doc=max_per_doc)
    evidence = {each.chunk.chunk_id: each for each in candidates.found}
    cosines = [each.vector_score for each in candidates.found if each.vector_score is not None]
    found = tuple(
        _keep(each, evidence.get(each.chunk.chunk_id), calibrated=calibrated, call=call)
        for each in chosen
    )
    return FoundPassages(
        found=found,
        more=more,
        ranked=tuple(ranked),
        best_cosine=max(cosines, default=None),
        notes=tuple(dict.fromkeys((*candidates.notes, *notes))),
    )


async def open_passage(passage_id: str, *, scope: Scope, call: Call) -> Passage:
    """Return the caller's passage, by its id or its URI; read again from its page when gone.

    Raises:
        NotFound: the caller has no such passage, or its page has changed or gone since.
        ScopeViolation: it lies outside the scope.
    """
    scratch, caller = call.parts.scratch, call.caller
    place = await find_place(passage_id, call)
    if place is None:
        raise NotFound(
            f"There is no passage {passage_id[:80]!r}.",
            suggestion="Call kb_search or kb_retrieve_evidence again for new passage ids.",
        )
    name = scratch.id_of(caller, place)
    if not scope.holds(place.url, place.tags):
        raise ScopeViolation(f"The passage {name} lies outside the scope.")
    kept = scratch.get(caller, name)
    if kept is not None:
        return kept
    page = await page_of(place, call)
    return scratch.put(caller, place, page.text[place.start : place.end])


async def find_place(passage_id: str, call: Call) -> PassagePlace | None:
    """Return where the caller's passage stands, by its id or its URI.

    One that another process gave, or this one has forgotten, is found by the chunk it names.
    """
    scratch, caller = call.parts.scratch, call.caller
    parts = parse_scratch_uri(passage_id)
    if parts is not None and parts[0] != scratch.session_of(caller):
        return None
    name = passage_id if parts is None else parts[1]
    known = scratch.place_of(caller, name)
    chunk_id = section_of_passage(name)
    if known is not None or chunk_id is None:
        return known
    for chunk in await call.parts.store.load_chunks([chunk_id]):
        where = SearchFilter(project=caller.project, source_ids=(chunk.source_id,))
        if await call.parts.store.list_pages(where, limit=1):
            place = PassagePlace.of_chunk(chunk)
            if hmac.compare_digest(scratch.id_of(caller, place), name):
                return place
    return None


async def page_of(place: PassagePlace, call: Call) -> Page:
    """Return the page of a passage, as it was when the passage was found.

    Raises:
        NotFound: it has changed or gone since.
    """
    page = await call.parts.store.get_page(place.source_id)
    if page is None or page.info.text_hash != place.page_hash:
        fate = "is no longer indexed" if page is None else "has changed since"
        raise NotFound(
            f"The page of this passage {fate}: {place.url}",
            suggestion="Search again to get passages of the page as it is now.",
        )
    return page


def _definitions_first(ranked: Sequence[RankedChunk], question: str) -> Sequence[RankedChunk]:
    before = [each.relevance for each in ranked]
    scores = raise_definitions(before, [each.chunk.text for each in ranked], asked_terms(question))
    if scores == before:
        return ranked
    raised = [replace(each, relevance=score) for each, score in zip(ranked, scores, strict=True)]
    return sorted(raised, key=lambda each: -each.relevance)


def _require_vectors(question: str, call: Call) -> None:
    embedder = call.parts.embedder
    if embedder is None or not embedder.supports(question):
        raise InvalidArgument(
            "There are no vectors to search for a question in this language.",
            suggestion='Use mode "auto", which also searches by words.',
        )


async def _rank(
    query: Query, found: Sequence[FoundChunk], *, mode: Mode, call: Call
) -> tuple[tuple[RankedChunk, ...], bool, tuple[str, ...]]:
    if mode == "vector_only":
        by_cosine = sorted(found, key=lambda each: -(each.vector_score or 0.0))
        return tuple(_by_vector(query, each) for each in by_cosine), False, ()
    ranking = await rank(query, found, reranker=call.parts.reranker)
    return ranking.chunks, ranking.calibrated, ranking.notes


def _by_vector(query: Query, found: FoundChunk) -> RankedChunk:
    return RankedChunk(
        chunk=found.chunk,
        relevance=min(1.0, max(0.0, found.vector_score or 0.0)),
        confidence=None,
        matched_by="vectors",
        sub_query=query.text,
    )


def _choose(
    ranked: Sequence[RankedChunk],
    before: Sequence[StoredChunk],
    *,
    limit: int,
    max_per_doc: int,
) -> tuple[list[RankedChunk], bool]:
    """Return the next `limit` chunks, and whether more would follow."""
    seen = SeenTexts()
    per_page: dict[int, int] = {}
    for chunk in before:
        seen.add(chunk.text)
        per_page[chunk.source_id] = per_page.get(chunk.source_id, 0) + 1
    chosen: list[RankedChunk] = []
    for each in ranked:
        chunk = each.chunk
        if per_page.get(chunk.source_id, 0) >= max_per_doc or seen.holds(chunk.text):
            continue
        if len(chosen) == limit:
            return chosen, True
        chosen.append(each)
        seen.add(chunk.text)
        per_page[chunk.source_id] = per_page.get(chunk.source_id, 0) + 1
    return chosen, False


def _keep(
    ranked: RankedChunk,
    found: FoundChunk | None,
    *,
    calibrated: bool,
    call: Call,
) -> FoundPassage:
    chunk = ranked.chunk
    place = PassagePlace.of_chunk(chunk)
    return FoundPassage(
        passage=call.parts.scratch.put(call.caller, place, chunk.text),
        chunk=chunk,
        relevance=ranked.relevance,
        confidence=ranked.confidence if calibrated else None,
        source="reranked" if calibrated and found is not None else _found_by(ranked),
        word_score=found.word_score if found is not None else 0.0,
        vector_score=found.vector_score if found is not None else None,
        fused_score=found.fused_score if found is not None else 0.0,
    )


def _found_by(ranked: RankedChunk) -> FoundBy:
    if ranked.matched_by == "locality":
        return "graph_expanded"
    if ranked.matched_by == "both":
        return "rrf_fusion"
    return "vector" if ranked.matched_by == "vectors" else "bm25"
