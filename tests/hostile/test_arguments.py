"""Arguments that no tool can store or send back get a clear error, whichever tool it is."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import pytest
from tests.tools.library import open_library

from citewell.tools.catalog import ALL_TOOLS

pytestmark = pytest.mark.anyio

_NAMES_IDS = re.compile(r"(?:^|_)ids?$")
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


UNKNOWN = (
    "999999",
    "s999999.9",
    "chunk:999999:0",
    "no-such-thing",
    "0" * 32,
    999_999,
    -1,
    2**63 - 1,
)


async def test_an_id_of_nothing_is_not_found_or_refused_by_every_tool_that_takes_ids() -> None:
    tried = 0
    async with open_library() as library:
        for tool in (tool for tool in ALL_TOOLS if tool.requires is None):
            names = [name for name in tool.input_model.model_fields if _NAMES_IDS.search(name)]
            for name, value in product(names, UNKNOWN):
                for given in (value, [value]):
                    arguments = {**dict[str, Any](tool.example), name: given}
                    answer = await library.call(tool.name, **arguments)
                    code = answer.get("error", {}).get("code", "NOT_FOUND")

                    tried += 1
                    assert code in ("NOT_FOUND", "INVALID_ARGUMENT"), (tool.name, arguments)
    assert tried > 200
