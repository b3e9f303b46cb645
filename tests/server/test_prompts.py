"""Prompts and completion, through real clients of both eras."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import mcp_types as types
import pytest
from inline_snapshot import snapshot
from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.drafts import draft
from tests.server.shelf import Shelf
from tests.server.tiny import Aviary, serving

from citewell.tools.catalog import ALL_TOOLS
from citewell.tools.prompts import PROMPTS

pytestmark = pytest.mark.anyio

in_both_eras = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


@asynccontextmanager
async def connected(shelf: Shelf, mode: str) -> AsyncIterator[Client]:
    async with serving(shelf, shelf.settings) as base, Client(f"{base}/mcp", mode=mode) as client:
        yield client


async def text_of(client: Client, name: str, **arguments: str) -> str:
    (message,) = (await client.get_prompt(name, arguments)).messages
    assert message.role == "user"
    assert isinstance(message.content, types.TextContent)
    return message.content.text


async def values_of(
    client: Client, typed: str, *, argument: str = "url", prompt: str = "research"
) -> list[str]:
    ref = types.PromptReference(name=prompt)
    result = await client.complete(ref, {"name": argument, "value": typed})
    return result.completion.values


@in_both_eras
async def test_the_prompts_are_listed_with_their_arguments(mode: str) -> None:
    async with connected(Shelf(), mode) as client:
        prompts = (await client.list_prompts()).prompts

    named = {each.name: [given.name for given in each.arguments or ()] for each in prompts}
    assert named == {
        "research": ["url", "question"],
        "compare": ["url_a", "url_b", "topic"],
        "explain_page": ["url"],
        "add_site": ["url"],
        "check_citation": ["quote", "url"],
    }
    assert all(each.title and each.description for each in prompts)
    assert all(given.required for each in prompts for given in each.arguments or ())


@in_both_eras
async def test_a_prompt_tells_the_model_which_tools_to_call(mode: str) -> None:
    async with connected(Shelf(), mode) as client:
        text = await text_of(
            client, "check_citation", quote="Herons eat {fish}.", url="https://birds.example/"
        )

    assert text == snapshot("""\
Check whether the page https://birds.example/ says this, word for word:

"Herons eat {fish}."

1. Call `kb_verify_quote` with the quote, url "https://birds.example/" and live true: it fetches the page.
2. If the verdict is changed or gone, call `search` with the quote as query and source_urls ["https://birds.example/"] to find what the page says instead.

Say first whether the citation holds: exact, moved, changed or gone. Then show the words of the page beside those of the quote, and say whether the difference changes the meaning.\
""")


async def test_every_prompt_names_its_tools_as_they_are_listed() -> None:
    dotted = Shelf(mcp_tool_names="dotted")

    async with connected(Shelf(), "legacy") as plain, connected(dotted, "legacy") as other:
        for prompt in PROMPTS:
            arguments = {each.name: f"<{each.name}>" for each in prompt.arguments}
            underscored_text = await text_of(plain, prompt.name, **arguments)
            dotted_text = await text_of(other, prompt.name, **arguments)

            for tool in prompt.tools:
                assert f"`{tool.replace('.', '_')}`" in underscored_text
                assert f"`{tool}`" in dotted_text
            for given in arguments.values():
                assert given in underscored_text


def test_the_tools_of_the_prompts_are_all_in_the_default_set() -> None:
    default = {tool.name for tool in ALL_TOOLS if tool.in_default}

    assert {tool for prompt in PROMPTS for tool in prompt.tools} <= default


async def test_a_server_without_the_tools_does_not_offer_the_prompt() -> None:
    async with serving(Aviary()) as base, Client(f"{base}/mcp", mode="legacy") as client:
        prompts = (await client.list_prompts()).prompts

    assert prompts == []


@in_both_eras
async def test_a_prompt_that_is_unknown_or_filled_in_wrongly_is_refused(mode: str) -> None:
    wrong: list[tuple[str, dict[str, str]]] = [
        ("sing", {}),
        ("research", {"url": "https://birds.example/"}),
        ("research", {"url": "https://birds.example/", "question": "  "}),
        ("explain_page", {"url": "https://birds.example/", "tone": "gruff"}),
        ("explain_page", {"url": "x" * 100_000}),
    ]
    said = []

    async with connected(Shelf(), mode) as client:
        for name, arguments in wrong:
            with pytest.raises(MCPError) as caught:
                await client.get_prompt(name, arguments)
            assert caught.value.error.code == types.INVALID_PARAMS
            said.append(caught.value.error.message)

    assert said == snapshot(
        [
            "There is no prompt 'sing'. Prompts: research, compare, explain_page, add_site, check_citation.",
            "research needs the argument question.",
            "research needs the argument question.",
            "explain_page has no 'tone'; it takes: url.",
            "url is longer than 5,000 characters.",
        ]
    )


@in_both_eras
async def test_a_url_is_completed_from_the_stored_pages(mode: str) -> None:
    async with connected(Shelf(), mode) as client:
        by_url = await values_of(client, "https://birds")
        by_host = await values_of(client, "NIGHT.example")
        by_title = await values_of(client, "the wood", argument="url_b", prompt="compare")
        by_nothing = await values_of(client, "")
        of_no_page = await values_of(client, "albatross")

    assert by_url == ["https://birds.example/herons"]
    assert by_host == by_title == ["https://night.example/owls"]
    assert by_nothing == ["https://birds.example/herons", "https://night.example/owls"]
    assert of_no_page == []


@in_both_eras
async def test_only_what_can_be_known_is_completed(mode: str) -> None:
    page = types.ResourceTemplateReference(uri="citewell://page/{source_id}")
    passage = types.ResourceTemplateReference(uri="citewell://scratch/{session}/{passage}")

    async with connected(Shelf(), mode) as client:
        question = await values_of(client, "heron", argument="question")
        unknown = await values_of(client, "heron", prompt="sing")
        by_title = await client.complete(page, {"name": "source_id", "value": "owls"})
        by_id = await client.complete(page, {"name": "source_id", "value": "1"})
        passages = await client.complete(passage, {"name": "passage", "value": ""})

    assert (question, unknown, passages.completion.values) == ([], [], [])
    assert (by_title.completion.values, by_id.completion.values) == (["2"], ["1"])


async def test_at_most_a_hundred_values_are_offered() -> None:
    pages = [draft(f"https://a.example/{n:03}", "Words.") for n in range(120)]

    async with connected(Shelf(*pages), "legacy") as client:
        ref = types.PromptReference(name="explain_page")
        result = await client.complete(ref, {"name": "url", "value": "a.example"})

    completion = result.completion
    assert completion.values == [f"https://a.example/{n:03}" for n in range(100)]
    assert (completion.total, completion.has_more) == (120, True)
