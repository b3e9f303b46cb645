"""`search_docs`: search the docs folder."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import AliasChoices, Field

from citewell.app.docs_folder import base_url
from citewell.core.boundary import NOTE_PLACE, enclose
from citewell.core.off_loop import in_thread
from citewell.tools.docs.served import served_docs
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl

MAX_QUERY_CHARACTERS = 500
MAX_LIMIT = 50
DEFAULT_LIMIT = 10

# Share of the best page's score below which a page is not worth its tokens. With 400 headings of
# the fastapi docs and 800 parts of headings as queries, it loses no right page, and results of
# headings are .42 as long; .3 loses the right page for one part of a heading in 50.
LEAST_SHARE = 0.2


class SearchDocsInput(ToolInput):
    """Arguments of `search_docs`."""

    query: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_QUERY_CHARACTERS,
            validation_alias=AliasChoices("query", "question"),
        ),
    ]
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT


class DocsHitShape(ToolOutput):
    """A page that matches."""

    path: PageUrl
    title: PageLabel
    section: PageLabel | None = None
    url: PageUrl | None = None
    score: float
    relevance: float
    """The score as a share of the best score."""
    snippet: PageText


class SearchDocsOutput(ToolOutput):
    """The best pages."""

    results: list[DocsHitShape]
    total_matches: int
    corrections: dict[OwnText, OwnText] | None = None
    """Misspelt words of the query, and the words of the docs used instead."""


async def run(arguments: SearchDocsInput, call: Call) -> SearchDocsOutput:
    """Search the docs folder."""
    settings = call.settings
    base = base_url(settings)
    limit = min(arguments.limit, settings.mcp_max_search_results)
    # An explicit limit is filled.
    least_share = 0.0 if "limit" in arguments.model_fields_set else LEAST_SHARE
    search_folder = partial(
        served_docs(call).search, arguments.query, limit=limit, least_share=least_share
    )
    # Each page that is shown is read as a whole.
    search = await in_thread(search_folder)
    best = max((hit.score for hit in search.hits), default=0.0) or 1.0
    return SearchDocsOutput(
        results=[
            DocsHitShape(
                path=hit.path,
                title=hit.title,
                section=hit.section if hit.section not in ("", hit.title) else None,
                url=base + hit.url if base else None,
                score=hit.score,
                relevance=round(hit.score / best, 2),
                snippet=hit.snippet,
            )
            for hit in search.hits
        ],
        total_matches=search.total,
        corrections=dict(search.corrections) or None,
    )


def render(output: SearchDocsOutput, call: Call) -> str:
    """Return a numbered list: path and score, then the snippet, then where to read on.

    Snippets, titles and headings are one line each, so none can pass for a line of the list.
    """
    notes = [
        f"No page holds {word!r}; searched for {meant!r} instead."
        for word, meant in (output.corrections or {}).items()
    ]
    if not output.results:
        return "Found 0 results. Try other words, or call list_doc_pages to see what there is."
    count = len(output.results)
    lines: list[str] = []
    for number, hit in enumerate(output.results, start=1):
        where = f"{hit.title} › {hit.section}" if hit.section else hit.title
        lines += [
            "",
            f"{number}. {hit.path} (score: {hit.score:g})",
            f"   '{hit.snippet}'",
            f"   {where} — {hit.url}" if hit.url else f"   {where}",
        ]
    if output.total_matches > count:
        notes.append(f"{output.total_matches - count} more pages match less well.")
    head = [f"Found {count} result{'s' * (count != 1)}:", NOTE_PLACE]
    return "\n".join([*head, enclose("\n".join(lines[1:])), *([""] if notes else []), *notes])


TOOL = Tool(
    name="search_docs",
    toolset="docs",
    title="Search the docs",
    description=f"""
        Search the documentation that this server serves.
        Use when you look for a page or a fact in these docs; misspelt words are forgiven.
        Do not use when you know the page: call get_doc_page.
        Returns at most limit pages, each with path, section, link and a snippet; those far
            behind the first only when limit is given.
        If you need more, call get_doc_page with a path (and the section).
        Defaults: limit {DEFAULT_LIMIT}. Max: limit {MAX_LIMIT} (the server may set less),
            query {MAX_QUERY_CHARACTERS} characters.
    """,
    needs=("docs",),
    run=run,
    render=render,
    example={"query": "rate limiting", "limit": 5},
    requires="docs_folder",
)
