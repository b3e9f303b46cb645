"""`rag_query_websites`: search the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, field_validator

from citewell.answer.links import link_to_span
from citewell.answer.synthesis import citation_text
from citewell.core.boundary import NOTE_PLACE, SUPPLIED
from citewell.core.content_fields import FIELD_NAMES
from citewell.core.errors import CitewellError
from citewell.tools.research.arguments import question_field
from citewell.tools.supplied import Supplied, is_supplied
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl
from citewell.tools.websites.arguments import ContentTypeFilter, Stopwatch, headings_above
from citewell.tools.websites.scores import ConfidenceLevel, confidence_level
from citewell.tools.websites.search import library_filter, search_library
from citewell.tools.websites.synthesis import synthesise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from citewell.core.records import Page, StoredChunk
    from citewell.events.records import EventValue
    from citewell.tools.websites.search import ScoredChunk

TOOL_NAME = "rag_query_websites"
DEFAULT_RESULTS = 10
MAX_RESULTS = 20
MAX_SOURCE_IDS = 200
MAX_QUERY_CHARACTERS = 2_000


class QueryInput(ToolInput):
    """Arguments of `rag_query_websites`."""

    query: Annotated[
        str,
        question_field(
            "query", max_length=MAX_QUERY_CHARACTERS, description="Natural language question."
        ),
    ]
    max_results: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = DEFAULT_RESULTS
    content_type_filter: ContentTypeFilter = None
    source_ids: Annotated[
        list[int] | None,
        Field(min_length=1, max_length=MAX_SOURCE_IDS, description="Only these websites."),
    ] = None
    include_synthesis: Annotated[
        bool, Field(description="Also write a cited summary (slower).")
    ] = False
    fields: Annotated[
        dict[str, str] | None,
        Field(
            min_length=1,
            description="Only pages whose field has this value: company, role, location …",
        ),
    ] = None

    @field_validator("fields")
    @classmethod
    def _check_names(cls, fields: dict[str, str] | None) -> dict[str, str] | None:
        unknown = sorted(set(fields or ()) - set(FIELD_NAMES))
        if unknown:
            raise ValueError(f"no field {unknown[0]!r}; there are {', '.join(FIELD_NAMES)}")
        return fields


class ResultShape(ToolOutput):
    """A chunk that matched; `relevance` is 1 at best, each score 0."""

    chunk_id: int
    source_id: int
    page_id: int
    source_url: PageUrl
    content: PageText
    relevance: float
    vector_score: float
    fts_score: float | None
    combined_score: float
    metadata: dict[OwnText, PageLabel]
    supplied: Supplied = None
    citation: PageText
    link: PageUrl
    """Opens the page at the chunk."""


class QueryOutput(ToolOutput):
    """Results, best first; `[n]` in the synthesis is the n-th of them."""

    query: OwnText
    results: list[ResultShape]
    total_results: int
    synthesis: PageText | None
    synthesis_by: OwnText | None = None
    confidence_level: ConfidenceLevel
    processing_time_ms: int
    notes: list[OwnText] | None = None


async def run(arguments: QueryInput, call: Call) -> QueryOutput:
    """Search, and synthesise a summary on request."""
    clock = Stopwatch()
    filters: dict[str, EventValue] = {
        "content_type": arguments.content_type_filter,
        "source_ids": list(arguments.source_ids or ()) or None,
        "fields": {**(arguments.fields or {})} or None,
    }
    emit = call.parts.events.emit
    emit("SemanticQueryStart", tool_name=TOOL_NAME, query=arguments.query, filters=filters)
    try:
        output = await _query(arguments, call, clock)
    except CitewellError as error:
        emit("SemanticQueryFailed", tool_name=TOOL_NAME, query=arguments.query, error=error.message)
        raise
    emit(
        "SemanticQueryComplete",
        tool_name=TOOL_NAME,
        query=arguments.query,
        results_count=len(output.results),
        confidence_level=output.confidence_level,
        processing_time_ms=output.processing_time_ms,
    )
    return output


async def _query(arguments: QueryInput, call: Call, clock: Stopwatch) -> QueryOutput:
    where = await library_filter(
        call,
        content_type=arguments.content_type_filter,
        source_ids=arguments.source_ids,
        fields=arguments.fields,
    )
    outcome = await search_library(
        arguments.query, where=where, limit=arguments.max_results, call=call
    )
    notes = list(outcome.notes)
    synthesis = None
    if arguments.include_synthesis:
        synthesis = await synthesise(arguments.query, outcome.chunks, call)
        notes += [synthesis.note] if synthesis is not None and synthesis.note else []
    pages = await _pages_of(outcome.chunks, call)
    entries = await call.parts.store.library.holders_of(
        [result.chunk.source_id for result in outcome.chunks]
    )
    best = outcome.chunks[0].combined_score if outcome.chunks else None
    return QueryOutput(
        query=arguments.query,
        results=[_shape(result, pages, entries) for result in outcome.chunks],
        total_results=outcome.total,
        synthesis=synthesis.text if synthesis is not None else None,
        synthesis_by=synthesis.by if synthesis is not None else None,
        confidence_level=confidence_level(best),
        processing_time_ms=clock.ms,
        notes=notes or None,
    )


async def _pages_of(chunks: tuple[ScoredChunk, ...], call: Call) -> dict[int, Page]:
    """Return the pages of the chunks that have not changed since."""
    pages: dict[int, Page] = {}
    for chunk in {result.chunk.source_id: result.chunk for result in chunks}.values():
        page = await call.parts.store.get_page(chunk.source_id)
        if page is not None and page.info.text_hash == chunk.page_hash:
            pages[chunk.source_id] = page
    return pages


def _headers(chunk: StoredChunk, page: Page) -> dict[str, str]:
    headings = headings_above(chunk, page.sections)
    return {f"Header {level}": heading for level, heading in headings.items()}


def _shape(
    result: ScoredChunk, pages: Mapping[int, Page], entries: Mapping[int, int]
) -> ResultShape:
    chunk = result.chunk
    page = pages.get(chunk.source_id)
    return ResultShape(
        chunk_id=chunk.chunk_id,
        # A page of a site is not listed, only its site is.
        source_id=entries.get(chunk.source_id, chunk.source_id),
        page_id=chunk.source_id,
        source_url=chunk.url,
        content=chunk.text,
        relevance=round(1.0 - result.combined_score, 4),
        vector_score=result.vector_score,
        fts_score=result.fts_score,
        combined_score=result.combined_score,
        metadata={} if page is None else _headers(chunk, page),
        supplied=is_supplied(chunk.origin),
        citation=citation_text(chunk.url, chunk.heading_path),
        link=chunk.url
        if page is None
        else link_to_span(page, chunk.anchor, start=chunk.start, end=chunk.end),
    )


def render(output: QueryOutput, call: Call) -> str:
    """Return the summary, then each result with its source and its text."""
    if not output.results:
        return "Nothing found. Call rag_list_websites to see what is processed."
    lines = [
        f"{len(output.results)} of {output.total_results} matches, "
        f"confidence {output.confidence_level} (relevance: 1 is best). {NOTE_PLACE}"
    ]
    if output.synthesis is not None:
        lines.append(f"Synthesis by {output.synthesis_by}; [n] is result n:")
        lines.append(output.synthesis)
    for number, result in enumerate(output.results, start=1):
        lines.append(
            f"[{number}] {result.citation} — relevance {result.relevance}, "
            f"source_id {result.source_id}, chunk_id {result.chunk_id}"
            + (f", {SUPPLIED}" if result.supplied else "")
        )
        lines.append(result.content)
    lines += [f"Note: {note}" for note in output.notes or ()]
    return "\n".join(lines)


TOOL = Tool(
    name=TOOL_NAME,
    toolset="websites",
    title="Search processed websites",
    description=f"""
        Search all processed websites; results cite their source.
        Use when a question is about websites of the library.
        Do not use when the page is not processed yet: call rag_process_website first.
        Returns at most max_results chunks with relevance (1 is best), header path and citation,
            and confidence_level: high, medium or low.
        If you need more, call again with source_ids or other words.
        Defaults: {DEFAULT_RESULTS} results, no synthesis. Max: {MAX_RESULTS} results.
    """,
    asks_client=True,
    needs=("store", "embedder", "reranker", "synthesizer", "events"),
    run=run,
    render=render,
    example={"query": "What are the main requirements for backend roles?", "max_results": 5},
)
