"""`graph.children`: the sections below sections and pages, in their order."""

from __future__ import annotations

from citewell.tools.graph import listing
from citewell.tools.graph.arguments import CAPS, MAX_HOPS, NARROW_FIRST, WHEN_TO_USE
from citewell.tools.graph.listing import MAX_RESULT_TOKENS, NodeListOutput
from citewell.tools.graph.tree import TreeInput, list_tree
from citewell.tools.registry import Annotations, Call, Tool, as_is


async def run(given: TreeInput, call: Call) -> NodeListOutput:
    """Return what stands below the given nodes, in the order of the page."""
    return await list_tree(given, call, kind="child")


TOOL = Tool(
    name="graph.children",
    toolset="graph",
    title="Headings below",
    description=(
        "List the sections below sections or pages: their table of contents.\n"
        f"Use when you need an outline. {WHEN_TO_USE}\n"
        f"Do not use when you want links or names: graph_expand. {NARROW_FIRST}\n"
        "Returns at most page_size nodes; no text unless include_snippet.\n"
        "If you need more, call with next_cursor or max_hops 2.\n"
        f"{CAPS}, max_hops {MAX_HOPS}."
    ),
    input_model=TreeInput,
    output_model=NodeListOutput,
    annotations=Annotations(read_only=True),
    needs=("store", "scratch", "secret"),
    run=run,
    shape=as_is,
    render=listing.render,
    example={"node_ids": ["page:1"]},
    in_default=False,
    max_result_tokens=MAX_RESULT_TOKENS + 4_000,
)
