"""Builders of blocks and results for the tests of this folder."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from citewell.answer.quote import pick_quotes
from citewell.core.records import Block
from citewell.core.results import OrchestrationResult, Timing
from citewell.core.tokens import count_tokens

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
        first_ordinal=0,
        last_ordinal=0,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


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
        quotes=tuple(pick_quotes(query, blocks, limit=20)),
        stop_reason="answered",
        documents_searched=5,
        documents_matched=len({each.source_id for each in blocks}),
        chunks_evaluated=47,
        urls_ingested=1,
        timing=Timing(total_ms=2340.4, retrieval_ms=890, reranking_ms=620),
    )
    return replace(made, **changes)  # type: ignore[arg-type]
