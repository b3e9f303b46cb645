"""`graph.children`: the sections below sections and pages, in their order."""

from __future__ import annotations

from citewell.tools.graph import listing
from citewell.tools.graph.arguments import (
    CAPS,
    MAX_HOPS,
    NARROW_FIRST,
    WHEN_TO_USE,
    Hops,
    ListingInput,
    NodeIds,
)
from citewell.tools.graph.listing import MAX_RESULT_TOKENS, NodeListOutput, list_related
from citewell.tools.graph.nodes import resolve_nodes
from citewell.tools.registry import Annotations, Call, Tool, as_is
from citewell.tools.scope import check_scope, search_filter


class ChildrenInput(ListingInput):
    """Arguments of `graph.children`."""

    node_ids: NodeIds
    max_hops: Hops = 1


async def run(given: ChildrenInput, call: Call) -> NodeListOutput:
    """Return what stands below the given nodes, in the order of the page.

    Raises:
        NotFound: a node does not exist, or not within the scope.
    """
    where = await search_filter(check_scope(given.scope, call), None, call)
    starts = await resolve_nodes(given.node_ids, where=where, call=call)
    return await list_related(
        starts,
        kinds=("child",),
        max_hops=given.max_hops,
        given=given,
        where=where,
        call=call,
    )


TOOL = Tool(
    name="graph.children",
    toolset="graph",
    title="Headings below",
    description=(
        "List the sections below sections or pages: their table of contents.\n"
        f"Use when you need an outline. {WHEN_TO_USE}\n"
        f"Do not use when you want links or names: graph_expand. {NARROW_FIRST}\n"
        "Returns at most page_size nodes; no text unless include_snippet.\n"
        "If you need more, call with next_cursor or max_hops 2.\n"
        f"{CAPS}, max_hops {MAX_HOPS}."
    ),
    input_model=ChildrenInput,
    output_model=NodeListOutput,
    annotations=Annotations(read_only=True),
    run=run,
    shape=as_is,
    render=listing.render,
    example={"node_ids": ["page:1"]},
    in_default=False,
    max_result_tokens=MAX_RESULT_TOKENS + 4_000,
)
