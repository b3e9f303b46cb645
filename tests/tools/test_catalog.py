"""The catalogue: contracts that every registered tool keeps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema import Draft202012Validator
from tests.drafts import draft, draft_of
from tests.site import Response, running_site
from tests.tools.library import ME, Library, open_library
from tests.tools.provable_page import QUOTE, cite, provable
from tests.web.search_apis import running_search_apis

from citewell.core.errors import SettingsError
from citewell.core.records import FetchedPage, PageDraft
from citewell.core.settings import Settings
from citewell.core.tokens import count_tokens
from citewell.tools.catalog import ALL_TOOLS, open_registry
from citewell.tools.limits import MAX_RESPONSE_BYTES
from citewell.tools.people.ask_user import MAX_ANSWER_CHARACTERS
from citewell.tools.tool import Tool
from citewell.tools.toolsets import choose_tools
from citewell.tools.validation import MAX_ARGUMENT_BYTES

EVERY_TOOL = pytest.mark.parametrize("tool", ALL_TOOLS, ids=lambda tool: tool.name)

# As hard as a page can be: no sentence ends, a fence and a table of great length, a long URL.
_TEXT = (
    f"# {'Herons ' * 60}\n\n"
    + "heron by the pond and " * 4_000
    + "\n\n```\n"
    + "heron_count = pond\n" * 1_500
    + "```\n\n| heron | pond |\n| --- | --- |\n"
    + "| heron | the pond of the heron |\n" * 600
    + "\n"
    + "鷺は池に立つ、" * 1_500
)


def largest_page() -> PageDraft:
    fetched = FetchedPage(
        url="https://large.example/" + "path-" * 700,
        final_url="https://large.example/",
        status=200,
        kind="markdown",
        body=_TEXT.encode(),
        text=_TEXT,
        fetched_at=datetime.now(UTC),
    )
    return draft_of(fetched, content_type="job_posting")


LARGEST = largest_page()


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What tools need beside a store: a docs folder, a search engine and a page on the web."""

    settings: dict[str, Any]
    url: str


@pytest.fixture(scope="module")
def equipment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Equipment]:
    docs = tmp_path_factory.mktemp("docs")
    (docs / "large.md").write_text(_TEXT, encoding="utf-8")
    page = Response(body=_TEXT.encode(), headers={"Content-Type": "text/markdown"})
    with running_search_apis() as apis, running_site({"/large.md": page}) as site:
        settings = {
            "docs_root": str(docs),
            "docs_cache_root": str(docs / "cache"),
            "web_search_engines": ("brave",),
            "web_search_brave_api_key": "b-key",
            "web_search_urls": apis.urls(),
            "web_allowed_private_hosts": (site.host,),
        }
        yield Equipment(settings=settings, url=site.url("/large.md"))


async def greedy_arguments(
    tool: Tool[Any, Any], library: Library, equipment: Equipment
) -> dict[str, Any]:
    """Arguments that ask for as much of the largest page as the tool's schema allows."""
    found = await library.call("kb.search", query="heron", options={"max_per_doc": 3})
    passages = [result["passage_id"] for result in found["results"]]
    sections = [result["section_id"] for result in found["results"]]
    known: dict[str, object] = {
        "url": equipment.url if tool.name == "web_fetch" else LARGEST.url,
        "path": "large.md",
        "materials": _TEXT,
        "query": "heron",
        "question": "heron",
        "quote": "heron by the pond",
        "draft": "The grey heron stands still by the pond all day. " * 200,
        "text": "\n\n".join(f"“heron by the pond” {LARGEST.url}#{n}" for n in range(25)),
        "passage_id": passages[0],
        "passage_ids": passages,
        "section_ids": sections,
        "node_ids": sections,
        "from_ids": sections,
        "to_ids": sections,
        "entity_ids": [LARGEST.entities[0].name],
        "id": "1",
        "source_id": 1,
        "content_type": "job_posting",
        "status": "completed",
        "query_text": "heron",
        "chunks": [{"content": "heron " * 1_000}],
    }
    arguments: dict[str, Any] = {}
    for name, field in tool.input_schema()["properties"].items():
        if name in tool.example and name in known:
            arguments[name] = known[name]
        elif "maximum" in field and name != "start_char":
            arguments[name] = field["maximum"]
    if tool.name == "data_create_website_chunks":
        # Chunks cannot take the place of a page that was fetched.
        made = await library.call(
            "data_create_website_source", url="https://made.example/", content_type="blog_article"
        )
        arguments["source_id"] = made["source_id"]
    if tool.name == "compare_versions":
        await library.put(draft(LARGEST.url, *_TEXT.replace("heron", "egret").split("\n\n")))
        arguments["subject"] = LARGEST.url
    if tool.name == "make_receipt":
        await library.put(provable(f"<p>{QUOTE} {_TEXT}</p>"))
        lengths = range(20_000, 20_010)
        arguments["citation_ids"] = [await cite(library, length=length) for length in lengths]
    return arguments


async def answer_at_length(library: Library) -> None:
    """Be the user, who answers every question with as many words as are taken."""
    desk = library.parts.desk
    async for _ in desk.watch(ME.owner):
        pending, _history = await desk.list_questions(ME.owner)
        for question in pending:
            words = "鷺" * MAX_ANSWER_CHARACTERS
            await desk.answer(question.question_id, words, owner=ME.owner)


@EVERY_TOOL
def test_schemas_are_valid_and_the_example_fits(tool: Tool[Any, Any]) -> None:
    Draft202012Validator.check_schema(tool.input_schema())
    Draft202012Validator.check_schema(tool.output_schema())

    Draft202012Validator(tool.input_schema()).validate(tool.example)
    tool.input_model.model_validate(tool.example)


@EVERY_TOOL
def test_the_output_schema_also_lets_an_error_through(tool: Tool[Any, Any]) -> None:
    error = {"error": {"code": "NOT_FOUND", "message": "…"}}

    assert Draft202012Validator(tool.output_schema()).is_valid(error)


@EVERY_TOOL
def test_a_description_has_its_five_parts(tool: Tool[Any, Any]) -> None:
    for part in ("Use when", "Do not use when", "Returns at most", "If you need more", "Defaults:"):
        assert part in tool.description
    assert "Max:" in tool.description


@EVERY_TOOL
def test_names_are_short_and_plain(tool: Tool[Any, Any]) -> None:
    assert tool.name.replace(".", "").replace("_", "").isalnum()
    assert len(tool.name) <= 64


@EVERY_TOOL
async def test_input_that_is_too_large_is_refused(
    tool: Tool[Any, Any], equipment: Equipment
) -> None:
    async with open_library(**equipment.settings) as library:
        for name, value in tool.example.items():
            if isinstance(value, str):
                excess: object = "x" * 450_000
            elif isinstance(value, list):
                excess = value * 1_000
            else:
                continue
            refused = await library.call(
                tool.name, **{**dict[str, Any](tool.example), name: excess}
            )
            # How much material is taken is a setting, so no schema can refuse it.
            code = "BUDGET_EXCEEDED" if name == "materials" else "INVALID_ARGUMENT"
            assert refused["error"]["code"] == code
        unread = await library.call(
            tool.name, **dict[str, Any](tool.example), more="x" * MAX_ARGUMENT_BYTES
        )

    assert unread["error"]["code"] == "BUDGET_EXCEEDED"


@EVERY_TOOL
async def test_the_caps_hold_on_the_largest_page(
    tool: Tool[Any, Any], equipment: Equipment
) -> None:
    settings = Settings()
    most = tool.max_result_tokens or settings.mcp_response_token_budget + 10_000
    async with (
        open_library(LARGEST, **equipment.settings) as library,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(answer_at_length, library)
        arguments = await greedy_arguments(tool, library, equipment)
        result = await library.result(tool.name, **arguments)
        tasks.cancel_scope.cancel()

    structured = json.dumps(result.structured, ensure_ascii=False)
    assert not result.is_error, result.text
    Draft202012Validator(tool.output_schema()).validate(result.structured)
    assert count_tokens(result.text) <= most
    assert count_tokens(structured) <= most
    assert len((result.text + structured).encode()) <= MAX_RESPONSE_BYTES


def test_the_tools_cost_few_tokens() -> None:
    # A test of the documents sees to it that the table is what the tools cost.
    document = (Path(__file__).parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")
    table = document.partition("<!-- toolsets -->")[2].partition("<!-- /toolsets -->")[0]
    rows = re.findall(r"^\| `(\w+)` \| \d+ \| ([\d,]+) \|$", table, flags=re.MULTILINE)
    tokens = {name: int(count.replace(",", "")) for name, count in rows}

    assert tokens["default"] <= 2_200
    # What a client that can elicit is listed.
    assert tokens["default"] + tokens["people"] <= 2_500
    assert tokens["all"] <= 13_000


def test_toolsets_choose_and_an_unknown_one_is_refused() -> None:
    assert [tool.name for tool in choose_tools(ALL_TOOLS, ["research"])] == [
        "answer",
        "search",
        "status",
        "ingest",
    ]
    assert choose_tools(ALL_TOOLS, ["all"]) == list(ALL_TOOLS)
    with pytest.raises(SettingsError, match=r"'herons'; the toolsets are default, all, .*kb"):
        choose_tools(ALL_TOOLS, ["herons"])
    with pytest.raises(SettingsError, match=r"'reserch'; did you mean research\?"):
        choose_tools(ALL_TOOLS, ["reserch"])


def test_the_default_tools_are_one_for_each_need() -> None:
    names = [tool.name for tool in choose_tools(ALL_TOOLS, ["default"])]

    assert names == [
        "answer",
        "search",
        "status",
        "ingest",
        "kb.verify_quote",
        "web_search",
        "web_fetch",
    ]


def test_without_kb_v2_the_legacy_tools_take_the_place_of_the_kb_tools() -> None:
    listed = open_registry(Settings(mcp_kb_v2_enabled=False)).tools
    every = choose_tools(ALL_TOOLS, ["all"], kb_v2=False)

    assert {tool.toolset for tool in listed} == {"research", "legacy", "people", "web"}
    assert "kb" not in {tool.toolset for tool in every}
