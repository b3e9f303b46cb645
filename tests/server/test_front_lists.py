"""The front lists what the SDK's server lists, whatever the settings choose."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from typing import get_args

import pytest

from citewell.core.errors import SettingsError
from citewell.core.settings import load_settings
from citewell.server.prepare_front import ask_server, prepare_answers
from citewell.server.stdio_front import PreparedTool, load_prepared_answers
from citewell.tools.catalog import ALL_TOOLS, open_registry
from citewell.tools.toolsets import Toolset, list_tools

pytestmark = pytest.mark.anyio

TOOLSETS: tuple[str, ...] = get_args(Toolset)
ALONE = ["default", "all", "", *TOOLSETS]
PAIRS = [",".join(pair) for pair in combinations(["default", *TOOLSETS], 2)]
# Those on whose presence something else depends.
ENTANGLED = [",".join(pair) for pair in combinations(["default", "kb", "web", "docs", "legacy"], 2)]
ENGINE = {"CITEWELL_WEB_SEARCH_BRAVE_API_KEY": "key"}
FLAGS = {
    "as set by default": {},
    "without kb": {"CITEWELL_MCP_KB_V2_ENABLED": "false"},
    "dotted": {"CITEWELL_MCP_TOOL_NAMES": "dotted"},
    "unstructured": {"CITEWELL_MCP_STRUCTURED_OUTPUT_ENABLED": "false"},
    "with docs": {"CITEWELL_DOCS_ROOT": "docs"},
    "of a scope": {"CITEWELL_SCOPE_TAGS": "birds"},
    "with an engine": ENGINE,
}
EVERY_FLAG = {name: value for flags in FLAGS.values() for name, value in flags.items()}


async def assert_same_answers(environment: dict[str, str]) -> None:
    settings = load_settings(environment=environment)

    front, server = load_prepared_answers(settings), await ask_server(settings)

    assert front is not None
    assert {era: front[era] for era in server} == server


async def test_the_prepared_file_is_that_of_these_tools() -> None:
    prepared = await prepare_answers()
    every = {
        "CITEWELL_MCP_TOOLSETS": "all",
        "CITEWELL_DOCS_ROOT": "docs",
        **ENGINE,
        "CITEWELL_MCP_TOOL_NAMES": "dotted",
        "CITEWELL_SCOPE_TAGS": "birds",
    }
    front = load_prepared_answers(load_settings(environment=every))

    assert front is not None
    assert front["tools"] == prepared["tools"]
    assert front["prompts"] == prepared["prompts"]
    assert front["handshake_versions"] == prepared["handshake_versions"]
    assert front["modern_versions"] == prepared["modern_versions"]


async def test_each_toolset_alone_is_listed_alike() -> None:
    for toolsets in ALONE:
        await assert_same_answers({"CITEWELL_MCP_TOOLSETS": toolsets})


# Which tools a flag leaves of other toolsets is tested below by their names.
@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS)
async def test_every_tool_is_listed_alike_under_each_flag(flags: dict[str, str]) -> None:
    for toolsets in ("default", "all"):
        await assert_same_answers({"CITEWELL_MCP_TOOLSETS": toolsets, **flags})


@pytest.mark.parametrize("toolsets", ["default", "all", "kb,legacy", "research,docs,web"])
async def test_flags_together_are_listed_alike(toolsets: str) -> None:
    await assert_same_answers({"CITEWELL_MCP_TOOLSETS": toolsets, **EVERY_FLAG})


async def test_two_toolsets_are_listed_alike() -> None:
    for toolsets in ENTANGLED:
        await assert_same_answers({"CITEWELL_MCP_TOOLSETS": toolsets})


@pytest.mark.parametrize("transport", ["stdio", "streamable-http"])
async def test_every_pair_under_every_flag_chooses_the_same_names(transport: str) -> None:
    prepared = [PreparedTool(**tool) for tool in (await prepare_answers())["tools"]]

    for flags in (*FLAGS.values(), EVERY_FLAG):
        flagged = load_settings(environment={"CITEWELL_MCP_TRANSPORT": transport, **flags})
        for toolsets in PAIRS:
            settings = replace(flagged, mcp_toolsets=tuple(toolsets.split(",")))
            names = [tool.name for tool in list_tools(prepared, settings)]
            assert names == [tool.name for tool in open_registry(settings).tools]


@pytest.mark.parametrize(
    "environment",
    [
        {"CITEWELL_MCP_TOOLSETS": "herons"},
        {"CITEWELL_WEB_SEARCH_ENGINES": "herons"},
        {"CITEWELL_WEB_SEARCH_ENGINES": "brave"},
    ],
    ids=json.dumps,
)
def test_wrong_choices_are_refused_in_the_same_words(environment: dict[str, str]) -> None:
    settings = load_settings(environment=environment)

    with pytest.raises(SettingsError) as by_front:
        load_prepared_answers(settings)
    with pytest.raises(SettingsError) as by_registry:
        open_registry(settings)

    assert by_front.value.message == by_registry.value.message


def test_every_tool_is_of_a_known_toolset() -> None:
    assert {tool.toolset for tool in ALL_TOOLS} == set(TOOLSETS)
