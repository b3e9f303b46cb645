"""Builders of blocks and results for the tests of this folder."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from tests.stored import stored_chunk

from citewell.answer.quote import QuoteLimits, choose_quotes, quote_chunk
from citewell.answer.spans import PassageText
from citewell.core.question import parse_query
from citewell.core.records import Block, Quote, RankedChunk
from citewell.core.results import OrchestrationResult, Timing
from citewell.core.tokens import count_tokens

ONE_SENTENCE = QuoteLimits(max_quotes=1, first_tokens=1)
FETCHED = datetime(2026, 2, 22, 14, 30, tzinfo=UTC)


def block(text: str, *, source: int = 1, start: int = 0, **changes: object) -> Block:
    made = Block(
        source_id=source,
        url=f"https://example.org/{source}",
        title=f"Page {source}",
        page_hash="0123456789abcdef",
        fetched_at=FETCHED,
        heading_path=("Birds", "Herons"),
        anchor="herons",
        section=1,
        start=start,
        end=start + len(text),
        text=text,
        tokens=count_tokens(text),
        relevance=0.85,
        confidence=0.92,
        matched_by="both",
        sub_query="what do herons eat",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def ranked_chunk(text: str, *, source: int = 1, start: int = 0) -> RankedChunk:
    chunk = stored_chunk(
        text,
        chunk_id=100 * source + start,
        source_id=source,
        url=f"https://example.org/{source}",
        title=f"Page {source}",
        fetched_at=FETCHED,
        section=1,
        heading_path=("Birds", "Herons"),
        anchor="herons",
        start=start,
        end=start + len(text),
        tokens=count_tokens(text),
    )
    return RankedChunk(
        chunk=chunk, relevance=0.85, confidence=0.92, matched_by="both", sub_query=""
    )


def quotes_of(query: str, of: Block, *, limits: QuoteLimits = ONE_SENTENCE) -> list[Quote]:
    passage = PassageText(text=of.text, path=(of.title, *of.heading_path), relevance=of.relevance)
    return [
        quote_chunk(of, span, confidence=of.confidence)
        for span in choose_quotes(parse_query(query), [passage], limits=limits)
    ]


def result(
    *blocks: Block, query: str = "what do herons eat", **changes: object
) -> OrchestrationResult:
    made = OrchestrationResult(
        query=query,
        intent="factual",
        sub_queries=(query,),
        mode="chunk",
        answered=bool(blocks),
        blocks=blocks,
        quotes=tuple(quote for each in blocks for quote in quotes_of(query, each)),
        stop_reason="answered",
        documents_searched=5,
        documents_matched=len({each.source_id for each in blocks}),
        chunks_evaluated=47,
        urls_ingested=1,
        timing=Timing(total_ms=2340.4, retrieval_ms=890, reranking_ms=620),
    )
    return replace(made, **changes)  # type: ignore[arg-type]
