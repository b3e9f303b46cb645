"""`graph.children` and `graph.parents`: the headings below and above sections and pages."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from citewell.tools.graph.arguments import (
    CAPS,
    MAX_HOPS,
    NARROW_FIRST,
    WHEN_TO_USE,
    Hops,
    ListingInput,
    NodeIds,
)
from citewell.tools.graph.listing import NodeListOutput, list_related, list_tool
from citewell.tools.graph.nodes import resolve_nodes
from citewell.tools.scope import check_scope, search_filter

if TYPE_CHECKING:
    from typing import Literal

    from citewell.tools.registry import Call


class TreeInput(ListingInput):
    """Arguments of `graph.parents` and `graph.children`."""

    node_ids: NodeIds
    max_hops: Hops = 1


async def _list_tree(
    given: TreeInput, call: Call, *, kind: Literal["parent", "child"]
) -> NodeListOutput:
    """Return what stands above or below the given nodes, in the order of the page.

    Raises:
        NotFound: a node does not exist, or not within the scope.
    """
    where = await search_filter(check_scope(given.scope, call), None, call)
    starts = await resolve_nodes(given.node_ids, where=where, call=call)
    return await list_related(
        starts, kinds=(kind,), max_hops=given.max_hops, given=given, where=where, call=call
    )


CHILDREN = list_tool(
    "graph.children",
    partial(_list_tree, kind="child"),
    (TreeInput, NodeListOutput),
    title="Headings below",
    description=(
        "List the sections below sections or pages: their table of contents.\n"
        f"Use when you need an outline. {WHEN_TO_USE}\n"
        f"Do not use when you want links or names: graph_expand. {NARROW_FIRST}\n"
        "Returns at most page_size nodes; no text unless include_snippet.\n"
        "If you need more, call with next_cursor or max_hops 2.\n"
        f"{CAPS}, max_hops {MAX_HOPS}."
    ),
    example={"node_ids": ["page:1"]},
)
PARENTS = list_tool(
    "graph.parents",
    partial(_list_tree, kind="parent"),
    (TreeInput, NodeListOutput),
    title="Headings above",
    description=(
        "List the sections above sections; the page above its first.\n"
        f"Use when you need the context of a hit. {WHEN_TO_USE}\n"
        f"Do not use when you want links or names: graph_expand. {NARROW_FIRST}\n"
        "Returns at most page_size nodes; no text unless include_snippet.\n"
        "If you need more, call graph_children of a parent.\n"
        f"{CAPS}, max_hops {MAX_HOPS}."
    ),
    example={"node_ids": ["section:1:2"]},
)
