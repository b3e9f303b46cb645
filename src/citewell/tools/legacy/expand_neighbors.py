"""`expand_neighbors`: the sections next to others; ids and titles, text on request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from citewell.answer.quote import clip
from citewell.core.boundary import SUPPLIED, enclose
from citewell.tools.legacy.sections import MAX_SECTIONS, SectionIds, load_sections
from citewell.tools.scope import ScopeInput, check_scope
from citewell.tools.supplied import Supplied, is_supplied
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageLabel, PageText, PageUrl

if TYPE_CHECKING:
    from citewell.core.records import StoredChunk

DEFAULT_PAGE_SIZE = 25
MAX_PAGE_SIZE = 100
MAX_HOPS = 2
SNIPPET_CHARACTERS = 200


class ExpandNeighborsInput(ToolInput):
    """Arguments of `expand_neighbors`."""

    node_ids: Annotated[SectionIds, Field(description="section_ids of a search.")]
    max_hops: Annotated[int, Field(ge=1, le=MAX_HOPS)] = 1
    include_snippet: bool = False
    page_size: Annotated[int, Field(ge=1, le=MAX_PAGE_SIZE)] = DEFAULT_PAGE_SIZE
    scope: ScopeInput | None = None


class NeighborShape(ToolOutput):
    """A section next to one of the call."""

    section_id: OwnText
    of: OwnText
    relation: Literal["previous", "next"]
    hops: int
    title: PageLabel
    heading: PageLabel
    url: PageUrl
    snippet: PageText | None = None
    supplied: Supplied = None


class ExpandNeighborsOutput(ToolOutput):
    """Neighbours, nearest first."""

    neighbors: list[NeighborShape]
    partial: bool


async def run(arguments: ExpandNeighborsInput, call: Call) -> ExpandNeighborsOutput:
    """Return the sections before and after each given one on its page.

    Raises:
        NotFound: a section does not exist, or not for this caller.
    """
    scope = check_scope(arguments.scope, call)
    sections = await load_sections(arguments.node_ids, scope=scope, call=call)
    known = {section.chunk_id for section in sections}
    neighbors: list[NeighborShape] = []
    for section in sections:
        around = await call.parts.store.chunks_of_page(
            section.source_id,
            first_ordinal=max(0, section.ordinal - arguments.max_hops),
            last_ordinal=section.ordinal + arguments.max_hops,
        )
        for chunk in around:
            if chunk.chunk_id not in known:
                known.add(chunk.chunk_id)
                neighbors.append(_shape(chunk, section, include_snippet=arguments.include_snippet))
    nearest = sorted(neighbors, key=lambda neighbor: neighbor.hops)
    return ExpandNeighborsOutput(
        neighbors=nearest[: arguments.page_size], partial=len(nearest) > arguments.page_size
    )


def _shape(chunk: StoredChunk, of: StoredChunk, *, include_snippet: bool) -> NeighborShape:
    return NeighborShape(
        section_id=str(chunk.chunk_id),
        of=str(of.chunk_id),
        relation="next" if chunk.ordinal > of.ordinal else "previous",
        hops=abs(chunk.ordinal - of.ordinal),
        title=chunk.title,
        heading=chunk.heading_path[-1] if chunk.heading_path else "",
        url=chunk.url,
        supplied=is_supplied(chunk.origin),
        snippet=clip(chunk.text, SNIPPET_CHARACTERS) if include_snippet else None,
    )


def render(output: ExpandNeighborsOutput, call: Call) -> str:
    """Return a line for each neighbour."""
    if not output.neighbors:
        return "There is nothing beside these sections."
    lines: list[str] = []
    for neighbor in output.neighbors:
        heading = f" § {neighbor.heading}" if neighbor.heading else ""
        where = enclose(f"{neighbor.title or 'Untitled'}{heading}, {neighbor.url}")
        supplied = f", {SUPPLIED}" if neighbor.supplied else ""
        lines.append(
            f"- section {neighbor.section_id}, {neighbor.relation} of {neighbor.of} "
            f"({neighbor.hops}{supplied}): {where}"
        )
        if neighbor.snippet is not None:
            lines.append(f"    {neighbor.snippet}")
    return "\n".join(lines)


TOOL = Tool(
    name="expand_neighbors",
    toolset="legacy",
    title="Sections beside (older name)",
    description=f"""
        List the sections before and after given ones on their pages.
        Use when a section begins or ends in the middle of what you need.
        Do not use when you have a passage_id: call kb_expand_excerpt.
        Returns at most page_size ids with titles; no text unless include_snippet.
        If you need more, call get_section_text with a section_id.
        Defaults: max_hops 1, page_size {DEFAULT_PAGE_SIZE}.
            Max: {MAX_SECTIONS} node_ids, max_hops {MAX_HOPS}, page_size {MAX_PAGE_SIZE}.
    """,
    needs=("store",),
    run=run,
    render=render,
    example={"node_ids": ["1"]},
    lists_columns=False,
)
