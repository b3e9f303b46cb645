"""The graph tools that list what is related to nodes; they differ in the relations they follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from citewell.core.errors import NotFound
from citewell.core.graph import EDGE_KINDS, parse_node_id
from citewell.tools.graph.arguments import (
    CAPS,
    MAX_HOPS,
    MAX_NODES,
    NARROW_FIRST,
    WHEN_TO_USE,
    Hops,
    ListingInput,
    NodeId,
    NodeIds,
    Relations,
)
from citewell.tools.graph.listing import NodeListOutput, RelatedShape, list_related, list_tool
from citewell.tools.graph.nodes import resolve_nodes
from citewell.tools.scope import check_scope, search_filter
from citewell.tools.tool import Call  # noqa: TC001 - annotations are evaluated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.graph import EdgeKind, Node
    from citewell.core.records import SearchFilter

# A section's page is its parent's parent: listing it again would say nothing.
_EVERY_RELATION = tuple(kind for kind in EDGE_KINDS if kind != "part_of")


class TreeInput(ListingInput):
    """Arguments of `graph.parents` and `graph.children`."""

    node_ids: NodeIds
    max_hops: Hops = 1


class ExpandInput(TreeInput):
    """Arguments of `graph.expand`."""

    relations: Relations | None = None


class ExpandOutput(NodeListOutput):
    """The output of every list of nodes, with the fields of a node spelt out."""

    nodes: list[RelatedShape]


class EntitiesForSectionsInput(ListingInput):
    """Arguments of `graph.entities_for_sections`."""

    section_ids: NodeIds


class SectionsForEntitiesInput(ListingInput):
    """Arguments of `graph.sections_for_entities`."""

    entity_ids: Annotated[
        list[NodeId],
        Field(min_length=1, max_length=MAX_NODES, description="Entity ids or plain names."),
    ]


async def expand(arguments: ExpandInput, call: Call) -> ExpandOutput:
    """Return what is related to nodes, in any way or in the ways asked for."""
    kinds = tuple(arguments.relations or _EVERY_RELATION)
    related = await _related_to(
        arguments.node_ids, kinds, arguments, call, max_hops=arguments.max_hops
    )
    return ExpandOutput(**dict(related))


async def list_children(arguments: TreeInput, call: Call) -> NodeListOutput:
    """Return the sections below nodes, in the order of their pages."""
    return await _related_to(
        arguments.node_ids, ("child",), arguments, call, max_hops=arguments.max_hops
    )


async def list_parents(arguments: TreeInput, call: Call) -> NodeListOutput:
    """Return the sections above nodes."""
    return await _related_to(
        arguments.node_ids, ("parent",), arguments, call, max_hops=arguments.max_hops
    )


async def list_entities(arguments: EntitiesForSectionsInput, call: Call) -> NodeListOutput:
    """Return the entities that sections or pages name, the most telling first."""
    return await _related_to(arguments.section_ids, ("mentions",), arguments, call)


async def list_sections(arguments: SectionsForEntitiesInput, call: Call) -> NodeListOutput:
    """Return the sections that name entities, their definitions first."""
    where = await search_filter(check_scope(arguments.scope, call), None, call)
    entities: list[Node] = []
    for name in arguments.entity_ids:
        entities += await _find_entities(name, where=where, call=call)
    return await list_related(
        entities,
        kinds=("mentioned_in",),
        max_hops=1,
        arguments=arguments,
        where=where,
        call=call,
        definitions_first=True,
    )


async def _related_to(
    names: Sequence[str],
    kinds: tuple[EdgeKind, ...],
    arguments: ListingInput,
    call: Call,
    *,
    max_hops: int = 1,
) -> NodeListOutput:
    """Return what is related to the nodes that a caller named.

    Raises:
        NotFound: a node does not exist, or not within the scope.
    """
    where = await search_filter(check_scope(arguments.scope, call), None, call)
    starts = await resolve_nodes(names, where=where, call=call)
    return await list_related(
        starts, kinds=kinds, max_hops=max_hops, arguments=arguments, where=where, call=call
    )


async def _find_entities(name: str, *, where: SearchFilter, call: Call) -> list[Node]:
    if parse_node_id(name) is not None:
        return await resolve_nodes([name], where=where, call=call)
    entities = await call.parts.store.find_entities([name], where=where)
    if not entities:
        raise NotFound(
            f"No indexed page names {name[:80]!r} as an entity.",
            suggestion="Call kb_search with the name, or graph_entities_for_sections.",
        )
    return entities


EXPAND = list_tool(
    "graph.expand",
    expand,
    title="What is related",
    description=f"""
        List what is related to nodes: headings above and below, links both ways, shared names.
        Use when you explore around candidates. {WHEN_TO_USE}
        Do not use when you want quotes: kb_retrieve_evidence. {NARROW_FIRST}
        Returns at most page_size nodes, best first; no text unless include_snippet.
        If you need more, call with next_cursor, or kb_read_excerpt with a snippet's
            passage_id.
        {CAPS}, max_hops {MAX_HOPS}.
    """,
    example={"node_ids": ["section:1:0"], "relations": ["links_to", "mentions"]},
)
CHILDREN = list_tool(
    "graph.children",
    list_children,
    title="Headings below",
    description=f"""
        List the sections below sections or pages: their table of contents.
        Use when you need an outline. {WHEN_TO_USE}
        Do not use when you want links or names: graph_expand. {NARROW_FIRST}
        Returns at most page_size nodes; no text unless include_snippet.
        If you need more, call with next_cursor or max_hops 2.
        {CAPS}, max_hops {MAX_HOPS}.
    """,
    example={"node_ids": ["page:1"]},
)
PARENTS = list_tool(
    "graph.parents",
    list_parents,
    title="Headings above",
    description=f"""
        List the sections above sections; the page above its first.
        Use when you need the context of a hit. {WHEN_TO_USE}
        Do not use when you want links or names: graph_expand. {NARROW_FIRST}
        Returns at most page_size nodes; no text unless include_snippet.
        If you need more, call graph_children of a parent.
        {CAPS}, max_hops {MAX_HOPS}.
    """,
    example={"node_ids": ["section:1:2"]},
)
ENTITIES_FOR_SECTIONS = list_tool(
    "graph.entities_for_sections",
    list_entities,
    title="Names in sections",
    description=f"""
        List the symbols, terms and topics that sections or pages name.
        Use when you need names to go on with. {WHEN_TO_USE}
        Do not use when you search text: kb_search. {NARROW_FIRST}
        Returns at most page_size entities, the most telling first.
        If you need more, call graph_sections_for_entities.
        {CAPS}.
    """,
    example={"section_ids": ["section:1:2"]},
)
SECTIONS_FOR_ENTITIES = list_tool(
    "graph.sections_for_entities",
    list_sections,
    title="Where names stand",
    description=f"""
        List the sections that name symbols or terms, definitions first.
        Use when you have a name and want its places. {WHEN_TO_USE}
        Do not use when you have a question: kb_retrieve_evidence. {NARROW_FIRST}
        Returns at most page_size sections; no text unless include_snippet.
        If you need more, call with next_cursor, or kb_read_excerpt with a passage_id.
        {CAPS}.
    """,
    example={"entity_ids": ["asyncio.run"]},
)
