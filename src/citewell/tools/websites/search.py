"""Search the library; chunks rank higher if typed fields of their page support them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.core.content_fields import load_fields
from citewell.core.frozen import frozen
from citewell.core.records import SearchFilter
from citewell.core.words import words
from citewell.retrieve.candidates import FoundChunk
from citewell.retrieve.pipeline import Models, Options, retrieve
from citewell.tools.websites.field_words import asked_fields, names_field
from citewell.tools.websites.scores import combined_distance, vector_distance, word_distance

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from citewell.core.content_fields import ContentField
    from citewell.core.records import RankedChunk, StoredChunk
    from citewell.tools.tool import Call

# Pages searched for a field that the query asks for in other words.
_PAGES_LOOKED_THROUGH = 5
# The weight of containing a field that was asked for, in fields that the query names.
_ASKED_WEIGHT = 2


@frozen
class ScoredChunk:
    """A chunk with its three scores; 0 is best in each."""

    ranked: RankedChunk
    vector_score: float
    fts_score: float | None
    combined_score: float

    @property
    def chunk(self) -> StoredChunk:
        """The chunk itself."""
        return self.ranked.chunk


@frozen
class LibraryResults:
    """The results of a query, best first, and the total number of matching chunks."""

    chunks: tuple[ScoredChunk, ...]
    total: int
    notes: tuple[str, ...] = ()


async def search_library(
    query: str, *, where: SearchFilter, limit: int, call: Call
) -> LibraryResults:
    """Return the `limit` chunks that best answer `query`, near-duplicates left out."""
    parts = call.parts
    fields = _PageFields(query)

    async def further(candidates: Sequence[FoundChunk]) -> list[FoundChunk]:
        await fields.load({candidate.chunk.source_id for candidate in candidates}, call)
        return await fields.chunks_beside(candidates, call)

    def weigh(ranked: Sequence[RankedChunk]) -> list[float]:
        return [1.0 - _score(chunk, fields).combined_score for chunk in ranked]

    retrieval = await retrieve(
        query,
        store=parts.store,
        models=Models(embedder=parts.embedder, reranker=parts.reranker),
        where=where,
        options=Options(limit=limit, further=further, weigh=weigh),
    )
    return LibraryResults(
        chunks=tuple(_score(chunk, fields) for chunk in retrieval.chunks),
        total=retrieval.chunks_matched
        + len(retrieval.ranked)
        - sum(chunk.word_score > 0 or chunk.vector_score is not None for chunk in retrieval.ranked),
        notes=retrieval.notes,
    )


async def library_filter(
    call: Call,
    *,
    content_type: str | None,
    source_ids: Sequence[int] | None,
    fields: Mapping[str, str] | None,
) -> SearchFilter:
    """Return the filter of a query: pages of entries that match all conditions.

    The content type is that of the entry; a page can belong to several.
    """
    library, project = call.parts.store.library, call.caller.project
    limits = [await library.member_pages(project=project, content_type=content_type)]
    if source_ids is not None:
        limits.append(await library.pages_of(source_ids, project=project))
    if fields:
        limits.append(await library.pages_with_fields(fields, project=project))
    allowed = [set(pages) for pages in limits if pages is not None]
    return SearchFilter(
        project=project,
        source_ids=tuple(sorted(set.intersection(*allowed))) if allowed else None,
    )


class _PageFields:
    """The typed fields of the candidates' pages that concern a query."""

    def __init__(self, query: str) -> None:
        self._by_page: dict[int, tuple[ContentField, ...]] = {}
        self._asked = asked_fields(query)
        self._words = frozenset(words(query))
        self._named: dict[int, int] = {}

    async def load(self, source_ids: Collection[int], call: Call) -> None:
        """Load the fields of these pages."""
        held = await call.parts.store.library.fields_of(sorted(source_ids))
        for source_id, plain in held.items():
            fields = load_fields(plain)
            self._by_page[source_id] = fields
            self._named[source_id] = len(
                {field.name for field in fields if names_field(self._words, field)}
            )

    def speaking_for(self, chunk: StoredChunk) -> int:
        """Return how many fields of its page support a chunk."""
        holds = self._asked and any(
            _holds(chunk, field) for field in self._asked_of(chunk.source_id)
        )
        return self._named.get(chunk.source_id, 0) + (_ASKED_WEIGHT if holds else 0)

    async def chunks_beside(self, candidates: Sequence[FoundChunk], call: Call) -> list[FoundChunk]:
        """Return further chunks of the best pages that contain a field that was asked for."""
        known = {candidate.chunk.chunk_id for candidate in candidates}
        pages = dict.fromkeys(candidate.chunk.source_id for candidate in candidates)
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
                if chunk.chunk_id not in known and any(_holds(chunk, field) for field in held)
            ]
        return beside

    def _asked_of(self, source_id: int) -> list[ContentField]:
        held = self._by_page.get(source_id, ())
        return [field for field in held if field.name in self._asked]


def _holds(chunk: StoredChunk, field: ContentField) -> bool:
    return field.start is not None and chunk.start <= field.start < chunk.end


def _score(ranked: RankedChunk, fields: _PageFields) -> ScoredChunk:
    vector = vector_distance(ranked.vector_score)
    by_words = word_distance(ranked.word_score)
    return ScoredChunk(
        ranked=ranked,
        vector_score=vector,
        fts_score=by_words,
        combined_score=combined_distance(
            ranked.confidence,
            vector=vector,
            words_score=by_words,
            fields=fields.speaking_for(ranked.chunk),
        ),
    )
