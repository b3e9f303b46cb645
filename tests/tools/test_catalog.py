"""The catalogue: contracts that every registered tool keeps."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from citewell.core.errors import SettingsError
from citewell.core.tokens import count_tokens
from citewell.tools.catalog import ALL_TOOLS, INSTRUCTIONS, choose_tools
from citewell.tools.registry import Tool

EVERY_TOOL = pytest.mark.parametrize("tool", ALL_TOOLS, ids=lambda tool: tool.name)


@EVERY_TOOL
def test_schemas_are_valid_and_the_example_fits(tool: Tool[Any, Any, Any]) -> None:
    Draft202012Validator.check_schema(tool.input_schema())
    Draft202012Validator.check_schema(tool.output_schema())

    Draft202012Validator(tool.input_schema()).validate(tool.example)
    tool.input_model.model_validate(tool.example)


@EVERY_TOOL
def test_the_output_schema_also_lets_an_error_through(tool: Tool[Any, Any, Any]) -> None:
    error = {"error": {"code": "NOT_FOUND", "message": "…"}}

    Draft202012Validator(tool.output_schema()).validate(error)


@EVERY_TOOL
def test_a_description_has_its_five_parts(tool: Tool[Any, Any, Any]) -> None:
    for part in ("Use when", "Do not use when", "Returns at most", "If you need more", "Defaults:"):
        assert part in tool.description
    assert "Max:" in tool.description


@EVERY_TOOL
def test_names_are_short_and_plain(tool: Tool[Any, Any, Any]) -> None:
    assert tool.name.replace(".", "").replace("_", "").isalnum()
    assert len(tool.name) <= 64


def test_the_default_tools_cost_few_tokens() -> None:
    listed = [
        {
            "name": tool.underscored_name,
            "description": tool.description,
            "inputSchema": tool.input_schema(),
            "outputSchema": tool.output_schema(),
        }
        for tool in choose_tools(["default"])
    ]

    assert count_tokens(json.dumps(listed, separators=(",", ":"))) <= 3_000
    assert len(INSTRUCTIONS.splitlines()) == 5


def test_toolsets_choose_and_an_unknown_one_is_refused() -> None:
    assert [tool.name for tool in choose_tools(["research"])] == [
        "answer",
        "search",
        "status",
        "ingest",
    ]
    assert choose_tools(["all"]) == list(ALL_TOOLS)
    with pytest.raises(SettingsError, match="'herons'; the toolsets are default, all, kb, research"):
        choose_tools(["herons"])
