"""Arguments that the graph tools share, with their defaults and caps."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from citewell.core.graph import EDGE_KINDS, EdgeKind
from citewell.tools.scope import ScopeInput
from citewell.tools.tool import ToolInput

DEFAULT_PAGE_SIZE = 25
MAX_PAGE_SIZE = 100
MAX_HOPS = 2
MAX_NODES = 10
# Room for the numbers of every node that a walk ranks.
MAX_CURSOR_CHARACTERS = 6_000

NodeId = Annotated[str, Field(min_length=1, max_length=2_000)]
NodeIds = Annotated[
    list[NodeId],
    Field(
        min_length=1,
        max_length=MAX_NODES,
        description="Node ids, section_ids, passage_ids or URLs.",
    ),
]
Relations = Annotated[list[EdgeKind], Field(min_length=1, max_length=len(EDGE_KINDS))]
Hops = Annotated[int, Field(ge=1, le=MAX_HOPS)]
PageSize = Annotated[int, Field(ge=1, le=MAX_PAGE_SIZE)]
Cursor = Annotated[str, Field(max_length=MAX_CURSOR_CHARACTERS)]


class ListingInput(ToolInput):
    """How a list of nodes is ranked and shown."""

    query: Annotated[str, Field(max_length=500, description="Ranks by its words.")] = ""
    include_snippet: bool = False
    page_size: PageSize = DEFAULT_PAGE_SIZE
    cursor: Cursor | None = None
    scope: ScopeInput | None = None


WHEN_TO_USE = "Use after kb_search, on its top 1-3."
NARROW_FIRST = "Fetch no text until 3 passages or fewer are left."
CAPS = f"Defaults: page_size {DEFAULT_PAGE_SIZE}. Max: {MAX_NODES} ids, page_size {MAX_PAGE_SIZE}"
