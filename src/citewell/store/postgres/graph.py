"""The graph of pages, sections and entities, inside the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from citewell.core.graph import Edge, GraphCounts, Node, NodeRef, entity_key
from citewell.core.records import SearchFilter
from citewell.store.edge_statements import (
    EDGE_STATEMENTS,
    MOST_SECTIONS_SHARING,
    NODE_STATEMENTS,
    SYMBOLS_OF_ONE_ENDING,
    symbol_pattern,
)
from citewell.store.postgres import rows
from citewell.store.postgres.filters import allowed_pages
from citewell.store.postgres.statements import SQL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psycopg import AsyncConnection

    from citewell.core.graph import EdgeKind
    from citewell.core.records import PageDraft, StoredChunk
    from citewell.store.edge_statements import EdgeStatement

    Session = AsyncConnection[dict[str, Any]]


async def put_mentions(
    connection: Session, draft: PageDraft, *, source_id: int, is_new: bool
) -> None:
    """Write which entities the page names, in place of what it named before unless it is new.

    An entity that is still named keeps its id: those that nothing names are removed last.
    """
    if is_new and not draft.entities:
        return
    keyed = [(entity_key(mention.name), mention) for mention in draft.entities]
    strongest = dict(sorted(keyed, key=_weakest_first))
    values: dict[str, object] = {
        "project": draft.project,
        "keys": list(strongest),
        "names": [each.name for each in strongest.values()],
        "kinds": [each.kind for each in strongest.values()],
    }
    if keyed:
        await connection.execute(SQL["put_entities"], values)
    found = await connection.execute(SQL["entity_ids"], values)
    ids = {row["key"]: row["entity_id"] for row in await found.fetchall()}
    forgotten = 0
    if not is_new:
        key = {"source_id": source_id}
        forgotten = (await connection.execute(SQL["forget_mentions_of_page"], key)).rowcount
    if keyed:
        mentions = {
            "source_id": source_id,
            "sections": [each.section for _, each in keyed],
            "entity_ids": [ids[key] for key, _ in keyed],
            "times": [each.count for _, each in keyed],
            "defines": [int(each.defines) for _, each in keyed],
        }
        await connection.execute(SQL["put_mentions"], mentions)
        await connection.execute(SQL["count_mentions"], {"source_id": source_id})
    if forgotten:
        await connection.execute(SQL["remove_unnamed_entities"])


_KINDS_WEAKEST_FIRST = ("phrase", "topic", "term", "symbol")


def _weakest_first(keyed: tuple[str, Any]) -> int:
    return _KINDS_WEAKEST_FIRST.index(keyed[1].kind)


async def find_nodes(
    connection: Session, refs: Sequence[NodeRef], *, where: SearchFilter
) -> list[Node]:
    """Return the nodes in the order asked; those that are gone or hidden are left out."""
    view = {"project": where.project, "visible": await _visible(connection, where)}
    found: dict[NodeRef, Node] = {}
    for kind, statement in NODE_STATEMENTS.items():
        asked = [ref for ref in refs if ref.kind == kind]
        if asked:
            values = view | {
                "numbers": [ref.number for ref in asked],
                "ordinals": [ref.section for ref in asked],
            }
            async for row in await connection.execute(SQL[statement], values):
                node = rows.node(row, kind)
                found[node.ref] = node
    return [found[ref] for ref in dict.fromkeys(refs) if ref in found]


async def find_entities(
    connection: Session, names: Sequence[str], *, where: SearchFilter
) -> list[Node]:
    """Return the entities of these names; a symbol's last part stands for it where it must."""
    values = {"project": where.project, "keys": [entity_key(name) for name in names]}
    by_place: dict[int, list[int]] = {}
    async for row in await connection.execute(SQL["entities_named"], values):
        by_place.setdefault(row["place"], []).append(row["entity_id"])
    found: list[int] = []
    for place, name in enumerate(names):
        found += by_place.get(place) or await _ending_with(connection, name, project=where.project)
    refs = [NodeRef("entity", entity_id) for entity_id in dict.fromkeys(found)]
    return await find_nodes(connection, refs, where=where)


async def _ending_with(connection: Session, name: str, *, project: str | None) -> list[int]:
    pattern = symbol_pattern(name)
    if pattern is None:
        return []
    values = {
        "project": project,
        "pattern": pattern,
        "limit": SYMBOLS_OF_ONE_ENDING,
    }
    found = await connection.execute(SQL["symbols_ending_with"], values)
    return [row["entity_id"] async for row in found]


async def edges_of(
    connection: Session,
    refs: Sequence[NodeRef],
    *,
    kinds: Sequence[EdgeKind],
    where: SearchFilter,
    limit: int,
) -> list[Edge]:
    """Return the edges that leave the nodes, kind after kind, at most `limit` of each."""
    seen = [node.ref for node in await find_nodes(connection, refs, where=where)]
    sections = [ref for ref in seen if ref.kind == "section"]
    values = {
        "pages": [ref.number for ref in seen if ref.kind == "page"],
        "numbers": [ref.number for ref in sections],
        "ordinals": [ref.section for ref in sections],
        "entities": [ref.number for ref in seen if ref.kind == "entity"],
        "visible": await _visible(connection, where),
        "most_sections": MOST_SECTIONS_SHARING,
        "limit": limit,
    }
    present = {ref.kind for ref in seen}
    edges: list[Edge] = []
    for kind in kinds:
        for statement in EDGE_STATEMENTS[kind]:
            if statement.source in present:
                bound = values | {"step": statement.step}
                found = await connection.execute(SQL[statement.name], bound)
                edges += _edges(await found.fetchall(), kind, statement)
    return edges


def _edges(found: Iterable[dict[str, Any]], kind: EdgeKind, statement: EdgeStatement) -> list[Edge]:
    return [
        Edge(
            source=NodeRef(statement.source, row["source"], row["source_section"]),
            target=NodeRef(statement.target, row["target"], row["target_section"]),
            kind=kind,
            weight=row["weight"],
            defines=bool(row["defines"]),
            degree=row["degree"],
        )
        for row in found
    ]


async def chunks_of_sections(
    connection: Session, refs: Sequence[NodeRef], *, limit: int
) -> list[StoredChunk]:
    """Return the first `limit` chunks of each section, in the order asked."""
    sections = [ref for ref in refs if ref.kind == "section"]
    values = {
        "numbers": [ref.number for ref in sections],
        "ordinals": [ref.section for ref in sections],
        "limit": limit,
    }
    found = await connection.execute(SQL["chunks_of_sections"], values)
    return [rows.stored_chunk(row) async for row in found]


async def graph_counts(connection: Session, where: SearchFilter) -> GraphCounts:
    """Return how large the graph is that passes `where`."""
    values = {"project": where.project, "visible": await _visible(connection, where)}
    row = await (await connection.execute(SQL["graph_counts"], values)).fetchone()
    assert row is not None, "a select of counts has a row"
    return GraphCounts(**row)


async def _visible(connection: Session, where: SearchFilter) -> list[int] | None:
    """Return the pages that pass `where`; None when only the project matters."""
    if where == SearchFilter(project=where.project):
        return None
    allowed = await allowed_pages(connection, where)
    return allowed.source_ids if allowed is not None else None
