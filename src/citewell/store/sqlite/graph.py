"""The graph of pages, sections and entities, inside the caller's transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from citewell.core.graph import Edge, GraphCounts, Node, NodeRef, entity_key
from citewell.core.records import SearchFilter
from citewell.store.edge_statements import (
    EDGE_STATEMENTS,
    MOST_SECTIONS_SHARING,
    NODE_STATEMENTS,
    SYMBOLS_OF_ONE_ENDING,
    symbol_pattern,
)
from citewell.store.sqlite import rows
from citewell.store.sqlite.connection import SQL
from citewell.store.sqlite.filters import allowed_pages

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from citewell.core.graph import EdgeKind, NodeKind
    from citewell.core.records import PageDraft, StoredChunk
    from citewell.store.edge_statements import EdgeStatement


def put_mentions(connection: sqlite3.Connection, draft: PageDraft, *, source_id: int) -> None:
    """Write which entities the page names, in place of what it named before.

    An entity that is still named keeps its id, so what is new is written before the rest goes.
    """
    keyed = [(entity_key(mention.name), mention) for mention in draft.entities]
    connection.executemany(
        SQL["put_entity"],
        [
            {"project": draft.project, "key": key, "name": mention.name, "kind": mention.kind}
            for key, mention in {(key, each.kind): (key, each) for key, each in keyed}.values()
        ],
    )
    keys = json.dumps(sorted({key for key, _ in keyed}))
    found = connection.execute(SQL["entity_ids"], {"project": draft.project, "keys": keys})
    entity_ids: dict[str, int] = json.loads(found.fetchone()[0])
    before = {
        (row["section"], row["entity_id"])
        for row in connection.execute(SQL["mentions_before"], {"source_id": source_id})
    }
    connection.executemany(
        SQL["put_mention"],
        [
            (source_id, each.section, entity_ids[key], each.count, int(each.defines))
            for key, each in keyed
        ],
    )
    gone = before - {(each.section, entity_ids[key]) for key, each in keyed}
    connection.executemany(
        SQL["remove_mention"], [(source_id, section, entity_id) for section, entity_id in gone]
    )


def find_nodes(
    connection: sqlite3.Connection, refs: Sequence[NodeRef], *, where: SearchFilter
) -> list[Node]:
    """Return the nodes in the order asked; those that are gone or hidden are left out."""
    view = {"project": where.project, "visible": _visible(connection, where)}
    asked = {
        "page": [ref.number for ref in refs if ref.kind == "page"],
        "section": [[ref.number, ref.section] for ref in refs if ref.kind == "section"],
        "entity": [ref.number for ref in refs if ref.kind == "entity"],
    }
    found: dict[NodeRef, Node] = {}
    for kind, statement in NODE_STATEMENTS.items():
        if asked[kind]:
            values = view | {"asked": json.dumps(asked[kind])}
            for row in connection.execute(SQL[statement], values):
                node = _node(row, kind)
                found[node.ref] = node
    return [found[ref] for ref in dict.fromkeys(refs) if ref in found]


def find_entities(
    connection: sqlite3.Connection, names: Sequence[str], *, where: SearchFilter
) -> list[Node]:
    """Return the entities of these names; a symbol's last part stands for it where it must."""
    keys = [entity_key(name) for name in names]
    values = {"project": where.project, "keys": json.dumps(keys)}
    by_place: dict[int, list[int]] = {}
    for row in connection.execute(SQL["entities_named"], values):
        by_place.setdefault(row["place"], []).append(row["entity_id"])
    found: list[int] = []
    for place, name in enumerate(names):
        found += by_place.get(place) or _ending_with(connection, name, project=where.project)
    refs = [NodeRef("entity", entity_id) for entity_id in dict.fromkeys(found)]
    return find_nodes(connection, refs, where=where)


def _ending_with(connection: sqlite3.Connection, name: str, *, project: str | None) -> list[int]:
    pattern = symbol_pattern(name)
    if pattern is None:
        return []
    values = {
        "project": project,
        "pattern": pattern,
        "limit": SYMBOLS_OF_ONE_ENDING,
    }
    return [row["entity_id"] for row in connection.execute(SQL["symbols_ending_with"], values)]


def edges_of(
    connection: sqlite3.Connection,
    refs: Sequence[NodeRef],
    *,
    kinds: Sequence[EdgeKind],
    where: SearchFilter,
    limit: int,
) -> list[Edge]:
    """Return the edges that leave the nodes, kind after kind, at most `limit` of each."""
    seen = [node.ref for node in find_nodes(connection, refs, where=where)]
    values = {
        "pages": json.dumps([ref.number for ref in seen if ref.kind == "page"]),
        "sections": json.dumps(
            [[ref.number, ref.section] for ref in seen if ref.kind == "section"]
        ),
        "entities": json.dumps([ref.number for ref in seen if ref.kind == "entity"]),
        "visible": _visible(connection, where),
        "most_sections": MOST_SECTIONS_SHARING,
        "limit": limit,
    }
    present = {ref.kind for ref in seen}
    edges: list[Edge] = []
    for kind in kinds:
        for statement in EDGE_STATEMENTS[kind]:
            if statement.source in present:
                bound = values | {"step": statement.step}
                row = connection.execute(SQL[statement.name], bound).fetchone()
                edges += _edges(json.loads(row[0]), kind, statement)
    return edges


def _edges(
    found: Iterable[tuple[int, int, int, int, float, int, int]],
    kind: EdgeKind,
    statement: EdgeStatement,
) -> list[Edge]:
    return [
        Edge(
            source=NodeRef(statement.source, source, source_section),
            target=NodeRef(statement.target, target, target_section),
            kind=kind,
            weight=weight,
            defines=bool(defines),
            degree=degree,
        )
        for source, source_section, target, target_section, weight, defines, degree in found
    ]


def chunks_of_sections(
    connection: sqlite3.Connection, refs: Sequence[NodeRef], *, limit: int
) -> list[StoredChunk]:
    """Return the first `limit` chunks of each section, in the order asked."""
    asked = json.dumps([[ref.number, ref.section] for ref in refs if ref.kind == "section"])
    values = {"asked": asked, "limit": limit}
    return [rows.stored_chunk(row) for row in connection.execute(SQL["chunks_of_sections"], values)]


def graph_counts(connection: sqlite3.Connection, where: SearchFilter) -> GraphCounts:
    """Return how large the graph is that passes `where`."""
    values = {"project": where.project, "visible": _visible(connection, where)}
    row = connection.execute(SQL["graph_counts"], values).fetchone()
    return GraphCounts(
        pages=row["pages"],
        sections=row["sections"],
        entities=row["entities"],
        links=row["links"],
        mentions=row["mentions"],
    )


def _visible(connection: sqlite3.Connection, where: SearchFilter) -> str | None:
    """Return the pages that pass `where` as a JSON list; None when only the project matters."""
    if where == SearchFilter(project=where.project):
        return None
    allowed = allowed_pages(connection, where)
    return allowed.source_ids if allowed is not None else None


def _node(row: sqlite3.Row, kind: NodeKind) -> Node:
    """Return the node that a row of `page_nodes`, `section_nodes` or `entity_nodes` holds."""
    return Node(
        ref=NodeRef(kind, row["number"], row["section"]),
        name=row["name"],
        title=row["title"],
        url=row["url"],
        anchor=row["anchor"],
        entity_kind=row["entity_kind"],
        sections=row["sections"],
        entities=row["entities"],
    )
