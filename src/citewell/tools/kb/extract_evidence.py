"""`kb.extract_evidence`: the sentences of known passages that answer a question."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.answer.quote import QuoteLimits
from citewell.core.question import parse_query
from citewell.research.read_path import quote_passages
from citewell.tools.kb.arguments import (
    DEFAULT_QUOTES,
    MAX_QUOTES,
    MaxQuotes,
    PassageId,
    Question,
)
from citewell.tools.kb.evidence import (
    MAX_RESULT_TOKENS,
    EvidenceOutput,
    PassageQuote,
    passage_text,
    remember_quotes,
    render,
    shape_quotes,
)
from citewell.tools.kb.passages import open_passage
from citewell.tools.scope import ScopeInput, check_scope
from citewell.tools.tool import Call, Tool, ToolInput

MAX_PASSAGES = 20
MAX_QUOTE_TOKENS = 200


class ExtractEvidenceInput(ToolInput):
    """Arguments of `kb.extract_evidence`."""

    question: Question
    passage_ids: Annotated[list[PassageId], Field(min_length=1, max_length=MAX_PASSAGES)]
    max_quotes: MaxQuotes = DEFAULT_QUOTES
    max_quote_tokens: Annotated[int, Field(ge=10, le=MAX_QUOTE_TOKENS)] = 80
    include_context_tokens: Annotated[
        int, Field(ge=0, le=100, description="Short neighbouring sentences to quote along.")
    ] = 20
    scope: ScopeInput | None = None


async def run(arguments: ExtractEvidenceInput, call: Call) -> EvidenceOutput:
    """Quote the sentences of the passages that answer the question.

    Raises:
        NotFound: the caller has no such passage, or its page has changed since.
    """
    scope = check_scope(arguments.scope, call)
    passages = [
        await open_passage(passage_id, scope=scope, call=call)
        for passage_id in dict.fromkeys(arguments.passage_ids)
    ]
    room = arguments.max_quote_tokens if arguments.include_context_tokens else 1
    limits = QuoteLimits(
        max_quotes=arguments.max_quotes,
        first_tokens=room,
        other_tokens=room,
        longest_tokens=arguments.max_quote_tokens,
        with_context=arguments.include_context_tokens > 0,
    )
    # The passages were found for another question, so their ranks mean nothing here.
    spans = await quote_passages(
        parse_query(arguments.question),
        [passage_text(passage) for passage in passages],
        limits=limits,
        embedder=call.parts.embedder,
    )
    quoted = [
        PassageQuote(
            passage=passages[span.passage],
            start=span.start,
            end=span.end,
            confidence=span.share,
            is_cut=span.is_cut,
        )
        for span in spans
    ]
    quotes = await shape_quotes(quoted, limits=limits, store=call.parts.store)
    remember_quotes(
        quotes, quoted, call=call, tool="kb.extract_evidence", question=arguments.question
    )
    return EvidenceOutput(quotes=quotes)


TOOL = Tool(
    name="kb.extract_evidence",
    toolset="kb",
    title="Quote passages",
    description=f"""
        Return only the sentences of known passages that answer a question, word for word.
        Use when you have passage_ids of kb_search and want their answer without their text.
        Do not use when you have no passage_ids: call kb_retrieve_evidence.
        Returns at most max_quotes quotes of max_quote_tokens.
        If you need more, call kb_read_excerpt with a quote's passage_id.
        Defaults: {DEFAULT_QUOTES} quotes of 80 tokens.
            Max: {MAX_PASSAGES} passages, {MAX_QUOTES} quotes of {MAX_QUOTE_TOKENS} tokens.
    """,
    needs=("store", "scratch", "embedder", "citations"),
    run=run,
    render=render,
    example={"question": "How do I cancel a task?", "passage_ids": ["482915073361"]},
    lists_columns=False,
    max_result_tokens=MAX_RESULT_TOKENS,
)
