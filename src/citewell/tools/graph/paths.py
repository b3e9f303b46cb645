"""`graph.paths`: how two nodes are connected, directly or through one other node."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from citewell.retrieve.graph_walk import find_paths
from citewell.tools.graph.arguments import (
    DEFAULT_PAGE_SIZE,
    MAX_HOPS,
    MAX_PAGE_SIZE,
    NARROW_FIRST,
    WHEN_TO_USE,
    Cursor,
    Hops,
    NodeId,
    PageSize,
)
from citewell.tools.graph.nodes import NodeShape, node_fields, node_line, resolve_nodes
from citewell.tools.paging import ListPosition
from citewell.tools.scope import ScopeInput, check_scope, search_filter
from citewell.tools.tool import Call, Tool, ToolInput, ToolOutput
from citewell.tools.untrusted import OwnText

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.retrieve.graph_walk import GraphPath

MAX_ENDS = 3
MAX_RESULT_TOKENS = 10_000
_NUMBER_BYTES = 4

Ends = Annotated[
    list[NodeId],
    Field(min_length=1, max_length=MAX_ENDS, description="As node_ids of graph_expand."),
]


class PathsInput(ToolInput):
    """Arguments of `graph.paths`."""

    from_ids: Ends
    to_ids: Ends
    max_hops: Hops = MAX_HOPS
    page_size: PageSize = DEFAULT_PAGE_SIZE
    cursor: Cursor | None = None
    scope: ScopeInput | None = None


class StepShape(ToolOutput):
    """A directed edge."""

    source: OwnText
    relation: OwnText
    target: OwnText


class PathsOutput(ToolOutput):
    """Paths, shortest and most telling first, and every node on them once."""

    paths: list[list[StepShape]]
    nodes: list[NodeShape]
    next_cursor: OwnText | None = None
    partial: bool
    limit_reason: Literal["page_size", "none"]


async def run(arguments: PathsInput, call: Call) -> PathsOutput:
    """Return what connects the nodes of one list with those of the other.

    Raises:
        NotFound: a node does not exist, or not within the scope.
    """
    where = await search_filter(check_scope(arguments.scope, call), None, call)
    position = ListPosition.of(arguments, arguments.cursor, call, kind="paths")
    starts = await resolve_nodes(arguments.from_ids, where=where, call=call)
    ends = await resolve_nodes(arguments.to_ids, where=where, call=call)
    store = call.parts.store
    paths = await find_paths(
        [node.ref for node in starts],
        [node.ref for node in ends],
        max_hops=arguments.max_hops,
        store=store,
        where=where,
    )
    left = [path for path in paths if _number(path) not in position.shown]
    page = left[: arguments.page_size]
    refs = dict.fromkeys(
        ref for path in page for edge in path.edges for ref in (edge.source, edge.target)
    )
    nodes = await store.find_nodes(list(refs), where=where)
    goes_on = len(left) > len(page)
    return PathsOutput(
        paths=[_steps(path) for path in page],
        nodes=[NodeShape.model_validate(node_fields(node)) for node in nodes],
        next_cursor=position.cursor_after(map(_number, page)) if goes_on else None,
        partial=goes_on,
        limit_reason="page_size" if goes_on else "none",
    )


def _steps(path: GraphPath) -> list[StepShape]:
    return [
        StepShape(source=edge.source.node_id, relation=edge.kind, target=edge.target.node_id)
        for edge in path.edges
    ]


def _number(path: GraphPath) -> int:
    """Return a hash of a path."""
    name = "|".join(f"{edge.source.node_id} {edge.target.node_id}" for edge in path.edges)
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:_NUMBER_BYTES], "big")


def render(output: PathsOutput, call: Call) -> str:
    """Return a line for each path, then one for each node on them."""
    if not output.paths:
        return "Nothing connects these nodes within max_hops."
    lines = [f"- {_line(path)}" for path in output.paths]
    lines += ["Nodes:", *(f"- {node_line(node)}" for node in output.nodes)]
    if output.next_cursor is not None:
        lines.append(f"More: call again with cursor {output.next_cursor}")
    return "\n".join(lines)


def _line(path: Sequence[StepShape]) -> str:
    return "; ".join(f"{step.source} {step.relation} {step.target}" for step in path)


TOOL = Tool(
    name="graph.paths",
    toolset="graph",
    title="What connects nodes",
    description=f"""
        List what connects nodes: a link, a heading, a name that both have.
        Use when you ask how two candidates relate. {WHEN_TO_USE}
        Do not use when you have one node: graph_expand. {NARROW_FIRST}
        Returns at most page_size paths of max_hops edges, and their nodes; no text.
        If you need more, call with next_cursor, or graph_expand.
        Defaults: max_hops {MAX_HOPS}.
            Max: {MAX_ENDS} ids a side, page_size {MAX_PAGE_SIZE}, max_hops {MAX_HOPS}.
    """,
    needs=("store", "scratch", "secret"),
    run=run,
    render=render,
    example={"from_ids": ["section:1:2"], "to_ids": ["page:2"]},
    lists_columns=False,
    max_result_tokens=MAX_RESULT_TOKENS,
)
