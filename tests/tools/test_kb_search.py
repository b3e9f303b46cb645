"""kb.search: previews, pages of results, filters, scope and modes."""

from __future__ import annotations

from typing import Any

import pytest
from tests.drafts import draft
from tests.hashing_embedder import HashingEmbedder
from tests.tools.library import ME, SOMEONE_ELSE, open_library

from citewell.core.records import PageDraft
from citewell.tools.paging import open_cursor, seal_cursor


def titles(found: dict[str, object]) -> list[str]:
    results = found["results"]
    assert isinstance(results, list)
    return [result["title"] for result in results]


def ponds(count: int) -> list[PageDraft]:
    return [
        draft(f"https://ponds.example/{n}", f"Pond {n} has a heron called H{n}.", title=f"Pond {n}")
        for n in range(count)
    ]


async def test_results_carry_previews_and_ids_but_no_text() -> None:
    async with open_library() as library:
        found = await library.call("kb.search", query="in which trees does a heron nest")

    first = found["results"][0]
    assert "A heron nests in tall trees." in first["preview"]
    assert first["title"] == "Herons"
    assert first["url"] == "https://birds.example/herons.html"
    assert (first["doc_tag"], first["anchor"], first["rank"]) == ("birds", "grey heron", 1)
    assert first["scratch_uri"].endswith(f"/{found['session_id']}/{first['passage_id']}")
    assert not {"text", "score", "debug"} & first.keys()


async def test_one_result_per_page_unless_more_are_asked_for() -> None:
    async with open_library() as library:
        once = await library.call("kb.search", query="heron nest")
        twice = await library.call("kb.search", query="heron nest", options={"max_per_doc": 2})

    assert titles(once).count("Herons") == 1
    assert titles(twice).count("Herons") == 2


async def test_scores_and_debug_fields_come_only_when_asked_for() -> None:
    options = {"include_scores": True, "include_debug": True, "max_snippet_chars": 40}
    async with open_library() as library:
        found = await library.call("kb.search", query="heron fish", options=options)

    first = found["results"][0]
    assert 0 < first["score"] <= 1
    assert first["debug"]["word_score"] > 0
    assert first["debug"]["heading_path"] == ["Grey heron"]
    assert len(first["preview"]) <= 40


async def test_pages_of_results_follow_one_another_up_to_top_k() -> None:
    async with open_library(*ponds(9)) as library:
        seen: list[str] = []
        cursor: str | None = None
        found: dict[str, Any] = {}
        for _ in range(3):
            found = await library.call(
                "kb.search", query="heron pond", top_k=5, page_size=2, cursor=cursor
            )
            seen += titles(found)
            cursor = found.get("next_cursor")

    assert len(seen) == len(set(seen)) == 5
    assert cursor is None
    assert (found["partial"], found["limit_reason"]) == (False, "none")


async def test_a_cursor_survives_pages_added_and_removed_in_between() -> None:
    search: dict[str, Any] = {"query": "heron pond", "top_k": 9, "page_size": 3}
    async with open_library(*ponds(6)) as library:
        first = await library.call("kb.search", **search)
        await library.put(
            draft("https://ponds.example/new", "Heron pond, heron pond, heron.", title="Heron pond")
        )
        second = await library.call("kb.search", **search, cursor=first["next_cursor"])
        third = await library.call("kb.search", **search, cursor=second["next_cursor"])

    seen = titles(first) + titles(second) + titles(third)
    assert sorted(seen) == sorted(["Heron pond", *(f"Pond {n}" for n in range(6))])


async def test_a_forged_or_foreign_cursor_is_refused() -> None:
    async with open_library(*ponds(6)) as library:
        found = await library.call("kb.search", query="heron", top_k=6, page_size=2)
        cursor = found["next_cursor"]
        flipped = cursor[:-2] + ("AA" if cursor[-2:] != "AA" else "BB")
        for query, given in [("heron", flipped), ("heron", "!"), ("pond", cursor), ("heron", "é")]:
            refused = await library.call("kb.search", query=query, top_k=6, cursor=given)
            assert refused["error"]["code"] == "INVALID_ARGUMENT"


def test_a_cursor_holds_any_chunk_ids() -> None:
    shown = {1, 127, 128, 5_000_000_000}

    for some in (shown, frozenset[int]()):
        cursor = seal_cursor(some, search="a", secret=b"s")
        assert open_cursor(cursor, search="a", secret=b"s") == some


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"doc_tag": ["birds"]}, ["Egrets", "Herons"]),
        ({"doc_tag": ["birds", "water"]}, ["Herons"]),
        ({"path_prefix": "https://night.example/"}, ["Owls"]),
        ({"path_prefix": "/wood/"}, ["Owls"]),
        ({"path_prefix": "/nowhere/"}, []),
        ({"updated_after": "2026-03-14T00:00:00Z"}, ["Egrets", "Herons", "Owls"]),
        ({"updated_after": "2027-01-01T00:00:00"}, []),
    ],
)
async def test_filters_hold(filters: dict[str, object], expected: list[str]) -> None:
    async with open_library() as library:
        found = await library.call("kb.search", query="what eats fish or mice", filters=filters)

    assert sorted(titles(found)) == expected


async def test_a_path_that_is_neither_url_nor_path_is_refused() -> None:
    async with open_library() as library:
        found = await library.call("kb.search", query="x", filters={"path_prefix": "wood"})

    assert found["error"]["code"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ({"project_id": "default", "environment": "prod"}, ["Egrets", "Herons", "Owls"]),
        ({"doc_tags": ["water"]}, ["Herons"]),
        ({"repositories": ["https://night.example/"]}, ["Owls"]),
        (
            {"repositories": ["https://night.example/", "https://birds.example/e"]},
            ["Egrets", "Owls"],
        ),
    ],
)
async def test_a_scope_narrows_the_search(scope: dict[str, object], expected: list[str]) -> None:
    async with open_library() as library:
        found = await library.call("kb.search", query="what eats fish or mice", scope=scope)

    assert sorted(titles(found)) == expected


@pytest.mark.parametrize("scope", [{"project_id": "other"}, {"environment": "dev"}])
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("kb.search", {"query": "x"}),
        ("kb.retrieve_evidence", {"question": "x"}),
        ("kb.extract_evidence", {"question": "x", "passage_ids": ["1"]}),
        ("kb.read_excerpt", {"passage_id": "1"}),
        ("kb.expand_excerpt", {"passage_id": "1"}),
        ("kb.verify_quote", {"quote": "x", "source_id": 1}),
        ("search_sections", {"query": "x"}),
        ("search_documentation", {"query": "x"}),
        ("get_section_text", {"section_ids": ["1"]}),
        ("expand_neighbors", {"node_ids": ["1"]}),
    ],
)
async def test_another_project_or_environment_is_a_scope_violation(
    name: str, arguments: dict[str, Any], scope: dict[str, str]
) -> None:
    async with open_library() as library:
        refused = await library.call(name, **arguments, scope=scope)

    assert refused["error"]["code"] == "SCOPE_VIOLATION"


async def test_the_servers_own_tags_cannot_be_left_out() -> None:
    async with open_library(scope_tags=("water",)) as library:
        found = await library.call("kb.search", query="fish", scope={"doc_tags": ["birds"]})

    assert titles(found) == ["Herons"]


async def test_vector_only_searches_by_vectors_alone() -> None:
    async with open_library(embedder=HashingEmbedder()) as library:
        found = await library.call(
            "kb.search", query="tawny owl mice", options={"mode": "vector_only"}
        )
        hybrid = await library.call(
            "kb.search", query="tawny owl mice", options={"mode": "hybrid_local"}
        )

    assert titles(found)[0] == titles(hybrid)[0] == "Owls"
    assert {result["source"] for result in found["results"]} == {"vector"}


async def test_vector_only_without_vectors_says_so() -> None:
    async with open_library() as library:
        found = await library.call("kb.search", query="owl", options={"mode": "vector_only"})

    assert found["error"]["code"] == "INVALID_ARGUMENT"


async def test_long_results_are_cut_and_go_on_with_the_cursor() -> None:
    long = [
        draft(
            f"https://ponds.example/{n}/{'segment-' * 300}", f"Heron {n} eats.", title=f"Pond {n}"
        )
        for n in range(12)
    ]
    search: dict[str, Any] = {"query": "heron eats", "top_k": 12, "page_size": 12}
    async with open_library(*long) as library:
        first = await library.call("kb.search", **search)
        second = await library.call("kb.search", **search, cursor=first["next_cursor"])

    assert first["limit_reason"] == "token_cap"
    assert 0 < len(first["results"]) < 12
    assert not set(titles(first)) & set(titles(second))


async def test_both_forms_carry_the_same_previews_and_ids() -> None:
    async with open_library() as library:
        result = await library.result("kb.search", query="heron fish", page_size=1, top_k=3)

    first = result.structured["results"][0]
    for part in ("passage_id", "section_id", "preview", "url", "title"):
        assert first[part] in result.text
    assert result.structured["next_cursor"] in result.text


async def test_nothing_found_is_no_error() -> None:
    async with open_library() as library:
        result = await library.result("kb.search", query="submarine")

    assert not result.is_error
    assert result.structured["results"] == []
    assert "status" in result.text


async def test_callers_have_sessions_of_their_own() -> None:
    async with open_library() as library:
        mine = await library.call("kb.search", query="heron", caller=ME)
        theirs = await library.call("kb.search", query="heron", caller=SOMEONE_ELSE)

    assert mine["session_id"] != theirs["session_id"]
