"""Every promise of GraphStore, run once per backend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.drafts import draft

from citewell.core.graph import (
    EDGE_KINDS,
    EdgeKind,
    EntityKind,
    EntityMention,
    GraphCounts,
    NodeRef,
)
from citewell.core.records import (
    Link,
    PageDraft,
    SearchFilter,
    Section,
)
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

ALL = SearchFilter(project="default")
HERONS, EGRETS, OWLS = (f"https://birds.example/{name}" for name in ("herons", "egrets", "owls"))


def names(
    name: str, section: int = 0, *, count: int = 1, kind: EntityKind = "term", defines: bool = False
) -> EntityMention:
    return EntityMention(name=name, kind=kind, section=section, count=count, defines=defines)


def link(url: str, section: int = 0) -> Link:
    return Link(url=url, text="there", context="see there", section=section, start=0)


def page(
    url: str,
    *entities: EntityMention,
    links: Sequence[Link] = (),
    project: str = "default",
    tags: tuple[str, ...] = (),
    final_url: str | None = None,
) -> PageDraft:
    """A page of four sections: the first holds the second and the last, the second the third."""
    made = draft(
        url,
        "aaaa bbbb cccc dddd",
        title=f"About {url}",
        project=project,
        tags=tags,
        links=tuple(links),
        final_url=final_url,
    )
    parents = (None, 0, 1, 0)
    sections = tuple(
        Section(
            ordinal=at,
            parent=parent,
            level=at + 1,
            heading=f"Part {at}",
            anchor=f"part-{at}",
            start=5 * at,
            end=min(5 * at + 5, 19),
        )
        for at, parent in enumerate(parents)
    )
    return replace(
        made, extracted=replace(made.extracted, sections=sections), entities=tuple(entities)
    )


async def put(store: Store, *pages: PageDraft) -> list[int]:
    return [(await store.put_page(each)).source_id for each in pages]


async def related(
    store: Store, node: NodeRef, kind: EdgeKind, where: SearchFilter = ALL
) -> list[str]:
    edges = await store.edges_of([node], kinds=[kind], where=where, limit=50)
    return [edge.target.node_id for edge in edges]


async def entity(store: Store, name: str, where: SearchFilter = ALL) -> NodeRef:
    return (await store.find_entities([name], where=where))[0].ref


def at(source_id: int, section: int) -> NodeRef:
    return NodeRef("section", source_id, section)


# ── the tree of a page ────────────────────────────────────────────────────────


async def test_sections_lead_up_and_down_and_to_those_beside_them(store: Store) -> None:
    (one,) = await put(store, page(HERONS))

    assert await related(store, NodeRef("page", one), "child") == [f"section:{one}:0"]
    assert await related(store, at(one, 0), "child") == [f"section:{one}:1", f"section:{one}:3"]
    assert await related(store, at(one, 2), "parent") == [f"section:{one}:1"]
    assert await related(store, at(one, 0), "parent") == [f"page:{one}"]
    assert await related(store, at(one, 2), "part_of") == [f"page:{one}"]
    assert await related(store, at(one, 1), "next") == [f"section:{one}:2"]
    assert await related(store, at(one, 3), "next") == []
    assert await related(store, at(one, 1), "previous") == [f"section:{one}:0"]


async def test_nodes_come_back_in_the_order_asked_without_those_that_are_gone(
    store: Store,
) -> None:
    (one,) = await put(store, page(HERONS, names("heron", 1, defines=True)))
    heron = await entity(store, "heron")

    nodes = await store.find_nodes(
        [heron, at(one, 9), at(one, 1), NodeRef("page", 77), NodeRef("page", one)], where=ALL
    )

    assert [(node.ref.node_id, node.name) for node in nodes] == [
        (heron.node_id, "heron"),
        (f"section:{one}:1", "Part 1"),
        (f"page:{one}", f"About {HERONS}"),
    ]
    assert (nodes[0].entity_kind, nodes[0].sections) == ("term", 1)
    assert (nodes[1].url, nodes[1].anchor, nodes[1].sections, nodes[1].entities) == (
        HERONS,
        "part-1",
        1,
        1,
    )
    assert nodes[2].sections == 4


# ── links ─────────────────────────────────────────────────────────────────────


async def test_a_link_leads_to_the_page_of_its_url_and_back(store: Store) -> None:
    herons, egrets = await put(
        store, page(HERONS, links=[link(EGRETS, 2), link(EGRETS, 2)]), page(EGRETS)
    )

    edges = await store.edges_of([at(herons, 2)], kinds=["links_to"], where=ALL, limit=9)

    assert [(edge.target, edge.weight) for edge in edges] == [(NodeRef("page", egrets), 2)]
    assert await related(store, NodeRef("page", herons), "links_to") == [f"page:{egrets}"]
    assert await related(store, NodeRef("page", egrets), "linked_from") == [f"section:{herons}:2"]
    assert await related(store, at(herons, 1), "links_to") == []


async def test_a_link_to_where_a_page_was_redirected_leads_to_that_page(store: Store) -> None:
    herons, egrets = await put(
        store,
        page(HERONS, links=[link("https://birds.example/white")]),
        page(EGRETS, final_url="https://birds.example/white"),
    )

    assert await related(store, at(herons, 0), "links_to") == [f"page:{egrets}"]
    assert await related(store, NodeRef("page", egrets), "linked_from") == [f"section:{herons}:0"]


async def test_a_link_leads_somewhere_only_while_its_page_is_stored(store: Store) -> None:
    (herons,) = await put(store, page(HERONS, links=[link(EGRETS), link(HERONS)]))

    assert await related(store, at(herons, 0), "links_to") == []

    (egrets,) = await put(store, page(EGRETS))
    assert await related(store, at(herons, 0), "links_to") == [f"page:{egrets}"]

    await store.delete_page(egrets)
    assert await related(store, at(herons, 0), "links_to") == []


async def test_no_edge_leaves_a_project(store: Store) -> None:
    herons, egrets = await put(
        store,
        page(HERONS, names("heron"), links=[link(EGRETS)]),
        page(EGRETS, names("heron"), project="other", links=[link(HERONS)]),
    )

    for kind in EDGE_KINDS:
        edges = await store.edges_of(
            [at(herons, 0), NodeRef("page", herons)], kinds=[kind], where=ALL, limit=50
        )
        assert egrets not in [edge.target.number for edge in edges if edge.target.kind != "entity"]
    theirs = await entity(store, "heron", SearchFilter(project="other"))
    assert theirs != await entity(store, "heron")
    assert await store.find_nodes([theirs], where=ALL) == []
    assert await related(store, theirs, "mentioned_in") == []


# ── entities ──────────────────────────────────────────────────────────────────


async def test_one_name_on_several_pages_is_one_entity(store: Store) -> None:
    herons, egrets = await put(
        store,
        page(HERONS, names("Grey heron", 1, count=3)),
        page(EGRETS, names("grey herons", 2, defines=True)),
    )

    heron = await entity(store, "GREY HERON")

    assert await related(store, at(herons, 1), "mentions") == [heron.node_id]
    assert await related(store, heron, "mentioned_in") == [
        f"section:{egrets}:2",
        f"section:{herons}:1",
    ]
    assert await related(store, at(herons, 1), "same_entity") == [f"section:{egrets}:2"]


async def test_an_entity_keeps_its_id_while_any_page_names_it(store: Store) -> None:
    await put(store, page(HERONS, names("heron"), names("fish")))
    heron = await entity(store, "heron")

    await put(store, page(HERONS, names("heron", 3), names("frog")))

    assert await entity(store, "heron") == heron
    assert [node.name for node in await store.find_entities(["frog", "fish"], where=ALL)] == [
        "frog"
    ]


async def test_an_entity_goes_with_the_last_page_that_names_it(store: Store) -> None:
    herons, egrets = await put(store, page(HERONS, names("heron")), page(EGRETS, names("heron")))
    heron = await entity(store, "heron")

    await store.delete_page(herons)
    assert [node.sections for node in await store.find_nodes([heron], where=ALL)] == [1]

    await store.delete_page(egrets)
    assert await store.find_nodes([heron], where=ALL) == []


async def test_the_strongest_kind_that_a_page_gives_is_the_kind(store: Store) -> None:
    await put(
        store,
        page(HERONS, names("Wade", kind="phrase")),
        page(EGRETS, names("wade", kind="symbol")),
        page(OWLS, names("WADE", kind="topic")),
    )

    (node,) = await store.find_entities(["wade"], where=ALL)

    assert (node.name, node.entity_kind, node.sections) == ("wade", "symbol", 3)


async def test_a_symbol_is_also_found_by_its_last_part(store: Store) -> None:
    await put(store, page(HERONS, names("birds.heron.wade", kind="symbol"), names("fly_by")))

    found = await store.find_entities(["wade()", "by", "fly%"], where=ALL)

    assert [node.name for node in found] == ["birds.heron.wade"]


async def test_names_that_are_everywhere_do_not_make_sections_alike(store: Store) -> None:
    many = [page(f"{OWLS}/{n}", *(names("bird", at) for at in range(4))) for n in range(20)]
    first, *_ = await put(store, *many)

    assert await related(store, at(first, 0), "same_entity") == []
    assert len(await related(store, await entity(store, "bird"), "mentioned_in")) == 50


# ── filters, bounds, text ─────────────────────────────────────────────────────


async def test_what_a_filter_hides_is_neither_start_nor_end_of_an_edge(store: Store) -> None:
    herons, egrets = await put(
        store,
        page(HERONS, names("heron"), links=[link(EGRETS)], tags=("water",)),
        page(EGRETS, names("heron"), names("egret"), links=[link(HERONS)]),
    )
    water = SearchFilter(project="default", tags=("water",))
    heron = await entity(store, "heron")

    for kind in EDGE_KINDS:
        edges = await store.edges_of(
            [at(herons, 0), NodeRef("page", herons), heron, at(egrets, 0), NodeRef("page", egrets)],
            kinds=[kind],
            where=water,
            limit=50,
        )
        ends = [ref for edge in edges for ref in (edge.source, edge.target)]
        assert egrets not in [ref.number for ref in ends if ref.kind != "entity"]
    assert [node.sections for node in await store.find_nodes([heron], where=water)] == [1]
    assert await store.find_entities(["egret"], where=water) == []
    assert await store.find_nodes([NodeRef("page", egrets)], where=water) == []


async def test_the_graph_is_counted_under_a_filter(store: Store) -> None:
    await put(
        store,
        page(HERONS, names("heron"), names("heron", 1), links=[link(EGRETS)], tags=("water",)),
        page(EGRETS, names("egret")),
        page(OWLS, names("owl"), project="other"),
    )

    assert await store.graph_counts(ALL) == GraphCounts(
        pages=2, sections=8, entities=2, links=1, mentions=3
    )
    assert await store.graph_counts(replace(ALL, tags=("water",))) == GraphCounts(
        pages=1, sections=4, entities=1, links=1, mentions=2
    )


async def test_no_more_edges_of_a_kind_come_than_asked_for_the_strongest_first(
    store: Store,
) -> None:
    (one,) = await put(store, page(HERONS, *(names(f"bird{n}", count=n) for n in range(1, 9))))

    edges = await store.edges_of([at(one, 0)], kinds=["mentions"], where=ALL, limit=3)

    assert [edge.weight for edge in edges] == [8, 7, 6]


async def test_the_first_chunks_of_sections_come_in_the_order_asked(store: Store) -> None:
    herons, egrets = await put(
        store, draft(HERONS, "one", "two", "three"), draft(EGRETS, "four", "five")
    )

    chunks = await store.chunks_of_sections([at(egrets, 0), at(herons, 5), at(herons, 0)], limit=2)

    assert [chunk.text for chunk in chunks] == ["four", "five", "one", "two"]
