"""Search in the neighbourhood: the pages that the best hit links to, as further hits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from citewell.core.graph import NodeRef
from citewell.core.records import RankedChunk
from citewell.retrieve.graph_walk import walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.graph import EdgeKind
    from citewell.core.records import SearchFilter, StoredChunk
    from citewell.retrieve.graph_walk import Reached
    from citewell.store.graph_protocol import GraphStore

# Found by words and reranked, nDCG@10: two-hop questions over linked pages .858 → .923, release
# notes .840 → .850, page titles .930 → .930, programmers' intents .475 → .466. More hits to start
# from gain nothing, and shared names lose on every set (.858 → .848, .840 → .829). Picked among
# thirteen variants on these same queries, and the two-hop pages were linked by their titles for the
# measurement: only the release notes have links of their own.
_SEEDS = 1
_NEIGHBOURS = 5
_KINDS: tuple[EdgeKind, ...] = ("links_to",)
# What the nearest neighbour is worth of the hit that links to it; the others are worth less.
_SHARE = 0.5


async def add_neighbours(
    ranked: Sequence[RankedChunk], query: str, *, store: GraphStore, where: SearchFilter
) -> tuple[RankedChunk, ...]:
    """Return `ranked` with the beginnings of the pages that its best links to.

    A neighbour is worth a share of the hit that links to it, by how particular the link is and how
    many words of the query its title has. What the search itself found is only ever moved up.
    """
    seeds = ranked[:_SEEDS]
    if not seeds:
        return tuple(ranked)
    # Of two hits in one section the better one counts, and so does the nearer of two ways below.
    starts = {
        NodeRef("section", seed.chunk.source_id, seed.chunk.section): seed
        for seed in reversed(seeds)
    }
    reached = await walk(
        list(starts), kinds=_KINDS, max_hops=1, store=store, where=where, query=query
    )
    nearest = {_section(each): each for each in reversed(reached[:_NEIGHBOURS])}
    chunks = await store.chunks_of_sections(list(nearest), limit=1)
    best = reached[0].score if reached else 1.0
    merged = {each.chunk.chunk_id: each for each in ranked}
    for chunk in chunks:
        near = nearest[NodeRef("section", chunk.source_id, chunk.section)]
        seed = starts[near.edge.source]
        worth = _SHARE * seed.relevance * near.score / best
        known = merged.get(chunk.chunk_id)
        merged[chunk.chunk_id] = (
            _neighbour(chunk, seed, worth)
            if known is None
            else replace(known, relevance=max(known.relevance, worth))
        )
    return tuple(sorted(merged.values(), key=lambda each: -each.relevance))


def _section(reached: Reached) -> NodeRef:
    """Return the section to read of a node: a page begins with its first."""
    ref = reached.ref
    return ref if ref.kind == "section" else NodeRef("section", ref.number, 0)


def _neighbour(chunk: StoredChunk, seed: RankedChunk, worth: float) -> RankedChunk:
    return RankedChunk(
        chunk=chunk,
        relevance=worth,
        confidence=None,
        matched_by="locality",
        sub_query=seed.sub_query,
    )
