"""Walking the graph from given nodes: who is near them, best first, and what connects two."""

from __future__ import annotations

from collections import Counter
from math import e, log
from typing import TYPE_CHECKING

from citewell.core.frozen import frozen
from citewell.core.words import content_words, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from citewell.core.graph import Edge, EdgeKind, Node, NodeRef
    from citewell.core.records import SearchFilter
    from citewell.store.graph_protocol import GraphStore

MAX_RANKED = 500
"""Most nodes that one walk ranks, and most paths."""

# Edges of one kind that a step reads: what lies beyond is weaker still.
_EDGES_PER_KIND = 800
_EDGES_PER_KIND_LATER = 150
# Nodes from which a second step goes on.
_FRONTIER = 16
# What is related to this many others leads everywhere: a second step does not start from it.
_HUB_DEGREE = 100
_SECOND_STEP_SHARE = 0.4
_QUERY_BOOST = 4.0
# Nodes of a step whose names are compared with the query.
_NAMES_READ = 200
# A page's title says less of a section than the section's own heading.
_TITLE_SHARE = 0.3

_STRENGTH: dict[EdgeKind, float] = {
    "parent": 0.9,
    "child": 0.8,
    "part_of": 0.6,
    "previous": 0.4,
    "next": 0.5,
    "links_to": 1.0,
    "linked_from": 0.8,
    "mentions": 1.0,
    "mentioned_in": 1.0,
    "same_entity": 1.2,
}
_PATH_KINDS: tuple[EdgeKind, ...] = tuple(_STRENGTH)
_DEFINITION_BOOST = 2.0
# A name that stands in one section only leads nowhere.
_DEAD_END_SHARE = 0.5
_SAME_PAGE_SHARE = 0.6
# What a page names is mostly what it is made of; where it leads says more of its surroundings.
_PAGE_MENTION_SHARE = 0.6


@frozen
class Reached:
    """A node that a walk came to; `edge` is the strongest that led there."""

    ref: NodeRef
    score: float
    hops: int
    edge: Edge


@frozen
class GraphPath:
    """Edges that connect two nodes; the second, where there is one, comes from the far end."""

    edges: tuple[Edge, ...]
    score: float


async def walk(
    starts: Sequence[NodeRef],
    *,
    kinds: Sequence[EdgeKind],
    max_hops: int,
    store: GraphStore,
    where: SearchFilter,
    query: str = "",
) -> list[Reached]:
    """Return the nodes within `max_hops` of `starts`, nearest in meaning first.

    A node counts for more when several starts lead to it, when the edge stands for many links or
    mentions, and when its name has words of the query; for less when it is a hub, or further away.
    """
    wanted = content_words(query)
    reached: dict[NodeRef, Reached] = {}
    frontier = dict.fromkeys(starts, 1.0)
    for hops in range(1, max_hops + 1):
        edges = await store.edges_of(
            list(frontier),
            kinds=kinds if hops == 1 else _later_kinds(kinds),
            where=where,
            limit=_EDGES_PER_KIND if hops == 1 else _EDGES_PER_KIND_LATER,
        )
        known = {*starts, *reached}
        step = _step(
            (edge for edge in edges if edge.target not in known), frontier=frontier, hops=hops
        )
        if wanted:
            named = [each.ref for each in step[:_NAMES_READ]]
            step = _by_query(step, await store.find_nodes(named, where=where), wanted)
        reached |= {each.ref: each for each in step}
        onward = [each for each in step if each.edge.degree < _HUB_DEGREE][:_FRONTIER]
        frontier = {each.ref: _SECOND_STEP_SHARE * each.score for each in onward}
        if not frontier:
            break
    return _best(reached.values())


async def find_paths(
    starts: Sequence[NodeRef],
    ends: Sequence[NodeRef],
    *,
    max_hops: int,
    store: GraphStore,
    where: SearchFilter,
) -> list[GraphPath]:
    """Return how `starts` and `ends` are connected by one edge, or by two that meet in a node.

    Best first: direct before roundabout, telling names before those that are everywhere.
    """
    out = await store.edges_of(starts, kinds=_PATH_KINDS, where=where, limit=_EDGES_PER_KIND)
    back = await store.edges_of(ends, kinds=_PATH_KINDS, where=where, limit=_EDGES_PER_KIND)
    sources, targets = set(starts), set(ends)
    direct = [edge for edge in out if edge.target in targets]
    met = {(edge.source, edge.target) for edge in direct}
    direct += [
        edge for edge in back if edge.target in sources and (edge.target, edge.source) not in met
    ]
    paths = [GraphPath(edges=(edge,), score=1.0 + _strength(edge)) for edge in direct]
    if max_hops > 1:
        paths += _meeting(out, back, ends={*sources, *targets})
    return sorted(paths, key=lambda path: (-path.score, path.edges[0].target))[:MAX_RANKED]


def _meeting(out: Iterable[Edge], back: Iterable[Edge], *, ends: set[NodeRef]) -> list[GraphPath]:
    """Return pairs of edges that end in the same node, the strongest for each pair of ends."""
    from_starts: dict[NodeRef, list[Edge]] = {}
    for edge in out:
        if edge.target not in ends:
            from_starts.setdefault(edge.target, []).append(edge)
    best: dict[tuple[NodeRef, NodeRef, NodeRef], GraphPath] = {}
    for second in back:
        for first in from_starts.get(second.target, ()):
            if first.source == second.source:
                continue
            score = min(0.99, _strength(first) * _strength(second))
            key = (first.source, first.target, second.source)
            if key not in best or score > best[key].score:
                best[key] = GraphPath(edges=(first, second), score=score)
    return list(best.values())


def _later_kinds(kinds: Sequence[EdgeKind]) -> Sequence[EdgeKind]:
    """Return what a second step follows: what shares a name is two steps over the name itself."""
    if "mentions" not in kinds:
        return kinds
    return [kind for kind in kinds if kind != "same_entity"]


def _step(edges: Iterable[Edge], *, frontier: Mapping[NodeRef, float], hops: int) -> list[Reached]:
    """Return what the edges lead to; scores of several edges to one node add up."""
    several = list(edges)
    fan_out = Counter((edge.source, edge.kind) for edge in several)
    scores: dict[NodeRef, float] = {}
    strongest: dict[NodeRef, tuple[tuple[bool, float], Edge]] = {}
    for edge in several:
        spread = log(e + fan_out[edge.source, edge.kind])
        score = frontier[edge.source] * _strength(edge) / spread
        scores[edge.target] = scores.get(edge.target, 0.0) + score
        # That a section defines something says more of it than how often it names it.
        worth = (edge.defines, score)
        if edge.target not in strongest or worth > strongest[edge.target][0]:
            strongest[edge.target] = (worth, edge)
    return _best(
        Reached(ref=ref, score=score, hops=hops, edge=strongest[ref][1])
        for ref, score in scores.items()
    )


def _strength(edge: Edge) -> float:
    """Return how much an edge says; about 0 to 2."""
    strength = _STRENGTH[edge.kind] / log(e + edge.degree)
    if edge.kind == "same_entity":
        strength *= min(1.0, 2 * edge.weight)
    else:
        strength *= 1 + log(edge.weight)
    if edge.kind == "mentions" and edge.source.kind == "page":
        strength *= _PAGE_MENTION_SHARE
    elif edge.defines:
        strength *= _DEFINITION_BOOST
    if edge.kind == "mentions" and edge.degree == 1:
        strength *= _DEAD_END_SHARE
    if edge.kind == "same_entity" and edge.source.number == edge.target.number:
        strength *= _SAME_PAGE_SHARE
    return strength


def _by_query(
    step: Sequence[Reached], nodes: Iterable[Node], wanted: Sequence[str]
) -> list[Reached]:
    asked = set(wanted)
    boosts = {node.ref: 1 + _QUERY_BOOST * _overlap(node, asked) for node in nodes}
    return _best(
        Reached(
            ref=each.ref,
            score=each.score * boosts.get(each.ref, 1.0),
            hops=each.hops,
            edge=each.edge,
        )
        for each in step
    )


def _overlap(node: Node, asked: set[str]) -> float:
    """Return which share of the query's words the node's name has."""
    name = asked & set(words(node.name))
    title = asked & set(words(node.title)) - name
    return (len(name) + _TITLE_SHARE * len(title)) / len(asked)


def _best(reached: Iterable[Reached]) -> list[Reached]:
    # Equals stay in the order of the page: children read as its table of contents.
    return sorted(reached, key=lambda each: (-each.score, each.ref))[:MAX_RANKED]
