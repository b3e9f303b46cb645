"""Arguments that no tool can store or send back get a clear error, whichever tool it is."""

from __future__ import annotations

from typing import Any

import pytest
from tests.tools.library import open_library

from citewell.tools.catalog import ALL_TOOLS

pytestmark = pytest.mark.anyio

VALUES: dict[str, tuple[object, str]] = {
    "a number of 64 bits and more": (2**63, "below 2**63"),
    "a number far below zero": (-(2**70), "below 2**63"),
    "a number in a list": ([1, [2**64]], "below 2**63"),
    "half of a character": ("a\ud800b", "half of a character"),
    "half of a character in an object": ({"k\udfff": 1}, "half of a character"),
}


@pytest.mark.parametrize("what", VALUES)
async def test_no_argument_of_any_tool_takes_it(what: str) -> None:
    value, reason = VALUES[what]
    async with open_library() as library:
        for tool in (tool for tool in ALL_TOOLS if tool.requires is None):
            for name in tool.input_model.model_fields:
                arguments = {**dict[str, Any](tool.example), name: value}
                error = (await library.call(tool.name, **arguments))["error"]

                assert error["code"] == "INVALID_ARGUMENT", (tool.name, name)
                assert reason in error["message"], (tool.name, name)
