"""`answer`: a question about one or more URLs, answered with cited evidence."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.core.errors import ScopeViolation
from citewell.core.records import Intent, SearchFilter
from citewell.core.results import OrchestrationResult, Question
from citewell.tools.research.arguments import (
    MAX_QUERY_CHARACTERS,
    MAX_URLS,
    URL_NAMES,
    DetailArgument,
    Query,
    Url,
    Urls,
)
from citewell.tools.research.budget import hand_out
from citewell.tools.research.shapes import render_brief, shape_result
from citewell.tools.scope import ScopeInput, Version, check_scope
from citewell.tools.tool import Annotations, Call, Tool, ToolInput


class AnswerInput(ToolInput):
    """Arguments of `answer`."""

    url: Annotated[
        Url | Urls,
        Field(
            validation_alias=URL_NAMES,
            description="One or more page URLs; all are ingested and searched together.",
        ),
    ]
    query: Query
    intent: Annotated[
        Intent | None, Field(description="Kind of question; inferred when left out.")
    ] = None
    known_context: Annotated[
        str | None,
        Field(max_length=20_000, description="What you already know, to avoid repeating it."),
    ] = None
    constraints: Annotated[
        list[Annotated[str, Field(max_length=500)]] | None,
        Field(max_length=20, description='E.g. ["must include code examples"].'),
    ] = None
    expansion_budget: Annotated[
        int | None,
        Field(ge=0, le=20, description="Rounds of link following; 0 = given pages only."),
    ] = None
    version: Version = None
    detail: DetailArgument = "quotes"
    scope: ScopeInput | None = None


async def run(arguments: AnswerInput, call: Call) -> OrchestrationResult:
    """Ingest the URLs that are not indexed and find the evidence."""
    scope = check_scope(arguments.scope, call)
    urls = (arguments.url,) if isinstance(arguments.url, str) else tuple(arguments.url)
    for url in urls:
        if scope.url_prefixes and not url.startswith(scope.url_prefixes):
            raise ScopeViolation(f"{url[:200]} lies outside the repositories of the scope.")
    question = Question(
        urls=urls,
        query=arguments.query,
        project=call.caller.project,
        intent=arguments.intent,
        known_context=arguments.known_context or "",
        constraints=tuple(arguments.constraints or ()),
        expansion_budget=arguments.expansion_budget,
        tags=scope.tags,
        url_prefixes=scope.url_prefixes,
        detail=arguments.detail,
        within=SearchFilter(project=call.caller.project, version=arguments.version),
    )
    result = await call.parts.engine.answer(
        question, deadline=call.deadline, on_progress=call.on_progress
    )
    return hand_out(result, call, tool="answer", question=arguments.query)


TOOL = Tool(
    name="answer",
    toolset="research",
    title="Answer from web pages",
    description=f"""
        Answer a question from web pages whose URLs you have: fetches and indexes them, follows
            their links, and returns verbatim, cited evidence.
        Use when you have a question and a URL.
        Do not use when you have no URL: call search.
        Returns at most 7 quotes with their sources, or says that nothing answers.
        If you need more, call answer with another URL.
        Defaults: intent inferred. Max: {MAX_URLS} URLs, {MAX_QUERY_CHARACTERS} query characters.
    """,
    annotations=Annotations(read_only=False, open_world=True),
    needs=("engine", "citations"),
    run=run,
    shape=shape_result,
    render=render_brief,
    in_default=True,
    example={
        "url": "https://docs.python.org/3/library/asyncio-task.html",
        "query": "What is a task?",
    },
)
