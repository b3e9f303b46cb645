"""The older names: their defaults and shapes."""

from __future__ import annotations

from tests.drafts import draft
from tests.tools.library import HERONS, OWLS, open_library


async def test_search_sections_lists_twenty_with_debug_fields() -> None:
    pages = [
        draft(f"https://ponds.example/{n}", f"Pond {n} has heron H{n}.", title=f"Pond {n}")
        for n in range(30)
    ]
    async with open_library(*pages) as library:
        found = await library.call("search_sections", query="heron pond")
        plain = await library.call("search_sections", query="heron pond", include_debug=False)
        ten = await library.call("search_sections", query="heron pond", top_k=10)

    assert (len(found["results"]), len(ten["results"])) == (20, 10)
    assert all({"score", "debug"} <= result.keys() for result in found["results"])
    assert not any({"score", "debug"} & result.keys() for result in plain["results"])


async def test_section_texts_come_in_the_order_asked_and_bounded() -> None:
    async with open_library() as library:
        found = await library.call("search_sections", query="heron owl")
        ids = [result["section_id"] for result in found["results"]]
        texts = await library.call("get_section_text", section_ids=ids, max_bytes_per=100)
        unknown = await library.call("get_section_text", section_ids=[ids[0], "999999", "x"])

    assert [result["section_id"] for result in texts["results"]] == ids
    assert all(len(result["text"].encode()) <= 100 for result in texts["results"])
    assert unknown["error"]["code"] == "NOT_FOUND"


async def test_sections_of_another_project_are_not_found() -> None:
    secret = draft("https://secret.example/", "A hidden heron.", project="other")
    async with open_library(HERONS, secret) as library:
        ids = [str(number) for number in range(1, 10)]
        every = [await library.call("get_section_text", section_ids=[each]) for each in ids]

    shown = [result["text"] for each in every for result in each.get("results", [])]
    assert sorted(shown) == sorted(chunk.text for chunk in HERONS.chunks)


async def test_neighbors_are_listed_without_text_unless_asked_for() -> None:
    async with open_library() as library:
        found = await library.call("search_sections", query="heron eats fish")
        first = found["results"][0]["section_id"]
        beside = await library.call("expand_neighbors", node_ids=[first])
        shown = await library.call("expand_neighbors", node_ids=[first], include_snippet=True)

    [neighbor] = beside["neighbors"]
    assert (neighbor["relation"], neighbor["of"], neighbor["hops"]) == ("next", first, 1)
    assert "snippet" not in neighbor
    assert shown["neighbors"][0]["snippet"] == HERONS.chunks[1].text


async def test_search_documentation_returns_quotes() -> None:
    async with open_library() as library:
        found = await library.call("search_documentation", query="What does the tawny owl eat?")

    assert found["quotes"][0]["url"] == OWLS.url


async def test_without_the_kb_tools_the_legacy_ones_stand_in() -> None:
    async with open_library(mcp_kb_v2_enabled=False) as library:
        hidden = await library.call("kb.search", query="owl")
        shown = await library.call("search_sections", query="owl")

    assert hidden["error"]["code"] == "NOT_FOUND"
    assert shown["results"][0]["title"] == "Owls"
