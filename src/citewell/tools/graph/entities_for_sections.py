"""`graph.entities_for_sections`: what sections name, the most telling first."""

from __future__ import annotations

from citewell.tools.graph import listing
from citewell.tools.graph.arguments import (
    CAPS,
    NARROW_FIRST,
    WHEN_TO_USE,
    ListingInput,
    NodeIds,
)
from citewell.tools.graph.listing import MAX_RESULT_TOKENS, NodeListOutput, list_related
from citewell.tools.graph.nodes import resolve_nodes
from citewell.tools.registry import Annotations, Call, Tool, as_is
from citewell.tools.scope import check_scope, search_filter


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


TOOL = Tool(
    name="graph.entities_for_sections",
    toolset="graph",
    title="Names in sections",
    description=(
        "List the symbols, terms and topics that sections or pages name.\n"
        f"Use when you need names to go on with. {WHEN_TO_USE}\n"
        f"Do not use when you search text: kb_search. {NARROW_FIRST}\n"
        "Returns at most page_size entities, the most telling first.\n"
        "If you need more, call graph_sections_for_entities.\n"
        f"{CAPS}."
    ),
    input_model=EntitiesForSectionsInput,
    output_model=NodeListOutput,
    annotations=Annotations(read_only=True),
    needs=("store", "scratch", "secret"),
    run=run,
    shape=as_is,
    render=listing.render,
    example={"section_ids": ["section:1:2"]},
    in_default=False,
    max_result_tokens=MAX_RESULT_TOKENS + 4_000,
)
