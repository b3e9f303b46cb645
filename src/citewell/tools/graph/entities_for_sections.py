"""`graph.entities_for_sections`: what sections name, the most telling first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.tools.graph.arguments import (
    CAPS,
    NARROW_FIRST,
    WHEN_TO_USE,
    ListingInput,
    NodeIds,
)
from citewell.tools.graph.listing import NodeListOutput, list_related, list_tool
from citewell.tools.graph.nodes import resolve_nodes
from citewell.tools.scope import check_scope, search_filter

if TYPE_CHECKING:
    from citewell.tools.registry import Call


class EntitiesForSectionsInput(ListingInput):
    """Arguments of `graph.entities_for_sections`."""

    section_ids: NodeIds


async def run(given: EntitiesForSectionsInput, call: Call) -> NodeListOutput:
    """Return the entities that the given sections or pages name.

    Raises:
        NotFound: a section does not exist, or not within the scope.
    """
    where = await search_filter(check_scope(given.scope, call), None, call)
    starts = await resolve_nodes(given.section_ids, where=where, call=call)
    return await list_related(
        starts, kinds=("mentions",), max_hops=1, given=given, where=where, call=call
    )


TOOL = list_tool(
    "graph.entities_for_sections",
    run,
    (EntitiesForSectionsInput, NodeListOutput),
    title="Names in sections",
    description=(
        "List the symbols, terms and topics that sections or pages name.\n"
        f"Use when you need names to go on with. {WHEN_TO_USE}\n"
        f"Do not use when you search text: kb_search. {NARROW_FIRST}\n"
        "Returns at most page_size entities, the most telling first.\n"
        "If you need more, call graph_sections_for_entities.\n"
        f"{CAPS}."
    ),
    example={"section_ids": ["section:1:2"]},
)
