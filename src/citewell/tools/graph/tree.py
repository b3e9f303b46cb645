"""Going up and down the headings of a page: what `graph.parents` and `graph.children` share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.tools.graph.arguments import Hops, ListingInput, NodeIds
from citewell.tools.graph.listing import NodeListOutput, list_related
from citewell.tools.graph.nodes import resolve_nodes
from citewell.tools.scope import check_scope, search_filter

if TYPE_CHECKING:
    from typing import Literal

    from citewell.tools.registry import Call


class TreeInput(ListingInput):
    """Arguments of `graph.parents` and `graph.children`."""

    node_ids: NodeIds
    max_hops: Hops = 1


async def list_tree(
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
