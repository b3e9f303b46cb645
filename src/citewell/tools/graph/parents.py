"""`graph.parents`: the headings above sections, up to their page."""

from __future__ import annotations

from citewell.tools.graph import listing
from citewell.tools.graph.arguments import CAPS, MAX_HOPS, NARROW_FIRST, WHEN_TO_USE
from citewell.tools.graph.listing import MAX_RESULT_TOKENS, NodeListOutput
from citewell.tools.graph.tree import TreeInput, list_tree
from citewell.tools.registry import Annotations, Call, Tool, as_is


async def run(given: TreeInput, call: Call) -> NodeListOutput:
    """Return what stands above the given nodes; a page has nothing above it."""
    return await list_tree(given, call, kind="parent")


TOOL = Tool(
    name="graph.parents",
    toolset="graph",
    title="Headings above",
    description=(
        "List the sections above sections; the page above its first.\n"
        f"Use when you need the context of a hit. {WHEN_TO_USE}\n"
        f"Do not use when you want links or names: graph_expand. {NARROW_FIRST}\n"
        "Returns at most page_size nodes; no text unless include_snippet.\n"
        "If you need more, call graph_children of a parent.\n"
        f"{CAPS}, max_hops {MAX_HOPS}."
    ),
    input_model=TreeInput,
    output_model=NodeListOutput,
    annotations=Annotations(read_only=True),
    needs=("store", "scratch", "secret"),
    run=run,
    shape=as_is,
    render=listing.render,
    example={"node_ids": ["section:1:2"]},
    in_default=False,
    max_result_tokens=MAX_RESULT_TOKENS + 4_000,
)
