"""The default toolset: names that agree, ids that fit, and whole sites by `ingest`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from tests.drafts import draft
from tests.site import running_site
from tests.tools.library import HERONS, open_library

from citewell.core.library import WebsiteDraft
from citewell.core.settings import Settings
from citewell.tools.catalog import ALL_TOOLS, open_registry
from citewell.tools.tool import Tool
from citewell.tools.toolsets import choose_tools

pytestmark = pytest.mark.anyio

# One chunk, of which only a sentence answers what a heron eats.
POND = draft(
    "https://birds.example/pond.html",
    "The grey heron eats fish and frogs.\n\nThe pond lies behind the mill and belongs to the "
    "town.\n\nIn winter it freezes, and people skate on it from the landing to the bridge.\n\n"
    "A ferry crosses the river nearby every hour, but not on public holidays.",
    title="The pond",
    heading="The pond",
)
QUERY_TOOLS = ("search", "kb.search", "kb.retrieve_evidence", "rag_query_websites")


def site_pages(count: int) -> dict[str, str]:
    links = "".join(f'<li><a href="/p{at}.html">Page {at}</a></li>' for at in range(count))
    pages = {"/": f"<html><title>Birds</title><main><h1>Birds</h1><ul>{links}</ul></main></html>"}
    for at in range(count):
        text = f"Heron number {at} fishes in pond number {at}, every morning of the long summer."
        pages[f"/p{at}.html"] = (
            f"<html><title>P{at}</title><main><h1>P{at}</h1><p>{text}</p></main>"
        )
    return pages


def objects_in(schema: object) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [each for item in schema for each in objects_in(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema] if "object" in (schema.get("type") or ()) else []
    return own + [each for value in schema.values() for each in objects_in(value)]


@pytest.mark.parametrize("name", QUERY_TOOLS)
@pytest.mark.parametrize("argument", ["query", "question"])
async def test_query_and_question_are_one_argument(name: str, argument: str) -> None:
    async with open_library() as library:
        # `rag_query_websites` searches the entries of the library only.
        entry = WebsiteDraft(url=HERONS.url)
        await library.parts.store.library.add_website(entry, now=datetime.now(UTC))
        arguments: dict[str, Any] = {argument: "What does the heron eat?"}
        result = await library.result(name, **arguments)

    assert not result.is_error, result.text
    assert "heron" in result.text


@pytest.mark.parametrize("name", ["search", "kb.search", "kb.retrieve_evidence"])
@pytest.mark.parametrize(
    "urls",
    [
        {"source_urls": ["https://birds.example/egrets.html"]},
        {"url": "https://birds.example/egrets.html"},
        {"urls": ["https://birds.example/e*"]},
    ],
    ids=lambda urls: min(urls),
)
async def test_one_filter_for_urls_works_in_every_search(name: str, urls: dict[str, Any]) -> None:
    async with open_library() as library:
        result = await library.result(name, query="What fish does it eat?", **urls)

    assert "egrets.html" in result.text
    assert "herons.html" not in result.text


async def test_a_url_that_names_no_page_is_reported() -> None:
    async with open_library() as library:
        one = await library.call("kb.search", query="fish", url="https://nowhere.example/a")
        many = await library.call("search", query="fish", url="https://nowhere.example/*")

    assert one["notes"] == [
        "https://nowhere.example/a is not indexed; call answer or ingest with it."
    ]
    assert any("begins with https://nowhere.example/" in note for note in many["stats"]["notes"])


async def test_a_null_counts_as_left_out() -> None:
    async with open_library() as library:
        plain = await library.call("search", query="What does the heron eat?")
        filled = await library.call(
            "search", query="What does the heron eat?", top_k=None, detail=None, intent=None
        )

    assert filled["evidence"] == plain["evidence"]


async def test_detail_chooses_between_sentences_passages_and_the_whole_brief() -> None:
    asked: dict[str, Any] = {"query": "What does the heron eat?"}
    async with open_library(POND) as library:
        quotes = await library.call("search", **asked)
        passages = await library.call("search", **asked, detail="passages")
        brief = await library.call("search", **asked, detail="brief")
        full = await library.call("search", **asked, detail="full")

    assert quotes["evidence"][0]["text"] in passages["evidence"][0]["text"]
    assert "ferry" not in quotes["evidence"][0]["text"]
    assert "ferry" in passages["evidence"][0]["text"]
    assert passages["citations"] == []
    assert brief["citations"]
    assert full["evidence"] == brief["evidence"]


async def test_the_id_of_a_quote_opens_its_passage_and_a_passage_id_verifies() -> None:
    async with open_library() as library:
        found = await library.call("search", query="How long does the heron stand still?")
        read = await library.call("kb.read_excerpt", passage_id=found["evidence"][0]["id"])
        verified = await library.call(
            "kb.verify_quote", quote="It stands still for hours.", citation_id=read["passage_id"]
        )

    assert "The grey heron eats fish. It stands still for hours." in read["excerpt"]
    assert verified["verdict"] == "exact"


async def test_every_passage_that_search_shows_verifies_by_its_id() -> None:
    async with open_library() as library:
        found = await library.call("search", query="What does the heron eat?", detail="passages")
        verdicts = [
            (await library.call("kb.verify_quote", quote=each["text"], citation_id=each["id"]))
            for each in found["evidence"]
        ]

    assert verdicts
    assert {verdict["verdict"] for verdict in verdicts} == {"exact"}


async def test_a_citation_of_a_page_that_is_not_ours_opens_nothing() -> None:
    async with open_library() as library:
        unknown = await library.call("kb.read_excerpt", passage_id="c999-00000000-0-10")
        changed = await library.call("kb.read_excerpt", passage_id="c1-00000000-0-10")

    assert unknown["error"]["code"] == changed["error"]["code"] == "NOT_FOUND"
    assert "changed" in changed["error"]["message"]


async def test_relevance_is_one_at_best_wherever_results_are_scored() -> None:
    async with open_library() as library:
        answered = await library.call("search", query="What does the heron eat?")
        websites = await library.call("rag_query_websites", query="What does the heron eat?")

    for rows in (answered["evidence"], websites["results"]):
        scores = [row["relevance"] for row in rows]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)


async def test_ingest_indexes_a_whole_site_and_status_reports_it() -> None:
    with running_site(site_pages(6)) as site:
        async with open_library(
            web_allowed_private_hosts=(site.host,), jobs_patience_seconds=60
        ) as library:
            added = await library.call("ingest", url=site.url("/"), whole_site=True)
            status = await library.call("status", source_url=site.url("/"))
            found = await library.call("search", query="Where does heron number 4 fish?")

    assert (added["indexed"], added["pages"][0]["pages"]) == (1, 7)
    assert status["sites"][0]["status"] == "completed"
    assert "7 pages" in status["sites"][0]["message"]
    assert "pond number 4" in found["evidence"][0]["text"]


async def test_a_site_that_takes_longer_goes_on_while_status_shows_how_far_it_is() -> None:
    with running_site(site_pages(6)) as site:
        async with open_library(
            web_allowed_private_hosts=(site.host,), jobs_patience_seconds=0
        ) as library:
            added = await library.result("ingest", url=site.url("/"), whole_site=True)
            status = await library.call("status")

    (row,) = added.structured["pages"]
    assert added.structured["processing"] == 1
    assert row["suggestion"] == f"Call status with source_url {site.url('/')} to see its progress."
    assert "in progress 1" in added.text
    assert [each["url"] for each in status["sites"]] == [site.url("/")]


async def test_max_pages_bounds_a_whole_site() -> None:
    with running_site(site_pages(6)) as site:
        async with open_library(
            web_allowed_private_hosts=(site.host,), jobs_patience_seconds=60
        ) as library:
            added = await library.call("ingest", url=site.url("/"), whole_site=True, max_pages=3)

    assert added["pages"][0]["pages"] == 3


async def test_a_website_is_general_unless_a_type_is_named() -> None:
    with running_site(site_pages(1)) as site:
        async with open_library(web_allowed_private_hosts=(site.host,)) as library:
            made = await library.call("rag_process_website", url=site.url("/p0.html"))
            status = await library.call("rag_get_website_status", source_id=made["source_id"])

    assert status["content_type"] == "general"


def test_scope_is_listed_only_where_the_server_has_one() -> None:
    tools = open_registry(Settings(mcp_toolsets=("all",))).tools
    scoped = [tool for tool in tools if "scope" in tool.input_model.model_fields]

    assert scoped
    for tool in scoped:
        assert "scope" not in tool.input_schema()["properties"]
        assert "scope" in tool.input_schema(with_scope=True)["properties"]


@pytest.mark.parametrize(
    "tool", choose_tools(ALL_TOOLS, ["default"]), ids=lambda tool: str(tool.name)
)
def test_the_arguments_of_a_default_tool_can_be_made_strict(tool: Tool[Any, Any]) -> None:
    schema = tool.input_schema(with_scope=True)

    assert all(part.get("additionalProperties") is False for part in objects_in(schema))
    for name, argument in schema["properties"].items():
        is_nullable = {"type": "null"} in argument.get("anyOf", ()) or "null" in (
            argument.get("type") or ()
        )
        assert name in schema.get("required", ()) or "default" in argument or is_nullable


@pytest.mark.parametrize("tool", ALL_TOOLS, ids=lambda tool: str(tool.name))
def test_an_output_schema_names_what_every_result_has(tool: Tool[Any, Any]) -> None:
    always = [name for name, field in tool.output_model.model_fields.items() if field.is_required()]
    schema = tool.output_schema()

    assert list(schema["properties"]) == always
    if always:
        assert schema["anyOf"] == [{"required": always}, {"required": ["error"]}]
