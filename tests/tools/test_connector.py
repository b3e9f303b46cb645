"""What ChatGPT connectors call: search with results, then fetch."""

from __future__ import annotations

from tests.drafts import draft
from tests.tools.library import OWLS, open_library


async def test_search_lists_pages_that_fetch_returns_whole() -> None:
    async with open_library(mcp_toolsets=("research", "connector")) as library:
        found = await library.call("search", query="tawny owl")
        first = found["results"][0]
        page = await library.call("fetch", id=first["id"])

    assert first.keys() == {"id", "title", "url"}
    assert (page["id"], page["title"], page["url"]) == (first["id"], "Owls", OWLS.url)
    assert page["text"] == OWLS.extracted.text
    assert page["metadata"]["truncated"] is False


async def test_search_has_no_results_list_without_the_connector() -> None:
    async with open_library() as library:
        found = await library.call("search", query="tawny owl")

    assert "results" not in found


async def test_a_long_page_is_cut() -> None:
    page = draft("https://long.example/", "The heron waits. " * 20_000, title="Long")
    async with open_library(page) as library:
        fetched = await library.call("fetch", id="1")

    assert fetched["metadata"]["truncated"] is True
    assert len(fetched["text"]) < len(page.extracted.text)


async def test_pages_of_other_projects_and_scopes_are_not_found() -> None:
    secret = draft("https://secret.example/", "A hidden heron.", project="other")
    async with open_library(secret, OWLS, scope_tags=("birds",)) as library:
        found = [await library.call("fetch", id=each) for each in ("1", "2", "9", "x", "¹")]

    assert {each["error"]["code"] for each in found} == {"NOT_FOUND"}
