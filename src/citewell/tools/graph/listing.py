"""List related nodes a page at a time, within a budget of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from pydantic import WithJsonSchema

from citewell.core.graph import node_number
from citewell.retrieve.graph_walk import walk
from citewell.tools.graph.arguments import ListingInput
from citewell.tools.graph.nodes import NodeShape, node_fields, node_line
from citewell.tools.graph.snippets import find_snippets
from citewell.tools.paging import ListPosition, fit_shapes
from citewell.tools.tool import Call, Tool, ToolOutput
from citewell.tools.untrusted import OwnText, PageText

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from citewell.core.graph import EdgeKind, Node, NodeRef
    from citewell.core.records import SearchFilter
    from citewell.retrieve.graph_walk import Reached
    from citewell.tools.graph.snippets import Snippet

MAX_RESULT_TOKENS = 6_000

InputT = TypeVar("InputT", bound=ListingInput)
OutputT = TypeVar("OutputT", bound="NodeListOutput")


class RelatedShape(NodeShape):
    """A node and how it was reached."""

    relation: OwnText
    of: OwnText
    hops: int
    snippet: PageText | None = None
    passage_id: OwnText | None = None


ShortNodes = Annotated[
    list[RelatedShape], WithJsonSchema({"type": "array", "items": {"type": "object"}})
]
"""The same nodes without their fields, which only `graph.expand` lists, to save tokens."""


class NodeListOutput(ToolOutput):
    """A page of related nodes, best first."""

    nodes: ShortNodes
    next_cursor: OwnText | None = None
    partial: bool
    limit_reason: Literal["page_size", "token_cap", "none"]


async def list_related(
    starts: Sequence[Node],
    *,
    kinds: Sequence[EdgeKind],
    max_hops: int,
    arguments: ListingInput,
    where: SearchFilter,
    call: Call,
    definitions_first: bool = False,
) -> NodeListOutput:
    """Return the next page of nodes related to `starts`.

    Raises:
        InvalidArgument: the cursor belongs to another list.
    """
    position = ListPosition.of(arguments, arguments.cursor, call, kind=" ".join(kinds))
    reached = await walk(
        [node.ref for node in starts],
        kinds=kinds,
        max_hops=max_hops,
        store=call.parts.store,
        where=where,
        query=arguments.query,
    )
    if definitions_first:
        reached = sorted(reached, key=lambda step: not step.edge.defines)
    left = [step for step in reached if node_number(step.ref) not in position.shown]
    page = left[: arguments.page_size]
    shapes = await _shapes(page, arguments=arguments, where=where, call=call)
    kept = fit_shapes(list(shapes.values()), max_tokens=MAX_RESULT_TOKENS)
    cut = len(kept) < len(shapes)
    goes_on = cut or len(left) > len(page)
    numbers = map(node_number, list(shapes)[: len(kept)])
    return NodeListOutput(
        nodes=kept,
        next_cursor=position.cursor_after(numbers) if goes_on else None,
        partial=goes_on,
        limit_reason="token_cap" if cut else "page_size" if goes_on else "none",
    )


async def _shapes(
    page: Sequence[Reached], *, arguments: ListingInput, where: SearchFilter, call: Call
) -> dict[NodeRef, RelatedShape]:
    refs = [step.ref for step in page]
    nodes = {node.ref: node for node in await call.parts.store.find_nodes(refs, where=where)}
    snippets: Mapping[NodeRef, Snippet] = {}
    if arguments.include_snippet:
        snippets = await find_snippets(refs, where=where, call=call)
    return {
        step.ref: _shape(step, nodes[step.ref], snippets.get(step.ref))
        for step in page
        if step.ref in nodes
    }


def _shape(reached: Reached, node: Node, snippet: Snippet | None) -> RelatedShape:
    return RelatedShape.model_validate(
        {
            **node_fields(node),
            "relation": reached.edge.kind,
            "of": reached.edge.source.node_id,
            "hops": reached.hops,
            "snippet": snippet.text if snippet else None,
            "passage_id": snippet.passage_id if snippet else None,
        }
    )


def render(output: NodeListOutput, call: Call) -> str:
    """Return a line for each node, and its snippet below it."""
    if not output.nodes:
        return "Nothing is related in this way."
    lines: list[str] = []
    for node in output.nodes:
        far = f", {node.hops} hops" if node.hops > 1 else ""
        lines.append(f"- {node_line(node)} ({node.of} {node.relation}{far})")
        if node.snippet is not None:
            lines.append(f"    {node.snippet} (passage {node.passage_id})")
    if output.next_cursor is not None:
        lines.append(f"More: call again with cursor {output.next_cursor}")
    return "\n".join(lines)


def list_tool(
    name: str,
    run: Callable[[InputT, Call], Awaitable[OutputT]],
    *,
    title: str,
    description: str,
    example: Mapping[str, object],
) -> Tool[InputT, OutputT]:
    """Return a tool that lists nodes."""
    return Tool(
        name=name,
        toolset="graph",
        title=title,
        description=description,
        needs=("store", "scratch", "secret"),
        run=run,
        render=render,
        example=example,
        max_result_tokens=MAX_RESULT_TOKENS + 4_000,
    )
