"""`graph.expand`: what is related to given nodes, in any way or in the ways asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.tools.graph.arguments import (
    CAPS,
    MAX_HOPS,
    NARROW_FIRST,
    WHEN_TO_USE,
    Hops,
    ListingInput,
    NodeIds,
    Relations,
)
from citewell.tools.graph.listing import (
    NodeListOutput,
    RelatedShape,
    list_related,
    list_tool,
)
from citewell.tools.graph.nodes import resolve_nodes
from citewell.tools.scope import check_scope, search_filter

if TYPE_CHECKING:
    from citewell.core.graph import EdgeKind
    from citewell.tools.registry import Call

# A section's page is its parent's parent: listing it again would say nothing.
_EVERY_RELATION: tuple[EdgeKind, ...] = (
    "parent",
    "child",
    "previous",
    "next",
    "links_to",
    "linked_from",
    "mentions",
    "mentioned_in",
    "same_entity",
)


class ExpandInput(ListingInput):
    """Arguments of `graph.expand`."""

    node_ids: NodeIds
    max_hops: Hops = 1
    relations: Relations | None = None


class ExpandOutput(NodeListOutput):
    """The same as of every list of nodes, with their fields spelt out."""

    nodes: list[RelatedShape]


async def run(given: ExpandInput, call: Call) -> ExpandOutput:
    """Return the nodes around the given ones.

    Raises:
        NotFound: a node does not exist, or not within the scope.
    """
    where = await search_filter(check_scope(given.scope, call), None, call)
    starts = await resolve_nodes(given.node_ids, where=where, call=call)
    listed = await list_related(
        starts,
        kinds=tuple(given.relations or _EVERY_RELATION),
        max_hops=given.max_hops,
        given=given,
        where=where,
        call=call,
    )
    return ExpandOutput(**dict(listed))


TOOL = list_tool(
    "graph.expand",
    run,
    (ExpandInput, ExpandOutput),
    title="What is related",
    description=(
        "List what is related to nodes: headings above and below, links both ways, shared names.\n"
        f"Use when you explore around candidates. {WHEN_TO_USE}\n"
        f"Do not use when you want quotes: kb_retrieve_evidence. {NARROW_FIRST}\n"
        "Returns at most page_size nodes, best first; no text unless include_snippet.\n"
        "If you need more, call with next_cursor, or kb_read_excerpt with a snippet's "
        "passage_id.\n"
        f"{CAPS}, max_hops {MAX_HOPS}."
    ),
    example={"node_ids": ["section:1:0"], "relations": ["links_to", "mentions"]},
)
