"""`search`: a question about pages that are already indexed."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.core.records import Intent
from citewell.core.results import OrchestrationResult, Question
from citewell.tools.research.arguments import DetailArgument, Query, SourceUrls
from citewell.tools.research.budget import hand_out
from citewell.tools.research.shapes import render_brief, shape_for_connectors
from citewell.tools.scope import ScopeInput, Version, check_scope, search_filter
from citewell.tools.tool import Call, Tool, ToolInput

DEFAULT_TOP_K = 20
MAX_TOP_K = 50


class SearchInput(ToolInput):
    """Arguments of `search`."""

    query: Query
    source_urls: SourceUrls = None
    intent: Annotated[
        Intent | None, Field(description="Kind of question; inferred when left out.")
    ] = None
    top_k: Annotated[
        int | None, Field(ge=1, le=MAX_TOP_K, description="Most chunks to quote from.")
    ] = None
    version: Version = None
    detail: DetailArgument = "quotes"
    scope: ScopeInput | None = None


async def run(arguments: SearchInput, call: Call) -> OrchestrationResult:
    """Search what is indexed; nothing is fetched."""
    return await _search(arguments, call, is_shown_again=False)


async def run_again(arguments: SearchInput, call: Call) -> OrchestrationResult:
    """Search as `run` does, for an answer that was shown before: its quotes count as cited once."""
    return await _search(arguments, call, is_shown_again=True)


async def _search(
    arguments: SearchInput, call: Call, *, is_shown_again: bool
) -> OrchestrationResult:
    question = Question(
        urls=tuple(arguments.source_urls or ()),
        query=arguments.query,
        project=call.caller.project,
        intent=arguments.intent,
        expansion_budget=0,
        detail=arguments.detail,
        within=await search_filter(
            check_scope(arguments.scope, call), None, call, version=arguments.version
        ),
    )
    result = await call.parts.engine.search(
        question, limit=arguments.top_k or DEFAULT_TOP_K, on_progress=call.on_progress
    )
    return hand_out(
        result,
        call,
        tool="search",
        question=arguments.query,
        is_shown_again=is_shown_again,
    )


TOOL = Tool(
    name="search",
    toolset="research",
    title="Search indexed pages",
    description=f"""
        Search the library, all pages that were indexed before; nothing is fetched.
        Use when you have a question and no URL, or its pages are indexed.
        Do not use when the page was never indexed: call answer with its URL.
        Returns at most 7 quotes with their sources, or top_k passages.
        If you need more, call again with detail passages, or answer with a URL.
        Defaults: top_k {DEFAULT_TOP_K}, all pages. Max: top_k {MAX_TOP_K}.
    """,
    needs=("engine", "store", "citations"),
    run=run,
    shape=shape_for_connectors,
    render=render_brief,
    in_default=True,
    example={"query": "How do I cancel a task?", "top_k": 5},
    lists_columns=False,
)
