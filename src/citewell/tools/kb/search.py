"""`kb.search`: a shortlist of passages with previews that show why; never their text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, WithJsonSchema

from citewell.answer.quote import cut_preview
from citewell.core.boundary import SUPPLIED, enclose
from citewell.core.question import parse_query
from citewell.tools.kb.arguments import (
    DEFAULT_TOP_K,
    MAX_PAGE_SIZE,
    MAX_TOP_K,
    Query,
    SearchOptions,
    ShortSearchOptions,
    TopK,
)
from citewell.tools.kb.evidence import passage_text
from citewell.tools.kb.passages import FoundBy, find_passages, keep_passages
from citewell.tools.paging import MAX_CURSOR_CHARACTERS, ListPosition, fit_shapes
from citewell.tools.release_label import ReleaseLabel, shape_release
from citewell.tools.research.arguments import SourceUrls
from citewell.tools.scope import (
    ScopeInput,
    ShortFilters,
    check_scope,
    limit_to_urls,
    search_filter,
)
from citewell.tools.supplied import Supplied, is_supplied
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl, with_anchor

if TYPE_CHECKING:
    from citewell.tools.kb.passages import FoundPassage

MAX_RESULT_TOKENS = 6_000


class KbSearchInput(ToolInput):
    """Arguments of `kb.search`."""

    query: Query
    source_urls: SourceUrls = None
    top_k: Annotated[TopK, Field(description="Most results in all.")] = DEFAULT_TOP_K
    cursor: Annotated[
        str | None,
        Field(max_length=MAX_CURSOR_CHARACTERS, description="next_cursor of the call before."),
    ] = None
    page_size: Annotated[int, Field(ge=1, le=MAX_PAGE_SIZE)] = DEFAULT_TOP_K
    scope: ScopeInput | None = None
    filters: ShortFilters | None = None
    options: ShortSearchOptions | None = None


class DebugShape(ToolOutput):
    """The scores of a result."""

    source_id: int
    start: int
    end: int
    tokens: int
    heading_path: list[PageLabel]
    relevance: float
    confidence: float | None = None
    word_score: float
    vector_score: float | None = None
    fused_score: float


class SearchResultShape(ToolOutput):
    """A passage that matches."""

    passage_id: OwnText
    section_id: OwnText
    doc_tag: OwnText
    title: PageLabel
    url: PageUrl
    rank: int
    score: float | None = None
    source: FoundBy
    preview: PageText
    scratch_uri: OwnText
    size_bytes: int
    anchor: PageUrl | None
    version: ReleaseLabel = None
    supplied: Supplied = None
    debug: Annotated[DebugShape | None, WithJsonSchema({"type": "object"})] = None


class KbSearchOutput(ToolOutput):
    """A page of the shortlist."""

    results: list[SearchResultShape]
    next_cursor: OwnText | None
    partial: bool
    limit_reason: Literal["page_size", "token_cap", "byte_cap", "none"]
    session_id: OwnText
    notes: list[OwnText] | None = None


async def run(arguments: KbSearchInput, call: Call) -> KbSearchOutput:
    """Search, keep the passages in scratch and return their previews."""
    scope = check_scope(arguments.scope, call)
    where = await search_filter(scope, arguments.filters, call)
    where, url_notes = await limit_to_urls(where, arguments.source_urls, call)
    options = arguments.options or SearchOptions()
    position = ListPosition.of(arguments, arguments.cursor, call)
    shown = position.shown
    limit = min(arguments.page_size, arguments.top_k - len(shown))
    retrieval = await find_passages(
        arguments.query,
        call=call,
        where=where,
        mode=options.mode,
        limit=limit,
        max_per_doc=options.max_per_doc,
        shown=shown,
    )
    passages = keep_passages(retrieval, call)
    shaped = [
        _shape(passage, rank=rank, arguments=arguments)
        for rank, passage in enumerate(passages, start=len(shown) + 1)
    ]
    results = fit_shapes(shaped, max_tokens=MAX_RESULT_TOKENS)
    cut = len(results) < len(shaped)
    ids = [passage.ranked.chunk.chunk_id for passage in passages[: len(results)]]
    goes_on = cut or (retrieval.more and len(shown) + len(ids) < arguments.top_k)
    return KbSearchOutput(
        results=results,
        next_cursor=position.cursor_after(ids) if goes_on else None,
        partial=goes_on,
        limit_reason="token_cap" if cut else "page_size" if goes_on else "none",
        session_id=call.parts.scratch.session_of(call.caller),
        notes=[*retrieval.notes, *url_notes] or None,
    )


def _shape(passage: FoundPassage, *, rank: int, arguments: KbSearchInput) -> SearchResultShape:
    place = passage.passage.place
    options = arguments.options or SearchOptions()
    return SearchResultShape(
        passage_id=passage.passage.passage_id,
        section_id=place.section_id,
        doc_tag=place.doc_tag,
        title=place.title,
        url=place.url,
        rank=rank,
        score=round(passage.ranked.relevance, 3) if options.include_scores else None,
        source=passage.source,
        preview=cut_preview(
            parse_query(arguments.query),
            passage_text(passage.passage),
            max_characters=options.max_snippet_chars,
        ),
        scratch_uri=passage.passage.uri,
        size_bytes=passage.passage.size_bytes,
        anchor=place.anchor,
        version=shape_release(place.release),
        supplied=is_supplied(place.origin),
        debug=_debug(passage) if options.include_debug else None,
    )


def _debug(passage: FoundPassage) -> DebugShape:
    ranked, chunk = passage.ranked, passage.ranked.chunk
    return DebugShape(
        source_id=chunk.source_id,
        start=chunk.start,
        end=chunk.end,
        tokens=chunk.tokens,
        heading_path=list(chunk.heading_path),
        relevance=round(ranked.relevance, 4),
        confidence=None if ranked.confidence is None else round(ranked.confidence, 4),
        word_score=round(ranked.word_score, 4),
        vector_score=None if ranked.vector_score is None else round(ranked.vector_score, 4),
        fused_score=round(ranked.fused_score, 5),
    )


def render(output: KbSearchOutput, call: Call) -> str:
    """Return two lines for each result: what it is, and its preview."""
    if not output.results:
        return "Nothing found. Call status to see what is indexed, or answer with a URL."
    lines: list[str] = []
    for result in output.results:
        marks = [f"passage {result.passage_id}", f"section {result.section_id}"]
        marks += [f"tag {result.doc_tag}"] if result.doc_tag else []
        marks += [f"{result.source}", f"{result.size_bytes} bytes"]
        marks += [f"score {result.score}"] if result.score is not None else []
        marks += [SUPPLIED] if result.supplied else []
        version = f" ({result.version})" if result.version else ""
        place = f"{result.title or 'Untitled'}{version} — {with_anchor(result.url, result.anchor)}"
        lines.append(f"[{result.rank}] {enclose(place)}")
        lines.append(f"    {result.preview} ({', '.join(marks)})")
        if result.debug is not None:
            lines.append(f"    {result.debug.model_dump_json(exclude_none=True)}")
    if output.next_cursor is not None:
        lines.append(f"More: call again with cursor {output.next_cursor}")
    lines += [f"Note: {note}" for note in output.notes or ()]
    return "\n".join(lines)


TOOL = Tool(
    name="kb.search",
    toolset="kb",
    title="Find passages",
    description=f"""
        List the passages that best match, each with a preview and ids; never their text.
        Use when you explore, or choose yourself what to read.
        Do not use when you have a question: kb_retrieve_evidence returns the quotes.
        Returns at most page_size results with previews of max_snippet_chars.
        If you need more, call kb_read_excerpt with a passage_id, or again with next_cursor.
        Defaults: top_k {DEFAULT_TOP_K}, one result per page, mode auto.
            Max: top_k {MAX_TOP_K}, page_size {MAX_PAGE_SIZE}.
    """,
    needs=("store", "scratch", "embedder", "reranker", "secret"),
    run=run,
    render=render,
    example={"query": "cancel a task", "top_k": 5, "options": {"include_scores": True}},
    max_result_tokens=MAX_RESULT_TOKENS + 4_000,
)
