"""GraphStore: what a database must promise of the graph of pages, sections and entities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.graph import Edge, EdgeKind, GraphCounts, Node, NodeRef
    from citewell.core.records import SearchFilter, StoredChunk


class GraphStore(Protocol):
    """Nodes and edges as they follow from the stored pages; nothing here is written directly.

    Every method may raise StoreError. A node that does not pass the filter is as if it did
    not exist: an entity passes when a page that passes names it. No edge leaves a project.
    """

    async def find_nodes(self, refs: Sequence[NodeRef], *, where: SearchFilter) -> list[Node]:
        """Return the nodes in the order asked; those that are gone or hidden are left out."""

    async def find_entities(self, names: Sequence[str], *, where: SearchFilter) -> list[Node]:
        """Return the entities of these names, however spelt, in the order asked.

        A symbol may be named by its last part alone, when no entity has just that name.
        """

    async def edges_of(
        self, refs: Sequence[NodeRef], *, kinds: Sequence[EdgeKind], where: SearchFilter, limit: int
    ) -> list[Edge]:
        """Return the edges that leave these nodes, at most `limit` of each kind, strongest first.

        A link leads to the stored page with its URL, or whose redirects ended there; a page's own
        edges are those of its sections together. `same_entity` is derived from what two sections
        both name, names that are everywhere left out.
        """

    async def chunks_of_sections(self, refs: Sequence[NodeRef], *, limit: int) -> list[StoredChunk]:
        """Return the first `limit` chunks of each of these sections, in the order asked."""

    async def graph_counts(self, where: SearchFilter) -> GraphCounts:
        """Return how many nodes, links and mentions pass the filter."""
