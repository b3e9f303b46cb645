"""The graph tools, called as a server calls them, over a small site of linked pages."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.tools.graph.birds import PAGES, SITE, page
from tests.tools.library import Library, open_library

from citewell.tools.graph.arguments import MAX_NODES, MAX_PAGE_SIZE

pytestmark = pytest.mark.anyio

NESTS, EGGS, FOOD = "section:1:1", "section:1:2", "section:1:3"


@pytest.fixture
async def library() -> AsyncIterator[Library]:
    async with open_library(*PAGES) as opened:
        yield opened


def shown(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [(node["relation"], node["name"]) for node in result["nodes"]]


async def test_expanding_a_section_shows_every_way_on(library: Library) -> None:
    result = await library.call("graph.expand", node_ids=[NESTS])

    assert set(shown(result)) == {
        ("parent", "Herons"),
        ("child", "Eggs"),
        ("links_to", "Egrets"),
        ("mentions", "birds.nest"),
        ("mentions", "Nests"),
        ("same_entity", "birds.nest"),
    }
    assert (result["partial"], result["limit_reason"]) == (False, "none")


async def test_relations_choose_what_an_expansion_follows(library: Library) -> None:
    result = await library.call("graph.expand", node_ids=["page:1"], relations=["links_to"])

    assert set(shown(result)) == {("links_to", "Egrets"), ("links_to", "Grey heron")}


async def test_a_query_ranks_what_it_names_first(library: Library) -> None:
    plain = await library.call("graph.expand", node_ids=["section:1:0"])
    asked = await library.call("graph.expand", node_ids=["section:1:0"], query="what is their food")

    assert shown(plain)[0] != ("child", "Food")
    assert shown(asked)[0] == ("child", "Food")


async def test_a_hub_comes_after_what_is_particular(library: Library) -> None:
    links = "\n".join(f"[a]({SITE}egrets.html)" for _ in range(60))
    await library.put(page("many.html", f"# Many\n\n{links}\n"))

    result = await library.call("graph.expand", node_ids=["page:1"], relations=["links_to"])

    assert shown(result) == [("links_to", "Grey heron"), ("links_to", "Egrets")]


async def test_two_hops_go_further_than_one(library: Library) -> None:
    near = await library.call("graph.expand", node_ids=["page:4"], relations=["links_to", "child"])
    far = await library.call(
        "graph.expand", node_ids=["page:4"], relations=["links_to", "child"], max_hops=2
    )

    assert {node["hops"] for node in near["nodes"]} == {1}
    names = {(node["name"], node["hops"]) for node in far["nodes"]}
    assert {("Egrets", 1), ("Index", 1)} < names
    assert "section:2:0" in {node["node_id"] for node in far["nodes"] if node["hops"] == 2}


async def test_paths_name_the_link_and_the_shared_name_between_two_sections(
    library: Library,
) -> None:
    result = await library.call("graph.paths", from_ids=[NESTS], to_ids=["section:2:1"])

    steps = [
        [(step["source"], step["relation"], step["target"]) for step in path]
        for path in result["paths"]
    ]
    nest = next(node["node_id"] for node in result["nodes"] if node.get("entity_kind"))
    assert steps[0] == [(NESTS, "same_entity", "section:2:1")]
    assert [(NESTS, "mentions", nest), ("section:2:1", "mentions", nest)] in steps
    assert [(NESTS, "links_to", "page:2"), ("section:2:1", "part_of", "page:2")] in steps


async def test_paths_of_one_hop_are_edges(library: Library) -> None:
    result = await library.call("graph.paths", from_ids=[NESTS], to_ids=["page:2"], max_hops=1)

    assert result["paths"] == [[{"source": NESTS, "relation": "links_to", "target": "page:2"}]]


async def test_parents_lead_up_to_the_page_and_children_down_in_its_order(
    library: Library,
) -> None:
    above = await library.call("graph.parents", node_ids=[EGGS], max_hops=2)
    below = await library.call("graph.children", node_ids=["page:1"], max_hops=2)

    assert [node["name"] for node in above["nodes"]] == ["Nests", "Herons"]
    assert [node["name"] for node in below["nodes"]] == ["Herons", "Nests", "Food"]


async def test_entities_lead_to_sections_and_back_definitions_first(library: Library) -> None:
    named = await library.call("graph.entities_for_sections", section_ids=[NESTS, EGGS])
    nest = next(node for node in named["nodes"] if node["name"] == "birds.nest")
    places = await library.call("graph.sections_for_entities", entity_ids=[nest["node_id"]])

    assert (nest["entity_kind"], nest["sections"]) == ("symbol", 2)
    assert [node["node_id"] for node in places["nodes"]] == ["section:2:1", NESTS]


@pytest.mark.parametrize("name", ["birds.count_eggs", "count_eggs()", "Birds.Count_Eggs"])
async def test_an_entity_may_be_given_by_its_name(library: Library, name: str) -> None:
    result = await library.call("graph.sections_for_entities", entity_ids=[name])

    assert {node["node_id"] for node in result["nodes"]} == {EGGS, "section:2:1"}


async def test_describing_counts_relations_and_without_nodes_the_graph(library: Library) -> None:
    whole = await library.call("graph.describe")
    one = await library.call("graph.describe", node_ids=[f"{SITE}egrets.html"])

    assert {key: whole["graph"][key] for key in ("pages", "sections")} == {
        "pages": 4,
        "sections": 9,
    }
    assert one["nodes"][0]["node_id"] == "page:2"
    assert one["nodes"][0]["relations"]["linked_from"] == 2


@pytest.mark.parametrize("start", [f"{SITE}herons.html#eggs", "section:1:2"])
async def test_a_section_may_be_given_by_its_url(library: Library, start: str) -> None:
    result = await library.call("graph.describe", node_ids=[start])

    assert result["nodes"][0]["node_id"] == EGGS


async def test_a_search_leads_into_the_graph_and_a_snippet_out_of_it(library: Library) -> None:
    found = await library.call("kb.search", query="counted three to five eggs")
    best = found["results"][0]

    by_section = await library.call("graph.parents", node_ids=[best["section_id"]])
    by_passage = await library.call(
        "graph.parents", node_ids=[best["passage_id"]], include_snippet=True
    )
    excerpt = await library.call("kb.read_excerpt", passage_id=by_passage["nodes"][0]["passage_id"])

    assert [node["node_id"] for node in by_section["nodes"]] == [NESTS]
    assert by_passage["nodes"][0]["snippet"].startswith("A heronry is a colony.")
    assert "A heronry is a colony." in excerpt["excerpt"]


async def test_no_text_comes_unless_it_is_asked_for(library: Library) -> None:
    result = await library.result("graph.expand", node_ids=["page:1"], max_hops=2)

    assert "colony" not in result.text
    assert all("snippet" not in node for node in result.structured["nodes"])


async def test_a_cursor_goes_on_through_every_node_once_though_pages_come_in_between(
    library: Library,
) -> None:
    whole = await library.call("graph.expand", node_ids=["page:1"], max_hops=2)
    call: dict[str, Any] = {"node_ids": ["page:1"], "max_hops": 2, "page_size": 4}
    seen: list[str] = []
    cursor = None

    for turn in range(50):
        result = await library.call(
            "graph.expand", **call, **({"cursor": cursor} if cursor else {})
        )
        seen += [node["node_id"] for node in result["nodes"]]
        await library.put(page(f"new-{turn}.html", f"# New\n\n[h]({SITE}herons.html)\n"))
        cursor = result.get("next_cursor")
        if cursor is None or turn == 20:
            break

    assert len(seen) == len(set(seen))
    assert {node["node_id"] for node in whole["nodes"]} <= set(seen)


async def test_a_cursor_of_another_call_is_refused(library: Library) -> None:
    first = await library.call("graph.expand", node_ids=["page:1"], page_size=1)

    for arguments in ({"node_ids": ["page:2"]}, {"node_ids": ["page:1"], "query": "nests"}):
        other = await library.call("graph.expand", **arguments, cursor=first["next_cursor"])
        assert other["error"]["code"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("graph.expand", {"node_ids": ["page:1"], "max_hops": 3}),
        ("graph.expand", {"node_ids": ["page:1"], "page_size": MAX_PAGE_SIZE + 1}),
        ("graph.expand", {"node_ids": []}),
        ("graph.children", {"node_ids": ["page:1"] * (MAX_NODES + 1)}),
        ("graph.expand", {"node_ids": ["page:1"], "relations": ["loves"]}),
    ],
)
async def test_what_is_beyond_the_caps_is_refused(
    library: Library, tool: str, arguments: dict[str, Any]
) -> None:
    result = await library.call(tool, **arguments)

    assert result["error"]["code"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    "node", ["page:99", "section:1:99", "entity:999999", "77777", "nonsense", f"{SITE}none.html"]
)
async def test_a_node_that_is_not_there_is_not_found(library: Library, node: str) -> None:
    result = await library.call("graph.describe", node_ids=["page:1", node])

    assert result["error"]["code"] == "NOT_FOUND"
    assert node in result["error"]["message"]


async def test_the_scope_hides_what_lies_outside(library: Library) -> None:
    water = {"doc_tags": ["water"]}

    inside = await library.call("graph.expand", node_ids=["page:1"], scope=water, max_hops=2)
    outside = await library.call("graph.describe", node_ids=["page:3"], scope=water)
    foreign = await library.call("graph.describe", scope={"project_id": "theirs"})

    pages = {node["url"] for node in inside["nodes"] if "url" in node}
    assert pages <= {f"{SITE}herons.html", f"{SITE}egrets.html"}
    assert outside["error"]["code"] == "NOT_FOUND"
    assert foreign["error"]["code"] == "SCOPE_VIOLATION"


async def test_the_text_carries_the_same_nodes_as_the_structure(library: Library) -> None:
    result = await library.result("graph.expand", node_ids=["page:1"])

    for node in result.structured["nodes"]:
        assert re.search(rf"- {node['node_id']} ⟦\d+ {re.escape(node['name'])}", result.text)


async def test_a_search_in_the_neighbourhood_says_what_the_graph_brought(library: Library) -> None:
    plain = await library.call("kb.search", query="heronry colony")
    wide = await library.call("kb.search", query="heronry colony", options={"mode": "hybrid_local"})

    assert "graph_expanded" not in {result["source"] for result in plain["results"]}
    brought = [r["title"] for r in wide["results"] if r["source"] == "graph_expanded"]
    assert brought == ["Egrets"]
