"""`graph.parents`: the headings above sections, up to their page."""

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


class ParentsInput(ListingInput):
    """Arguments of `graph.parents`."""

    node_ids: NodeIds
    max_hops: Hops = 1


async def run(given: ParentsInput, call: Call) -> NodeListOutput:
    """Return what stands above the given nodes; a page has nothing above it.

    Raises:
        NotFound: a node does not exist, or not within the scope.
    """
    where = await search_filter(check_scope(given.scope, call), None, call)
    starts = await resolve_nodes(given.node_ids, where=where, call=call)
    return await list_related(
        starts,
        kinds=("parent",),
        max_hops=given.max_hops,
        given=given,
        where=where,
        call=call,
    )


TOOL = Tool(
    name="graph.parents",
    toolset="graph",
    title="Headings above",
    description=(
        "List the sections above sections; the page above its first.\n"
        f"Use when you need the context of a hit. {WHEN_TO_USE}\n"
        f"Do not use when you want links or names: graph_expand. {NARROW_FIRST}\n"
        "Returns at most page_size nodes; no text unless include_snippet.\n"
        "If you need more, call graph_children of a parent.\n"
        f"{CAPS}, max_hops {MAX_HOPS}."
    ),
    input_model=ParentsInput,
    output_model=NodeListOutput,
    annotations=Annotations(read_only=True),
    run=run,
    shape=as_is,
    render=listing.render,
    example={"node_ids": ["section:1:2"]},
    in_default=False,
    max_result_tokens=MAX_RESULT_TOKENS + 4_000,
)
