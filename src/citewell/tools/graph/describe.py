"""`graph.describe`: what given nodes are and how they are connected, or the graph as a whole."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from citewell.core.graph import EDGE_KINDS
from citewell.core.text import counted
from citewell.tools.graph.arguments import MAX_NODES, NARROW_FIRST, WHEN_TO_USE, NodeIds
from citewell.tools.graph.listing import MAX_RESULT_TOKENS
from citewell.tools.graph.nodes import NodeShape, node_fields, node_line, resolve_nodes
from citewell.tools.graph.snippets import find_snippets
from citewell.tools.scope import ScopeInput, check_scope, search_filter
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText, PageText

if TYPE_CHECKING:
    from citewell.core.graph import Node
    from citewell.core.records import SearchFilter
    from citewell.tools.graph.snippets import Snippet

# Relations of one kind are counted up to this number.
_MOST_COUNTED = 1_000


class DescribeInput(ToolInput):
    """Arguments of `graph.describe`."""

    node_ids: NodeIds | None = None
    include_snippet: bool = False
    scope: ScopeInput | None = None


class DescribedShape(NodeShape):
    """A node with how many others it is related to, by relation."""

    relations: dict[OwnText, int]
    snippet: PageText | None = None
    passage_id: OwnText | None = None


class GraphShape(ToolOutput):
    """How large the graph is."""

    pages: int
    sections: int
    entities: int
    links: int
    mentions: int


class DescribeOutput(ToolOutput):
    """The nodes asked about, or the graph."""

    nodes: list[DescribedShape] | None = None
    graph: GraphShape | None = None


async def run(arguments: DescribeInput, call: Call) -> DescribeOutput:
    """Describe nodes, or count the graph when none are named.

    Raises:
        NotFound: a node does not exist, or not within the scope.
    """
    where = await search_filter(check_scope(arguments.scope, call), None, call)
    if not arguments.node_ids:
        counts = await call.parts.store.graph_counts(where)
        return DescribeOutput(graph=GraphShape.model_validate(counts, from_attributes=True))
    nodes = await resolve_nodes(arguments.node_ids, where=where, call=call)
    snippets = {}
    if arguments.include_snippet:
        snippets = await find_snippets([node.ref for node in nodes], where=where, call=call)
    return DescribeOutput(
        nodes=[
            await _describe(node, snippets.get(node.ref), where=where, call=call) for node in nodes
        ]
    )


async def _describe(
    node: Node, snippet: Snippet | None, *, where: SearchFilter, call: Call
) -> DescribedShape:
    edges = await call.parts.store.edges_of(
        [node.ref], kinds=EDGE_KINDS, where=where, limit=_MOST_COUNTED
    )
    return DescribedShape.model_validate(
        {
            **node_fields(node),
            "relations": dict(Counter(edge.kind for edge in edges)),
            "snippet": snippet.text if snippet else None,
            "passage_id": snippet.passage_id if snippet else None,
        }
    )


def render(output: DescribeOutput, call: Call) -> str:
    """Return two lines for each node, or one for the graph."""
    if output.graph is not None:
        size = output.graph
        return (
            f"{counted(size.pages, 'page')}, {counted(size.sections, 'section')}, "
            f"{counted(size.entities, 'entity', 'entities')}; "
            f"{counted(size.links, 'link')}, {counted(size.mentions, 'mention')}."
        )
    nodes = output.nodes or []
    lines: list[str] = []
    for node in nodes:
        related = ", ".join(f"{kind} {count}" for kind, count in node.relations.items())
        lines += [f"- {node_line(node)}", f"    related: {related or 'nothing'}"]
        if node.snippet is not None:
            lines.append(f"    {node.snippet} (passage {node.passage_id})")
    return "\n".join(lines)


TOOL = Tool(
    name="graph.describe",
    toolset="graph",
    title="Describe nodes",
    description=f"""
        Say what pages, sections and entities are, and count their relations.
        Use when you choose where to go on. {WHEN_TO_USE}
        Do not use when you want the related nodes: graph_expand. {NARROW_FIRST}
        Returns at most an entry a node; without node_ids the size of the graph.
        If you need more, call graph_expand.
        Defaults: no snippets. Max: {MAX_NODES} ids.
    """,
    needs=("store", "scratch"),
    run=run,
    render=render,
    example={"node_ids": ["page:1"]},
    lists_columns=False,
    max_result_tokens=MAX_RESULT_TOKENS,
)
