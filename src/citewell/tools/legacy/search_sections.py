"""`search_sections`: the name and defaults that `kb.search` had before."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.tools.kb import search as kb_search
from citewell.tools.kb.arguments import MAX_TOP_K, Query, SearchOptions, TopK
from citewell.tools.kb.search import KbSearchInput, KbSearchOutput
from citewell.tools.paging import MAX_CURSOR_CHARACTERS
from citewell.tools.scope import ScopeInput
from citewell.tools.tool import Call, Tool, ToolInput

LEGACY_TOP_K = 20


class SearchSectionsInput(ToolInput):
    """Arguments of `search_sections`."""

    query: Query
    top_k: TopK = LEGACY_TOP_K
    cursor: Annotated[str | None, Field(max_length=MAX_CURSOR_CHARACTERS)] = None
    include_debug: Annotated[bool, Field(description="Scores and offsets of each result.")] = True
    scope: ScopeInput | None = None


async def run(arguments: SearchSectionsInput, call: Call) -> KbSearchOutput:
    """Search as `kb.search` does, with several sections of a page and all scores."""
    options = SearchOptions(
        max_per_doc=10,
        include_scores=arguments.include_debug,
        include_debug=arguments.include_debug,
    )
    search = KbSearchInput(
        query=arguments.query,
        top_k=arguments.top_k,
        cursor=arguments.cursor,
        page_size=min(arguments.top_k, LEGACY_TOP_K),
        scope=arguments.scope,
        options=options,
    )
    return await kb_search.run(search, call)


TOOL = Tool(
    name="search_sections",
    toolset="legacy",
    title="Find sections (older name)",
    description=f"""
        List the sections that best match; the older name of kb_search.
        Use when your instructions name this tool.
        Do not use when kb_search or kb_retrieve_evidence is listed: they cost less.
        Returns at most top_k results with previews.
        If you need more, call get_section_text with a section_id.
        Defaults: top_k {LEGACY_TOP_K}, include_debug true. Max: top_k {MAX_TOP_K}.
    """,
    needs=("store", "scratch", "embedder", "reranker", "secret"),
    run=run,
    render=kb_search.render,
    example={"query": "cancel a task"},
    lists_columns=False,
    max_result_tokens=kb_search.TOOL.max_result_tokens,
)
