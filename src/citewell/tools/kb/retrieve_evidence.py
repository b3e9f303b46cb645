"""`kb.retrieve_evidence`: search and extract in one call, the default way to ask."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.answer.quote import QuoteLimits
from citewell.research.read_path import judge_parts, quote_evidence
from citewell.research.support import absence_warnings, absent_words
from citewell.tools.kb import evidence
from citewell.tools.kb.arguments import (
    DEFAULT_QUOTES,
    DEFAULT_TOP_K,
    MAX_QUOTES,
    EvidenceOptions,
    MaxQuotes,
    Question,
    ShortOptions,
)
from citewell.tools.kb.evidence import (
    MAX_RESULT_TOKENS,
    EvidenceOutput,
    PassageQuote,
    remember_quotes,
    shape_quotes,
)
from citewell.tools.kb.passages import FoundBy, FoundPassage, find_passages, keep_passages
from citewell.tools.research.arguments import SourceUrls
from citewell.tools.scope import ScopeInput, ShortFilters, check_scope, limit_to_urls, search_filter
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText

MAX_PASSAGES = 20
_QUOTE_TOKENS = 80
# Enough to see that nothing answers.
_NEAREST = 3
_NOT_SUPPORTED = (
    "Nothing indexed clearly answers this. The nearest sentences follow; do not take them for an "
    "answer. Call answer with a URL that may hold one."
)

PassageCount = Annotated[int, Field(ge=1, le=MAX_PASSAGES)]


class RetrieveEvidenceInput(ToolInput):
    """Arguments of `kb.retrieve_evidence`."""

    question: Question
    source_urls: SourceUrls = None
    top_k: PassageCount = DEFAULT_TOP_K
    max_quotes: MaxQuotes = DEFAULT_QUOTES
    scope: ScopeInput | None = None
    filters: ShortFilters | None = None
    options: ShortOptions | None = None


class RetrieveEvidenceOutput(EvidenceOutput):
    """The quotes, and how they were found."""

    supported: bool
    """False when the quotes are only the nearest matches."""
    mode: OwnText
    passages: int


class CandidateShape(ToolOutput):
    """A passage that was searched for quotes."""

    passage_id: OwnText
    section_id: OwnText
    source: FoundBy
    relevance: float


class DebuggedEvidenceOutput(RetrieveEvidenceOutput):
    """The quotes with every candidate, on request; not in the listed schema."""

    candidates: list[CandidateShape]


async def run(arguments: RetrieveEvidenceInput, call: Call) -> RetrieveEvidenceOutput:
    """Search as `kb.search` does and quote as `kb.extract_evidence` does."""
    scope = check_scope(arguments.scope, call)
    where = await search_filter(scope, arguments.filters, call)
    where, url_notes = await limit_to_urls(where, arguments.source_urls, call)
    options = arguments.options or EvidenceOptions()
    retrieval = await find_passages(
        arguments.question,
        call=call,
        where=where,
        mode=options.mode,
        limit=arguments.top_k,
        max_per_doc=options.max_per_doc,
    )
    passages = keep_passages(retrieval, call)
    embedder = call.parts.embedder
    judged = await judge_parts(retrieval, (arguments.question,), embedder=embedder)
    judgement = judged[arguments.question].judgement
    limits = QuoteLimits(
        max_quotes=arguments.max_quotes, first_tokens=_QUOTE_TOKENS, longest_tokens=_QUOTE_TOKENS
    )
    chosen = await quote_evidence(
        retrieval, (arguments.question,), judged=judged, limits=limits, embedder=embedder
    )
    kept = {passage.ranked.chunk.chunk_id: passage.passage for passage in passages}
    quoted = [
        PassageQuote(
            passage=kept[quote.ranked.chunk.chunk_id],
            start=quote.span.start,
            end=quote.span.end,
            confidence=quote.confidence,
            is_cut=quote.span.is_cut,
        )
        for quote in chosen
    ]
    quotes = await shape_quotes(quoted, limits=limits, store=call.parts.store)
    is_settled = judgement.is_settled
    absent = (
        []
        if is_settled
        else absent_words(
            retrieval.query.written,
            retrieval.ranked,
            unknown=retrieval.unknown_words,
            notes=retrieval.notes,
        )
    )
    supported = bool(quotes) and judgement.is_supported
    output = RetrieveEvidenceOutput(
        supported=supported,
        quotes=quotes if supported else quotes[:_NEAREST],
        notes=[*retrieval.notes, *url_notes, *absence_warnings(absent if quotes else ())] or None,
        mode=options.mode,
        passages=len(passages),
    )
    remember_quotes(
        output.quotes, quoted, call=call, tool="kb.retrieve_evidence", question=arguments.question
    )
    if not options.include_debug:
        return output
    return DebuggedEvidenceOutput(
        **dict(output), candidates=[_candidate(passage) for passage in passages]
    )


def render(output: RetrieveEvidenceOutput, call: Call) -> str:
    """Return the quotes, after a warning where they do not answer the question."""
    text = evidence.render(output, call)
    return text if output.supported or not output.quotes else f"{_NOT_SUPPORTED}\n{text}"


def _candidate(passage: FoundPassage) -> CandidateShape:
    return CandidateShape(
        passage_id=passage.passage.passage_id,
        section_id=passage.passage.place.section_id,
        source=passage.source,
        relevance=round(passage.ranked.relevance, 4),
    )


TOOL = Tool(
    name="kb.retrieve_evidence",
    toolset="kb",
    title="Quote what is indexed",
    description=f"""
        Search the indexed pages and return only the sentences that answer, quoted and cited.
        Use when you ask about indexed pages.
        Do not use when the page was never indexed: call answer with its URL.
        Returns at most max_quotes quotes of 80 tokens.
        If you need more, call kb_read_excerpt with a quote's passage_id.
        Defaults: top_k {DEFAULT_TOP_K}, max_quotes {DEFAULT_QUOTES}.
            Max: top_k {MAX_PASSAGES}, {MAX_QUOTES} quotes.
    """,
    needs=("store", "scratch", "embedder", "reranker", "citations"),
    run=run,
    render=render,
    example={"question": "How do I cancel a task?"},
    max_result_tokens=MAX_RESULT_TOKENS,
)
