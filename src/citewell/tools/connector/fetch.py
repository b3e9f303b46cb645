"""`fetch`: a whole indexed page by its id, which ChatGPT connectors call after `search`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.core.boundary import enclose
from citewell.core.errors import NotFound
from citewell.core.tokens import truncate_to_tokens
from citewell.tools.scope import check_scope
from citewell.tools.supplied import SuppliedAt, SuppliedBy, render_supplied, shape_moment
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl

MAX_TEXT_TOKENS = 8_000
# Cutting here first saves counting the tokens of a long page.
_MAX_TEXT_CHARACTERS = 12 * MAX_TEXT_TOKENS


class FetchInput(ToolInput):
    """Arguments of `fetch`."""

    id: Annotated[str, Field(min_length=1, max_length=20, description="id of a result of search.")]


class FetchMetadata(ToolOutput):
    """Metadata of the page."""

    language: OwnText
    fetched_at: OwnText | None = None
    supplied_at: SuppliedAt = None
    supplied_by: SuppliedBy = None
    page_hash: OwnText
    tags: list[OwnText]
    truncated: bool


class FetchOutput(ToolOutput):
    """A page."""

    id: OwnText
    title: PageLabel
    text: PageText
    url: PageUrl
    metadata: FetchMetadata


async def run(arguments: FetchInput, call: Call) -> FetchOutput:
    """Return the page's text, cut to MAX_TEXT_TOKENS.

    Raises:
        NotFound: no page of the caller's project and scope has this id.
    """
    scope = check_scope(None, call)
    numeric = arguments.id.isascii() and arguments.id.isdigit()
    page = await call.parts.store.get_page(int(arguments.id)) if numeric else None
    if page is None or not scope.holds_page(page.info):
        raise NotFound(f"There is no page {arguments.id!r}.", suggestion="Use an id of search.")
    text = truncate_to_tokens(page.text[:_MAX_TEXT_CHARACTERS], MAX_TEXT_TOKENS)
    return FetchOutput(
        id=arguments.id,
        title=page.info.title,
        text=text,
        url=page.info.url,
        metadata=FetchMetadata(
            language=page.info.language,
            **shape_moment(page.info.fetched_at, page.info.origin),
            supplied_by=page.info.supplied_by or None,
            page_hash=page.info.text_hash[:16],
            tags=list(page.info.tags),
            truncated=len(text) < len(page.text.rstrip()),
        ),
    )


def render(output: FetchOutput, call: Call) -> str:
    """Return the page under its title and URL."""
    lines = [
        enclose(f"{output.title or 'Untitled'} — {output.url}") + f" (id {output.id})",
        output.text,
    ]
    if output.metadata.supplied_at is not None:
        lines.insert(1, f"This text was {render_supplied(output.metadata.supplied_by)}.")
    if output.metadata.truncated:
        lines.append("(cut here: the page goes on)")
    return "\n".join(lines)


TOOL = Tool(
    name="fetch",
    toolset="connector",
    title="Read an indexed page",
    description=f"""
        Return the text of an indexed page by its id.
        Use when a result of search is promising and you need its whole page.
        Do not use when you need single facts: call search.
        Returns at most {MAX_TEXT_TOKENS} tokens of the page.
        If you need more, call search with a narrower question.
        Defaults: none. Max: {MAX_TEXT_TOKENS} tokens.
    """,
    needs=("store",),
    run=run,
    render=render,
    example={"id": "1"},
    max_result_tokens=MAX_TEXT_TOKENS + 4_000,
)
