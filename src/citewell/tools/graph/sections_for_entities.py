"""`graph.sections_for_entities`: where entities are named, their definitions first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from citewell.core.errors import NotFound
from citewell.core.graph import parse_node_id
from citewell.tools.graph.arguments import (
    CAPS,
    MAX_NODES,
    NARROW_FIRST,
    WHEN_TO_USE,
    ListingInput,
    NodeId,
)
from citewell.tools.graph.listing import NodeListOutput, list_related, list_tool
from citewell.tools.graph.nodes import resolve_nodes
from citewell.tools.scope import check_scope, search_filter

if TYPE_CHECKING:
    from citewell.core.graph import Node
    from citewell.core.records import SearchFilter
    from citewell.tools.registry import Call


class SectionsForEntitiesInput(ListingInput):
    """Arguments of `graph.sections_for_entities`."""

    entity_ids: Annotated[
        list[NodeId],
        Field(min_length=1, max_length=MAX_NODES, description="Entity ids or plain names."),
    ]


async def run(given: SectionsForEntitiesInput, call: Call) -> NodeListOutput:
    """Return the sections that name the given entities.

    Raises:
        NotFound: an entity does not exist, or not within the scope.
    """
    where = await search_filter(check_scope(given.scope, call), None, call)
    starts: list[Node] = []
    for name in given.entity_ids:
        starts += await _find(name, where=where, call=call)
    return await list_related(
        starts,
        kinds=("mentioned_in",),
        max_hops=1,
        given=given,
        where=where,
        call=call,
        definitions_first=True,
    )


async def _find(name: str, *, where: SearchFilter, call: Call) -> list[Node]:
    if parse_node_id(name) is not None:
        return await resolve_nodes([name], where=where, call=call)
    found = await call.parts.store.find_entities([name], where=where)
    if not found:
        raise NotFound(
            f"No indexed page names {name[:80]!r} as an entity.",
            suggestion="Call kb_search with the name, or graph_entities_for_sections.",
        )
    return found


TOOL = list_tool(
    "graph.sections_for_entities",
    run,
    (SectionsForEntitiesInput, NodeListOutput),
    title="Where names stand",
    description=(
        "List the sections that name symbols or terms, definitions first.\n"
        f"Use when you have a name and want its places. {WHEN_TO_USE}\n"
        f"Do not use when you have a question: kb_retrieve_evidence. {NARROW_FIRST}\n"
        "Returns at most page_size sections; no text unless include_snippet.\n"
        "If you need more, call with next_cursor, or kb_read_excerpt with a passage_id.\n"
        f"{CAPS}."
    ),
    example={"entity_ids": ["asyncio.run"]},
)
