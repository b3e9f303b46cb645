"""`web_search`: search the public web with a search engine."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, Field

from citewell.app.search_engines import NOT_CONFIGURED, SUGGESTION
from citewell.core.boundary import NOTE_PLACE, enclose
from citewell.core.errors import InvalidArgument, SettingsError
from citewell.core.text import counted, one_line
from citewell.tools.schemas import ROWS
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl

_MAX_RESULTS = 10
_MAX_QUERY_CHARACTERS = 2_000
_MAX_SNIPPET_CHARACTERS = 1_000


class WebSearchInput(ToolInput):
    """Arguments of `web_search`."""

    query: Annotated[
        str,
        Field(
            max_length=_MAX_QUERY_CHARACTERS,
            validation_alias=AliasChoices("query", "question"),
            description="Search phrase.",
        ),
    ]


class WebResultShape(ToolOutput):
    """A page the engine found."""

    url: PageUrl
    name: PageLabel
    snippet: PageText


class WebSearchOutput(ToolOutput):
    """What the engine found, best first."""

    query: OwnText
    created_at: OwnText
    engine: OwnText
    results: Annotated[list[WebResultShape], ROWS]


def check(arguments: WebSearchInput) -> None:
    """Refuse an empty phrase."""
    if not arguments.query.strip():
        raise InvalidArgument("query cannot be empty", suggestion="Give a search phrase.")


async def run(arguments: WebSearchInput, call: Call) -> WebSearchOutput:
    """Ask the configured engines, in order.

    Raises:
        SettingsError: no engine is configured.
        WebSearchFailed: no engine answered.
    """
    if call.parts.web_search is None:
        raise SettingsError(NOT_CONFIGURED, suggestion=SUGGESTION)
    search = await call.parts.web_search.search(arguments.query, limit=_MAX_RESULTS)
    return WebSearchOutput(
        query=search.query,
        created_at=search.created_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        engine=search.engine,
        results=[
            WebResultShape(
                url=result.url,
                name=result.name,
                snippet=one_line(result.snippet, limit=_MAX_SNIPPET_CHARACTERS),
            )
            for result in search.results
        ],
    )


def render(output: WebSearchOutput, call: Call) -> str:
    """Return a numbered list of results."""
    if not output.results:
        return f"{output.engine} found nothing for {one_line(output.query)!r}."
    listed = [
        f"{number}. {result.name or 'Untitled'}\n   {result.url}\n   {result.snippet}"
        for number, result in enumerate(output.results, start=1)
    ]
    results = counted(len(output.results), "result")
    count = f"{results} of {output.engine} for {one_line(output.query)!r}:"
    return "\n".join([count, NOTE_PLACE, enclose("\n".join(listed))])


TOOL = Tool(
    name="web_search",
    toolset="web",
    title="Search the web",
    description=f"""
        Search the public web and return page URLs with snippets.
        Use when you do not know which page holds the answer.
        Do not use when you have the URL: call answer.
        Returns at most {_MAX_RESULTS} results; snippets are no evidence.
        If you need more, call answer with the promising URLs.
        Defaults: the server's engine. Max: {_MAX_RESULTS} results.
    """,
    annotations=Annotations(read_only=True, open_world=True),
    needs=("web_search",),
    check=check,
    run=run,
    render=render,
    in_default=True,
    example={"query": "mcp protocol overview"},
    requires="search_engine",
)
