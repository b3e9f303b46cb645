"""Calling tools through the registry: validation, limits and errors, on tools made for the test."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace

import anyio
import pytest
from pydantic import Field

from citewell.app.parts import PartName, Parts
from citewell.core.errors import PageNotFound
from citewell.core.records import Caller
from citewell.core.settings import Settings
from citewell.tools.load import MAX_CALLS_OF_ONE
from citewell.tools.registry import Registry
from citewell.tools.research import answer
from citewell.tools.results import ToolResult
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput
from citewell.tools.validation import MAX_ARGUMENT_BYTES


class EchoInput(ToolInput):
    text: str = Field(max_length=1_000)
    times: int = Field(default=1, ge=1, le=10_000)


class EchoOutput(ToolOutput):
    text: str
    note: str | None = None


async def echo(given: EchoInput, call: Call) -> EchoOutput:
    match given.text:
        case "missing":
            raise PageNotFound("https://example.org/x answered 404.", status=404)
        case "missing at once":
            async with anyio.create_task_group():
                raise PageNotFound("https://example.org/x answered 404.", status=404)
        case "broken":
            raise RuntimeError("secret path /etc/passwd")
        case "slow":
            await anyio.sleep_forever()
    return EchoOutput(text=given.text * given.times)


ECHO = Tool(
    name="test.echo",
    toolset="research",
    title="Echo",
    description="Echo.",
    annotations=Annotations(read_only=True),
    needs=(),
    run=echo,
    render=lambda output, call: f"echo: {output.text}",
    example={"text": "a"},
)


class NoParts:
    """An application that the tools of this file ask nothing of."""

    settings = Settings()

    async def open(self, *names: PartName) -> Parts:
        return Parts(self.settings, {})


APP = NoParts()


async def call(arguments: dict[str, object], *, name: str = "test.echo") -> ToolResult:
    registry = Registry([ECHO], timeout_seconds=0.2, max_response_bytes=20_000)
    return await registry.call(name, arguments, app=APP, caller=Caller(session="s"))


@pytest.mark.parametrize("name", ["test.echo", "test_echo"])
async def test_a_tool_answers_to_both_spellings_of_its_name(name: str) -> None:
    result = await call({"text": "heron"}, name=name)

    assert result == ToolResult(text="echo: heron", structured={"text": "heron"})


async def test_an_unknown_tool_is_not_found_and_the_known_ones_are_named() -> None:
    result = await call({}, name="nothing")

    assert result.is_error
    assert result.structured["error"]["code"] == "NOT_FOUND"
    assert "test_echo" in result.structured["error"]["suggestion"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "text: Field required"),
        ({"text": 5}, "text: Input should be a valid string"),
        ({"text": "a", "colour": "red"}, "colour: Extra inputs are not permitted"),
        ({"text": "a", "times": 0}, "times: Input should be greater than or equal to 1"),
        ({"text": "a" * 1_001}, "text: String should have at most 1000 characters"),
    ],
)
async def test_wrong_arguments_are_refused_and_named(
    arguments: dict[str, object], problem: str
) -> None:
    result = await call(arguments)

    assert result.is_error
    error = result.structured["error"]
    assert (error["code"], error["type"]) == ("INVALID_ARGUMENT", "DataValidationError")
    assert problem in error["message"]
    assert error["suggestion"] == "This tool takes: text, times."


async def test_an_error_on_purpose_comes_back_whole() -> None:
    result = await call({"text": "missing"})

    assert result.is_error
    assert result.structured.pop("untrusted")["fields"] == ["message"]
    assert result.structured == {
        "error": {
            "code": "NOT_FOUND",
            "type": "URLFetchError",
            "message": "https://example.org/x answered 404.",
            "details": {"status": 404},
            "suggestion": "Check the URL; the page may have moved.",
        }
    }
    assert re.search(
        r"^\[ERROR\]\nText .+\n⟦\d+ https://example.org/x \d+⟧ answered 404.\n", result.text
    )


async def test_an_error_that_left_a_task_group_is_told_as_any_other() -> None:
    result = await call({"text": "missing at once"})

    assert result.structured["error"]["code"] == "NOT_FOUND"


async def test_an_unexpected_error_tells_nothing_internal() -> None:
    result = await call({"text": "broken"})

    assert result.structured["error"]["code"] == "INTERNAL_ERROR"
    assert "passwd" not in result.text + json.dumps(result.structured)


async def test_a_tool_that_takes_too_long_is_stopped() -> None:
    with anyio.fail_after(60):
        result = await call({"text": "slow"})

    assert result.structured["error"]["code"] == "TIMEOUT"
    assert "Citewell timed out after 0.2s." in result.text


async def test_a_call_beyond_those_that_a_process_works_on_is_told_when_to_come_again() -> None:
    busy, done = anyio.Event(), anyio.Event()
    running = 0

    async def wait(given: EchoInput, call: Call) -> EchoOutput:
        nonlocal running
        running += 1
        if running == MAX_CALLS_OF_ONE:
            busy.set()
        await done.wait()
        return EchoOutput(text=given.text)

    registry = Registry([replace(ECHO, run=wait)], timeout_seconds=60, max_response_bytes=10_000)
    results: list[ToolResult] = []

    async def ask() -> None:
        results.append(
            await registry.call("test.echo", {"text": "a"}, app=APP, caller=Caller(session="s"))
        )

    async with anyio.create_task_group() as tasks:
        for _ in range(MAX_CALLS_OF_ONE):
            tasks.start_soon(ask)
        await busy.wait()
        await ask()
        done.set()
    await ask()

    refused, first, *_, later = results
    assert refused.structured["error"]["code"] == "OVERLOADED"
    assert refused.structured["error"]["details"] == {"retry_after": 1}
    assert not first.is_error
    assert not later.is_error


async def test_an_answer_that_is_too_large_is_not_sent() -> None:
    result = await call({"text": "aaaa", "times": 10_000})

    assert result.structured["error"]["code"] == "BUDGET_EXCEEDED"


async def test_an_answer_of_too_many_tokens_is_not_sent() -> None:
    short = replace(ECHO, max_result_tokens=20)
    registry = Registry([short], timeout_seconds=60, max_response_bytes=20_000)
    caller = Caller(session="s")

    fits = await registry.call("test.echo", {"text": "a b "}, app=APP, caller=caller)
    exceeds = await registry.call(
        "test.echo", {"text": "a b ", "times": 20}, app=APP, caller=caller
    )

    assert not fits.is_error
    assert exceeds.structured["error"]["code"] == "BUDGET_EXCEEDED"


async def test_arguments_that_are_too_large_are_not_even_read() -> None:
    result = await call({"text": "a" * (MAX_ARGUMENT_BYTES + 1)})

    assert result.structured["error"]["code"] == "BUDGET_EXCEEDED"


async def test_cancelling_a_call_goes_through() -> None:
    with anyio.move_on_after(0.05) as scope:
        await call({"text": "slow"})

    assert scope.cancelled_caught


async def test_the_log_names_the_call_but_neither_secrets_nor_long_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)

    await call({"text": "x" * 900, "api_key": "sk-123", "url": "https://me:pw@example.org/"})

    assert "test.echo" in caplog.text
    assert "sk-123" not in caplog.text
    assert "me:pw" not in caplog.text
    assert "x" * 200 not in caplog.text


@pytest.mark.parametrize("name", ["test.echo", "test_echo"])
async def test_a_tool_that_lacks_a_setting_names_it_when_called(name: str) -> None:
    missing = "echo is not configured: set ECHO_URL."
    registry = Registry(
        [], timeout_seconds=60, max_response_bytes=20_000, unavailable={"test.echo": missing}
    )

    result = await registry.call(name, {}, app=APP, caller=Caller(session="s"))

    assert result.structured["error"]["type"] == "NotConfigured"
    assert result.structured["error"]["message"] == missing


@pytest.mark.parametrize(
    ("caller", "problem"),
    [
        (Caller(session="s", scopes=frozenset()), "the scope 'read'"),
        (Caller(session="s", key_hash="k", toolsets=frozenset({"kb"})), "the toolset 'research'"),
    ],
    ids=["scope", "toolset"],
)
async def test_a_caller_whose_key_is_not_for_the_tool_is_refused(
    caller: Caller, problem: str
) -> None:
    registry = Registry([ECHO], timeout_seconds=60, max_response_bytes=20_000)

    result = await registry.call("test.echo", {"text": "a"}, app=APP, caller=caller)

    assert result.structured["error"]["code"] == "SCOPE_VIOLATION"
    assert problem in result.structured["error"]["message"]


async def test_wrong_arguments_of_several_types_are_named_without_the_types() -> None:
    registry = Registry([answer.TOOL], timeout_seconds=60, max_response_bytes=20_000)

    result = await registry.call(
        "answer", {"url": [], "query": " "}, app=APP, caller=Caller(session="s")
    )

    assert result.structured["error"]["message"] == (
        "Invalid arguments: url: Input should be a valid string; "
        "url: List should have at least 1 item after validation, not 0; "
        "query: Input should not be blank"
    )
