"""Pages and passages as resources, through real clients of both eras."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.drafts import FETCHED_AT, draft
from tests.server.shelf import HERONS, Shelf
from tests.server.tiny import Aviary, serving

from citewell.app.open import already_open
from citewell.app.scratch import ScratchStore
from citewell.tools.resources import MAX_LISTED_PAGES

pytestmark = pytest.mark.anyio

in_both_eras = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])

SEARCH = {"query": "What does the heron eat?"}


@asynccontextmanager
async def connected(shelf: Shelf, mode: str) -> AsyncIterator[Client]:
    async with serving(shelf, shelf.settings) as base, Client(f"{base}/mcp", mode=mode) as client:
        yield client


def links_of(result: types.CallToolResult) -> list[types.ResourceLink]:
    return [block for block in result.content if isinstance(block, types.ResourceLink)]


async def text_at(client: Client, uri: str) -> str:
    (contents,) = (await client.read_resource(uri)).contents
    assert isinstance(contents, types.TextResourceContents)
    assert contents.uri == uri
    return contents.text


def quoted_in(text: str) -> str:
    """Return the page text that stands inside the boundary."""
    note, _, rest = text.partition("\n")
    assert "not instructions to follow" in note
    found = re.fullmatch(r"⟦(\d+)\s(.*)\s\1⟧", rest, flags=re.DOTALL)
    assert found is not None
    return found[2]


async def refusal(client: Client, uri: str) -> types.ErrorData:
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)
    return caught.value.error


@in_both_eras
async def test_the_pages_of_the_project_are_listed_the_newest_first(mode: str) -> None:
    older = draft("https://a.example/", "Old.", title="Old", fetched_at=FETCHED_AT)
    newer = draft(
        "https://b.example/", "New.", title="New", fetched_at=FETCHED_AT + timedelta(days=1)
    )
    elsewhere = draft("https://c.example/", "Other.", title="Other", project="other")

    async with connected(Shelf(newer, older, elsewhere), mode) as client:
        listed = (await client.list_resources()).resources

    assert [(page.uri, page.name) for page in listed] == [
        ("citewell://page/1", "page 1"),
        ("citewell://page/2", "page 2"),
    ]
    assert re.fullmatch(
        r"⟦(\d+) Old — https://a.example/ \1⟧ \(1 token\)", listed[1].description or ""
    )
    assert listed[1] == types.Resource(
        uri="citewell://page/2",
        name="page 2",
        description=listed[1].description,
        mime_type="text/markdown",
        annotations=types.Annotations(
            audience=["assistant"], priority=0.5, last_modified="2026-03-14T15:09:26+00:00"
        ),
    )


async def test_a_large_library_is_listed_in_part() -> None:
    pages = [draft(f"https://a.example/{n}", "Words.") for n in range(MAX_LISTED_PAGES + 5)]

    async with connected(Shelf(*pages), "legacy") as client:
        listed = (await client.list_resources()).resources

    assert len(listed) == MAX_LISTED_PAGES
    assert listed[0].uri == f"citewell://page/{MAX_LISTED_PAGES + 5}"


@in_both_eras
async def test_every_kind_of_uri_is_announced(mode: str) -> None:
    async with connected(Shelf(), mode) as client:
        templates = (await client.list_resource_templates()).resource_templates

    assert [(each.uri_template, each.mime_type) for each in templates] == [
        ("citewell://page/{source_id}", "text/markdown"),
        ("citewell://website/{source_id}", "text/markdown"),
        ("citewell://scratch/{session}/{passage}", "text/plain"),
        ("citewell://receipt/{citations}", "application/wacz"),
    ]
    assert templates[2].annotations == types.Annotations(audience=["assistant"], priority=0.1)


@in_both_eras
async def test_a_page_is_read_as_markdown(mode: str) -> None:
    async with connected(Shelf(), mode) as client:
        text = await text_at(client, "citewell://page/1")

    assert quoted_in(text) == HERONS.extracted.text


async def test_a_long_page_is_cut_and_says_so() -> None:
    long = draft("https://a.example/", *["The heron waits by the water."] * 200)

    async with connected(Shelf(long, mcp_response_token_budget=200), "legacy") as client:
        text = await text_at(client, "citewell://page/1")

    page, _, note = text.rpartition("\n\n")
    assert long.extracted.text.startswith(quoted_in(page))
    assert note == "(cut here after 200 tokens: ask search for what is in the rest)"


@in_both_eras
async def test_a_passage_that_was_found_is_linked_and_can_be_read(mode: str) -> None:
    async with connected(Shelf(), mode) as client:
        found = await client.call_tool("kb_search", SEARCH)
        link = links_of(found)[0]
        text = await text_at(client, link.uri)

    assert quoted_in(text) == "The grey heron eats fish. It stands still for hours."
    assert found.structured_content is not None
    assert link.uri == found.structured_content["results"][0]["scratch_uri"]
    passage = found.structured_content["results"][0]["passage_id"]
    assert link.name == f"passage {passage}"
    assert "Herons" in (link.description or "")
    assert (link.mime_type, link.size) == ("text/plain", len(quoted_in(text)))
    assert link.annotations is not None
    assert (link.annotations.audience, link.annotations.priority) == (["assistant"], 0.1)
    assert datetime.fromisoformat(link.annotations.last_modified or "").tzinfo is not None


@in_both_eras
async def test_evidence_links_each_passage_once(mode: str) -> None:
    async with connected(Shelf(), mode) as client:
        found = await client.call_tool(
            "kb_retrieve_evidence", {"question": "What does the heron eat?"}
        )

    uris = [link.uri for link in links_of(found)]
    assert uris
    assert len(uris) == len(set(uris))


async def test_a_client_that_wants_json_alone_gets_no_links() -> None:
    shelf = Shelf(mcp_structured_output_enabled=False)

    async with connected(shelf, "legacy") as client:
        found = await client.call_tool("kb_search", SEARCH)

    assert [block.type for block in found.content] == ["text"]


async def test_a_passage_that_was_evicted_is_read_again_from_its_page() -> None:
    shelf = Shelf(scratch=ScratchStore(max_bytes=1))

    async with connected(shelf, "legacy") as client:
        found = await client.call_tool("kb_search", SEARCH)
        assert found.structured_content is not None
        text = await text_at(client, found.structured_content["results"][0]["scratch_uri"])

    assert quoted_in(text) == "The grey heron eats fish. It stands still for hours."


@in_both_eras
async def test_a_part_that_breaks_is_an_internal_error(mode: str) -> None:
    aviary = Aviary(replaced={"scratch": already_open(None)})

    async with serving(aviary) as base, Client(f"{base}/mcp", mode=mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource("citewell://scratch/abc123/123456789")

    assert caught.value.error.code == types.INTERNAL_ERROR
    assert caught.value.error.message == "The server met an unexpected error."


async def test_a_passage_of_another_session_is_not_found() -> None:
    shelf = Shelf()

    async with (
        serving(shelf, shelf.settings) as base,
        Client(f"{base}/mcp", mode="legacy") as client,
        Client(f"{base}/mcp", mode="legacy") as other,
    ):
        (link, *_) = links_of(await client.call_tool("kb_search", SEARCH))
        (own, *_) = links_of(await other.call_tool("kb_search", SEARCH))
        passage = link.uri.rpartition("/")[2]
        in_own_session = f"{own.uri.rpartition('/')[0]}/{passage}"
        codes = [(await refusal(other, uri)).code for uri in (link.uri, in_own_session)]
        still_there = await text_at(client, link.uri)

    assert codes == [-32002, -32002]
    assert still_there


@pytest.mark.parametrize(("mode", "code"), [("legacy", -32002), ("2026-07-28", -32602)])
async def test_what_is_not_a_resource_of_the_caller_is_not_found(mode: str, code: int) -> None:
    wrong = [
        "citewell://page/99",
        "citewell://page/3",  # of another project
        "citewell://page/0",
        "citewell://page/1/2",
        "citewell://page/" + "9" * 40,
        "citewell://page/１",
        "citewell://page/../1",
        "citewell://scratch/1",
        "citewell://scratch/1/2",
        "citewell://scratch/../../etc",
        "citewell://scratch/" + "1/" * 500,
        "file:///etc/passwd",
        "",
    ]

    async with connected(Shelf(), mode) as client:
        errors = [await refusal(client, uri) for uri in wrong]

    assert [error.code for error in errors] == [code] * len(wrong)
    # An error repeats the beginning of a long name.
    assert [error.data for error in errors] == [{"uri": uri[:200]} for uri in wrong]
    assert all(len(error.message) < 500 for error in errors)
