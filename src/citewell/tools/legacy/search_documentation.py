"""`search_documentation`: the older name for evidence in one call."""

from __future__ import annotations

from citewell.tools.kb import evidence, retrieve_evidence
from citewell.tools.kb.arguments import MAX_QUOTES, Query
from citewell.tools.kb.retrieve_evidence import (
    MAX_PASSAGES,
    PassageCount,
    RetrieveEvidenceInput,
    RetrieveEvidenceOutput,
)
from citewell.tools.scope import ScopeInput
from citewell.tools.tool import Call, Tool, ToolInput

LEGACY_TOP_K = 20


class SearchDocumentationInput(ToolInput):
    """Arguments of `search_documentation`."""

    query: Query
    top_k: PassageCount = LEGACY_TOP_K
    scope: ScopeInput | None = None


async def run(arguments: SearchDocumentationInput, call: Call) -> RetrieveEvidenceOutput:
    """Search and quote as `kb.retrieve_evidence` does, over more passages."""
    search = RetrieveEvidenceInput(
        question=arguments.query,
        top_k=arguments.top_k,
        max_quotes=MAX_QUOTES,
        scope=arguments.scope,
    )
    return await retrieve_evidence.run(search, call)


TOOL = Tool(
    name="search_documentation",
    toolset="legacy",
    title="Search (older name)",
    description=f"""
        Search the indexed pages and return quotes; the older name of kb_retrieve_evidence.
        Use when your instructions name this tool.
        Do not use when kb_retrieve_evidence is listed: it costs less.
        Returns at most {MAX_QUOTES} quotes of 80 tokens.
        If you need more, call get_section_text with a quote's section_id.
        Defaults: top_k {LEGACY_TOP_K}. Max: top_k {MAX_PASSAGES}.
    """,
    needs=retrieve_evidence.TOOL.needs,
    run=run,
    render=evidence.render,
    example={"query": "How do I cancel a task?"},
    lists_columns=False,
    max_result_tokens=evidence.MAX_RESULT_TOKENS,
)
