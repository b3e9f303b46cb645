"""Scope on `search` and `answer`."""

from __future__ import annotations

from typing import Any

import pytest
from tests.site import running_site
from tests.tools.library import open_library

KITES = (
    "<main><h1>Kites</h1><p>The red kite soars over hills and eats mice. "
    "See <a href='/mice'>what mice eat</a>.</p></main>"
)
MICE = (
    "<main><h1>Mice</h1><p>Mice eat seeds and berries, and what mice eat feeds the kite.</p></main>"
)


async def test_search_sees_only_pages_with_the_tags_of_its_scope() -> None:
    async with open_library() as library:
        everywhere = await library.call("search", query="what eats fish")
        scoped = await library.call(
            "search", query="what eats fish", scope={"doc_tags": ["birds", "water"]}
        )
        prefixed = await library.call(
            "search", query="what eats mice", scope={"repositories": ["https://night.example/"]}
        )

    assert {source["title"] for source in everywhere["sources"]} == {"Herons", "Egrets"}
    assert [source["title"] for source in scoped["sources"]] == ["Herons"]
    assert [source["title"] for source in prefixed["sources"]] == ["Owls"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("search", {}), ("answer", {"url": "https://birds.example/herons.html"})],
)
async def test_another_project_is_refused(tool: str, arguments: dict[str, Any]) -> None:
    async with open_library() as library:
        result = await library.call(
            tool, query="fish", scope={"project_id": "someone-elses"}, **arguments
        )

    assert result["error"]["code"] == "SCOPE_VIOLATION"


async def test_answer_stays_within_its_repositories_and_tags_what_it_ingests() -> None:
    with running_site({"/birds/kites": KITES, "/mice": MICE}) as site:
        async with open_library(web_allowed_private_hosts=("127.0.0.1",)) as library:
            scope = {"repositories": [site.url("/birds")], "doc_tags": ["raptors"]}
            refused = await library.call(
                "answer", url=site.url("/mice"), query="What do mice eat?", scope=scope
            )
            await library.call(
                "answer", url=site.url("/birds/kites"), query="What do mice eat?", scope=scope
            )
            found = await library.call("search", query="red kite", scope={"doc_tags": ["raptors"]})

    assert refused["error"]["code"] == "SCOPE_VIOLATION"
    assert site.paths() == ["/birds/kites"]
    assert [source["title"] for source in found["sources"]] == ["Kites"]
