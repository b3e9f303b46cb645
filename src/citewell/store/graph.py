"""The graph of pages, sections and entities, inside the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.core.graph import Edge, GraphCounts, Node, NodeRef, entity_key
from citewell.core.records import SearchFilter
from citewell.core.words import as_symbol
from citewell.store.edge_statements import (
    EDGE_STATEMENTS,
    MOST_SECTIONS_SHARING,
    NODE_STATEMENTS,
    SYMBOLS_OF_ONE_ENDING,
    symbol_pattern,
)
from citewell.store.filters import allowed_pages
from citewell.store.rows import read_chunk, read_record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from citewell.core.graph import EdgeKind, NodeKind
    from citewell.core.records import StoredChunk
    from citewell.store.session import Row, Session


async def find_nodes(
    session: Session, refs: Sequence[NodeRef], *, where: SearchFilter
) -> list[Node]:
    """Return the nodes in the order asked; those that are gone or hidden are left out."""
    view = {"project": where.project, "visible": await _visible(session, where)}
    nodes: dict[NodeRef, Node] = {}
    for kind, statement in NODE_STATEMENTS.items():
        of_kind = [ref for ref in refs if ref.kind == kind]
        if of_kind:
            for row in await session.fetch_all(statement, view | _places(of_kind)):
                node = _node_of_row(row, kind)
                nodes[node.ref] = node
    return [nodes[ref] for ref in dict.fromkeys(refs) if ref in nodes]


async def find_entities(
    session: Session, names: Sequence[str], *, where: SearchFilter
) -> list[Node]:
    """Return the entities of these names; with and without its module a symbol is the same."""
    spellings = [_spellings(name) for name in names]
    keys = [entity_key(spelt) for several in spellings for spelt in several]
    places = [place for place, several in enumerate(spellings) for _ in several]
    values = {"project": where.project, "keys": keys}
    by_place: dict[int, list[int]] = {}
    for row in await session.fetch_all("entities_named", values):
        by_place.setdefault(places[row["place"]], []).append(row["entity_id"])
    ids: list[int] = []
    for place, name in enumerate(names):
        ids += by_place.get(place, [])
        if " " not in name.strip():
            ids += await _ending_with(session, name, where.project)
    refs = [NodeRef("entity", entity_id) for entity_id in dict.fromkeys(ids)]
    return await find_nodes(session, refs, where=where)


def _spellings(name: str) -> list[str]:
    """Return a name and, of a qualified one, the shorter forms that only code looks like."""
    symbol = as_symbol(name)
    parts = name.strip(" `").removesuffix("()").split(".") if symbol and "." in symbol else []
    shorter = [".".join(parts[place:]) for place in range(1, len(parts))]
    return [name, *filter(as_symbol, shorter)]


async def edges_of(
    session: Session,
    refs: Sequence[NodeRef],
    *,
    kinds: Sequence[EdgeKind],
    where: SearchFilter,
    limit: int,
) -> list[Edge]:
    """Return the edges that leave the nodes, kind after kind, at most `limit` of each."""
    nodes = [node.ref for node in await find_nodes(session, refs, where=where)]
    values = {
        "pages": [ref.number for ref in nodes if ref.kind == "page"],
        "entities": [ref.number for ref in nodes if ref.kind == "entity"],
        "visible": await _visible(session, where),
        "most_sections": MOST_SECTIONS_SHARING,
        "limit": limit,
        **_places([ref for ref in nodes if ref.kind == "section"]),
    }
    present = {ref.kind for ref in nodes}
    return [
        Edge(
            source=NodeRef(statement.source, source, source_section),
            target=NodeRef(statement.target, target, target_section),
            kind=kind,
            weight=weight,
            defines=bool(defines),
            degree=degree,
        )
        for kind in kinds
        for statement in EDGE_STATEMENTS[kind]
        if statement.source in present
        for source, source_section, target, target_section, weight, defines, degree in (
            await session.fetch_packed(statement.name, values | {"step": statement.step})
        )
    ]


async def chunks_of_sections(
    session: Session, refs: Sequence[NodeRef], *, limit: int
) -> list[StoredChunk]:
    """Return the first `limit` chunks of each section, in the order asked."""
    places = _places([ref for ref in refs if ref.kind == "section"])
    rows = await session.fetch_all("chunks_of_sections", places | {"limit": limit})
    return [read_chunk(row) for row in rows]


async def graph_counts(session: Session, where: SearchFilter) -> GraphCounts:
    """Return how large the graph is that passes `where`."""
    values = {"project": where.project, "visible": await _visible(session, where)}
    row = await session.fetch_one("graph_counts", values)
    assert row is not None, "a select of counts has a row"
    return read_record(GraphCounts, row)


async def _ending_with(session: Session, name: str, project: str | None) -> list[int]:
    pattern = symbol_pattern(name)
    if pattern is None:
        return []
    values = {"project": project, "pattern": pattern, "limit": SYMBOLS_OF_ONE_ENDING}
    return [row["entity_id"] for row in await session.fetch_all("symbols_ending_with", values)]


def _places(refs: Sequence[NodeRef]) -> dict[str, object]:
    """Return nodes as statements take them: by two lists, or by one of pairs."""
    return {
        "numbers": [ref.number for ref in refs],
        "ordinals": [ref.section for ref in refs],
        "sections": [[ref.number, ref.section] for ref in refs],
    }


async def _visible(session: Session, where: SearchFilter) -> Any:  # noqa: ANN401 - see AllowedPages
    """Return the pages that pass `where`; None when only the project matters."""
    if where == SearchFilter(project=where.project):
        return None
    allowed = await allowed_pages(session, where)
    return allowed.source_ids if allowed is not None else None


def _node_of_row(row: Row, kind: NodeKind) -> Node:
    """Return the node that a row of `page_nodes`, `section_nodes` or `entity_nodes` holds."""
    return read_record(
        Node,
        row,
        ref=NodeRef(kind, row["number"], row["section"]),
        is_supplied=row["origin"] == "supplied",
    )
