"""Searching the library: chunks, ranked and raised where fields of their page speak for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from citewell.core.content_fields import load_fields
from citewell.core.records import Block, SearchFilter
from citewell.core.words import words
from citewell.retrieve.candidates import FoundChunk, find_candidates
from citewell.retrieve.duplicates import SeenTexts
from citewell.retrieve.pipeline import DEPTH
from citewell.retrieve.query import read_query
from citewell.retrieve.rerank import rank
from citewell.tools.websites.field_words import asked_fields, names_field
from citewell.tools.websites.scores import combined_distance, vector_distance, word_distance

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Self

    from citewell.core.content_fields import ContentField
    from citewell.core.records import RankedChunk, StoredChunk
    from citewell.tools.registry import Call

# Pages whose chunks are looked through for a field that the query asks for in other words.
_PAGES_LOOKED_THROUGH = 5
# What holding a field that was asked for is worth, in fields that the query names.
_ASKED_WEIGHT = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredChunk:
    """A chunk with its three scores; 0 is best in each."""

    chunk: StoredChunk
    vector_score: float
    fts_score: float | None
    combined_score: float

    def as_block(self) -> Block:
        """Return the chunk as what quotes are picked from."""
        chunk = self.chunk
        return Block(
            source_id=chunk.source_id,
            url=chunk.url,
            title=chunk.title,
            page_hash=chunk.page_hash,
            fetched_at=chunk.fetched_at,
            heading_path=chunk.heading_path,
            anchor=chunk.anchor,
            section=chunk.section,
            start=chunk.start,
            end=chunk.end,
            text=chunk.text,
            tokens=chunk.tokens,
            relevance=1.0 - self.combined_score,
            confidence=None,
            matched_by="both",
            sub_query="",
            first_ordinal=chunk.ordinal,
            last_ordinal=chunk.ordinal,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a query found, best first, and how many chunks matched in all."""

    chunks: tuple[ScoredChunk, ...]
    total: int
    notes: tuple[str, ...] = ()


async def search_library(query: str, *, where: SearchFilter, limit: int, call: Call) -> Found:
    """Return the `limit` chunks that best answer `query`, near-duplicates left out."""
    parts = call.parts
    asked = read_query(query)
    candidates = await find_candidates(
        asked,
        store=parts.store,
        embedder=parts.embedder,
        where=where,
        depth=max(DEPTH, limit),
    )
    fields = await _PageFields.read(query, candidates.found, call)
    found = [*candidates.found, *await fields.chunks_beside(candidates.found, call)]
    ranking = await rank(asked, found, reranker=parts.reranker)
    evidence = {each.chunk.chunk_id: each for each in found}
    scored = [
        _score(each, evidence[each.chunk.chunk_id], fields=fields.speaking_for(each.chunk))
        for each in ranking.chunks
    ]
    # Stable: of two equals the one that the ranking put first stays first.
    scored.sort(key=lambda each: each.combined_score)
    return Found(
        chunks=tuple(_without_duplicates(scored, limit=limit)),
        total=candidates.chunks_matched + len(found) - len(candidates.found),
        notes=tuple(dict.fromkeys((*candidates.notes, *ranking.notes))),
    )


async def library_filter(
    call: Call,
    *,
    content_type: str | None,
    source_ids: Sequence[int] | None,
    fields: Mapping[str, str] | None,
) -> SearchFilter:
    """Return which pages a query may see; entries are given as the pages that belong to them."""
    library, project = call.parts.store.library, call.caller.project
    allowed: Collection[int] | None = None
    if source_ids is not None:
        allowed = await library.pages_of(source_ids, project=project)
    if fields:
        holding = await library.pages_with_fields(fields, project=project)
        allowed = holding if allowed is None else set(holding) & set(allowed)
    return SearchFilter(
        project=project,
        content_type=content_type,
        source_ids=None if allowed is None else tuple(sorted(allowed)),
    )


class _PageFields:
    """What the content types found in the candidates' pages, seen from one query."""

    def __init__(self, query: str, by_page: Mapping[int, tuple[ContentField, ...]]) -> None:
        self._by_page = by_page
        self._asked = asked_fields(query)
        words_asked = frozenset(words(query))
        self._named = {
            source_id: len({each.name for each in held if names_field(words_asked, each)})
            for source_id, held in by_page.items()
        }

    @classmethod
    async def read(cls, query: str, found: Sequence[FoundChunk], call: Call) -> Self:
        source_ids = sorted({each.chunk.source_id for each in found})
        held = await call.parts.store.library.fields_of(source_ids)
        return cls(query, {source_id: load_fields(plain) for source_id, plain in held.items()})

    def speaking_for(self, chunk: StoredChunk) -> int:
        """Return how much the fields of its page speak for a chunk."""
        holds = self._asked and any(_holds(chunk, each) for each in self._asked_of(chunk.source_id))
        return self._named.get(chunk.source_id, 0) + (_ASKED_WEIGHT if holds else 0)

    async def chunks_beside(self, found: Sequence[FoundChunk], call: Call) -> list[FoundChunk]:
        """Return the chunks of the best pages that hold what is asked for in other words."""
        known = {each.chunk.chunk_id for each in found}
        pages = dict.fromkeys(each.chunk.source_id for each in found)
        wanted = [source_id for source_id in pages if self._asked_of(source_id)]
        beside: list[FoundChunk] = []
        for source_id in wanted[:_PAGES_LOOKED_THROUGH]:
            held = self._asked_of(source_id)
            beside += [
                FoundChunk(
                    chunk=chunk,
                    word_score=0.0,
                    vector_score=None,
                    fused_score=0.0,
                    matched_by="words",
                )
                for chunk in await call.parts.store.chunks_of_page(source_id)
                if chunk.chunk_id not in known and any(_holds(chunk, each) for each in held)
            ]
        return beside

    def _asked_of(self, source_id: int) -> list[ContentField]:
        held = self._by_page.get(source_id, ())
        return [each for each in held if each.name in self._asked]


def _holds(chunk: StoredChunk, field: ContentField) -> bool:
    return field.start is not None and chunk.start <= field.start < chunk.end


def _score(ranked: RankedChunk, found: FoundChunk, *, fields: int) -> ScoredChunk:
    vector = vector_distance(found.vector_score)
    by_words = word_distance(found.word_score)
    return ScoredChunk(
        chunk=ranked.chunk,
        vector_score=vector,
        fts_score=by_words,
        combined_score=combined_distance(
            ranked.confidence, vector=vector, words_score=by_words, fields=fields
        ),
    )


def _without_duplicates(scored: Sequence[ScoredChunk], *, limit: int) -> list[ScoredChunk]:
    seen = SeenTexts()
    kept: list[ScoredChunk] = []
    for each in scored:
        if len(kept) == limit:
            break
        if not seen.holds(each.chunk.text):
            seen.add(each.chunk.text)
            kept.append(each)
    return kept
