"""Passages: found by a search, cached in scratch, restored from the store."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Literal

from citewell.app.scratch import (
    Passage,
    PassagePlace,
    parse_scratch_uri,
    section_of_passage,
)
from citewell.core.errors import NotFound, ScopeViolation
from citewell.core.frozen import frozen
from citewell.core.ids import parse_citation_id
from citewell.core.records import SearchFilter
from citewell.retrieve.pipeline import Models, Options, retrieve

if TYPE_CHECKING:
    from citewell.core.records import Page, RankedChunk
    from citewell.retrieve.pipeline import Retrieval, SearchMode
    from citewell.tools.kb.arguments import Mode
    from citewell.tools.scope import Scope
    from citewell.tools.tool import Call

FoundBy = Literal["reranked", "rrf_fusion", "graph_expanded", "vector", "bm25", "hybrid"]

_MODES: dict[Mode, SearchMode] = {
    "auto": "hybrid",
    "vector_only": "vectors",
    "hybrid_local": "neighbours",
}


@frozen
class FoundPassage:
    """A passage that a search found, with its ranked chunk."""

    passage: Passage
    ranked: RankedChunk
    source: FoundBy


async def find_passages(
    question: str,
    *,
    call: Call,
    where: SearchFilter,
    mode: Mode,
    limit: int,
    max_per_doc: int,
    shown: frozenset[int] = frozenset(),
) -> Retrieval:
    """Return up to `limit` chunks that are not among the `shown` ones.

    At most `max_per_doc` are of one page, those shown before included.

    Raises:
        InvalidArgument: only vectors may be searched, and there are none for this question.
    """
    parts = call.parts
    return await retrieve(
        question,
        store=parts.store,
        models=Models(embedder=parts.embedder, reranker=parts.reranker),
        where=where,
        options=Options(limit=limit, mode=_MODES[mode], per_page=max_per_doc, shown=shown),
    )


def keep_passages(retrieval: Retrieval, call: Call) -> list[FoundPassage]:
    """Keep the chunks that a search found as passages of the caller."""
    return [
        FoundPassage(
            passage=keep_passage(ranked, call),
            ranked=ranked,
            source=_found_by(ranked, calibrated=retrieval.calibrated),
        )
        for ranked in retrieval.chunks
    ]


def keep_passage(ranked: RankedChunk, call: Call) -> Passage:
    """Keep one chunk as a passage of the caller."""
    place = PassagePlace.of_chunk(ranked.chunk)
    return call.parts.scratch.put(call.caller, place, ranked.chunk.text)


async def open_passage(passage_id: str, *, scope: Scope, call: Call) -> Passage:
    """Return the caller's passage by its id or URI, restored from its page if necessary.

    The id of a citation also names a passage: the one that contains the quote.

    Raises:
        NotFound: the caller has no such passage, or its page has changed or gone since.
        ScopeViolation: it lies outside the scope.
    """
    scratch, caller = call.parts.scratch, call.caller
    place = await find_place(passage_id, call) or await _find_cited(passage_id, call)
    if place is None:
        raise NotFound(
            f"There is no passage {passage_id[:80]!r}.",
            suggestion="Pass a passage_id of kb_search, or the id of a quote of search or answer.",
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
    """Return the place of the caller's passage, by its id or URI.

    A passage of another process, or one dropped by this one, is found by the chunk it names.
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


async def _find_cited(citation: str, call: Call) -> PassagePlace | None:
    """Return the place of the passage that a cited span begins in, if its page is visible.

    Raises:
        NotFound: the page has changed since.
    """
    cited = parse_citation_id(citation)
    page = None if cited is None else await call.parts.store.get_page(cited.source_id)
    if cited is None or page is None or page.info.project != call.caller.project:
        return None
    if not page.info.text_hash.startswith(cited.page_hash):
        raise NotFound(
            f"The page of this citation has changed since: {page.info.url}",
            suggestion="Call kb_verify_quote with the quote to see what became of it.",
        )
    chunks = await call.parts.store.chunks_of_page(cited.source_id)
    holding = [chunk for chunk in chunks if chunk.start <= cited.start]
    return PassagePlace.of_chunk(max(holding, key=lambda chunk: chunk.start)) if holding else None


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


def _found_by(ranked: RankedChunk, *, calibrated: bool) -> FoundBy:
    if ranked.matched_by == "locality":
        return "graph_expanded"
    if calibrated:
        return "reranked"
    if ranked.matched_by == "both":
        return "rrf_fusion"
    return "vector" if ranked.matched_by == "vectors" else "bm25"
