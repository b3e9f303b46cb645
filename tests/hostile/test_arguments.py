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


_LONG = "wader" * 40_000
LONG: dict[str, dict[str, object]] = {
    "thousands of unknown arguments": {f"{number}-wader": number for number in range(4_900)},
    "an unknown argument with a long name": {_LONG: 1},
    "a long text": {"*": _LONG},
    "a list of a long text": {"*": [_LONG]},
    "a list of many": {"*": [f"wader {number}" for number in range(1_000)]},
    "objects with unknown keys": {"*": [{"wader": 1}] * 500},
    "an object with thousands of unknown keys": {
        "*": {f"wader{number}": number for number in range(500)}
    },
    "an object with a long key": {"*": {_LONG: {_LONG: 2**70}}},
    "a long address": {"*": f"https://127.0.0.1/{_LONG}"},
    "a long host": {"*": [f"https://{_LONG}/"]},
}


@pytest.mark.parametrize("what", LONG)
async def test_no_error_repeats_a_long_input(what: str) -> None:
    async with open_library() as library:
        for tool in (tool for tool in ALL_TOOLS if tool.requires is None):
            names = tool.input_model.model_fields if "*" in LONG[what] else ("",)
            for name in names:
                long = {key.replace("*", name): value for key, value in LONG[what].items()}
                result = await library.result(tool.name, **{**dict[str, Any](tool.example), **long})
                shown = result.text + str(result.structured)

                assert not result.is_error or len(shown) < 5_000, (tool.name, name)


async def test_of_thousands_of_unknown_arguments_ten_are_named() -> None:
    unknown: dict[str, Any] = {f"wader{number}": 1 for number in range(4_900)}
    async with open_library() as library:
        result = await library.call("status", **unknown)

    assert result["error"]["message"] == (
        "Invalid arguments: wader0, wader1, wader2, wader3, wader4, wader5, wader6, wader7, wader8, "
        "wader9 and 4,890 more are unknown"
    )


async def test_names_that_stand_for_another_are_not_unknown() -> None:
    unknown: dict[str, Any] = {f"wader{number}": 1 for number in range(12)}
    async with open_library() as library:
        result = await library.call("search", question="herons", url="https://a.example", **unknown)

    assert "question" not in result["error"]["message"]
    assert "2 more are unknown" in result["error"]["message"]
