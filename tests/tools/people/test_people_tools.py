"""`ask_user` and `get_user_request` through the registry, and late answers with any tool."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import anyio
import pytest
from jsonschema import Draft202012Validator
from tests.tools.library import Library, open_library

from citewell.core.people import DECLINED
from citewell.core.progress import Progress
from citewell.core.records import Caller
from citewell.core.settings import Settings
from citewell.people.desk import Party
from citewell.tools.catalog import open_registry
from citewell.tools.people import ask_user
from citewell.tools.results import ToolResult
from citewell.tools.toolsets import is_shown

pytestmark = pytest.mark.anyio

ANN = Caller(session="s", user="ann", agent="helper", key_hash="hash-ann", key_hint="9f42")
BEN = Caller(session="s", user="ben", key_hash="hash-ben")
DESK_OF_ANN = Party(owner="hash-ann", user="ann", key_hint="9f42")


async def answer_first(library: Library, answer: str) -> None:
    """Answer the first question of Ann's, as soon as there is one."""
    desk = library.parts.desk
    async for _ in desk.watch("hash-ann"):
        pending, _history = await desk.list_questions("hash-ann")
        if pending:
            await desk.answer(pending[0].question_id, answer, owner="hash-ann")
            return


async def ask(library: Library, *, answer: str) -> ToolResult:
    results: list[ToolResult] = []

    async def call() -> None:
        results.append(await library.result("ask_user", caller=ANN, question="Soup?"))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            tasks.start_soon(answer_first, library, answer)
    return results[0]


async def let_expire(library: Library) -> str:
    """Ask in Ann's name, let the question expire, and return its id."""
    with anyio.fail_after(60):
        refused = await library.call("ask_user", caller=ANN, question="Soup?")
    return str(refused["error"]["details"]["request_id"])


async def test_a_question_that_the_user_declines_is_said_to_be_so() -> None:
    async with open_library() as library:
        result = await ask(library, answer=DECLINED)

    Draft202012Validator(ask_user.TOOL.output_schema()).validate(result.structured)
    assert not result.is_error
    assert result.structured["declined"] is True
    assert result.text.startswith("The user declined to answer: there is no answer.")


async def test_the_answer_comes_back_in_both_forms() -> None:
    async with open_library() as library:
        result = await ask(library, answer="Yes, at 18:00.")

    Draft202012Validator(ask_user.TOOL.output_schema()).validate(result.structured)
    assert not result.is_error
    assert set(result.structured) == {
        "request_id",
        "question",
        "answer",
        "asked_at",
        "answered_at",
    }
    assert result.structured["answer"] == "Yes, at 18:00."
    assert result.structured["asked_at"].endswith("Z")
    for part in ("Yes, at 18:00.", result.structured["request_id"]):
        assert part in result.text


async def test_a_question_that_nobody_answers_expires() -> None:
    async with open_library(people_answer_timeout_seconds=0.1) as library:
        with anyio.fail_after(60):
            result = await library.result("ask_user", caller=ANN, question="Soup?")
        pending, history = await library.parts.desk.list_questions("hash-ann")

    assert result.is_error
    assert result.structured["error"]["code"] == "TIMEOUT"
    assert result.structured["error"]["message"] == "timeout waiting for user response"
    assert (pending, [question.state for question in history]) == ([], ["expired"])


async def test_waiting_may_take_longer_than_other_tools_may() -> None:
    async with open_library(mcp_tool_timeout=0.1, people_answer_timeout_seconds=0.3) as library:
        with anyio.fail_after(60):
            result = await library.call("ask_user", caller=ANN, question="Soup?")

    assert result["error"]["message"] == "timeout waiting for user response"


async def test_a_late_answer_goes_once_with_the_callers_next_call_of_any_tool() -> None:
    async with open_library(people_answer_timeout_seconds=0.1) as library:
        request_id = await let_expire(library)
        nothing = await library.call("status", caller=ANN)
        await library.parts.desk.answer(request_id, "Bread", owner="hash-ann")
        other = await library.call("status", caller=BEN)
        first = await library.result("status", caller=ANN)
        second = await library.call("status", caller=ANN)
        _, history = await library.parts.desk.list_questions("hash-ann")

    assert "late_answers" not in nothing | other | second
    assert [late["answer"] for late in first.structured["late_answers"]] == ["Bread"]
    assert first.structured["late_answers"][0]["request_id"] == request_id
    assert "[LATE ANSWER]" in first.text
    assert "Question: Soup?\nAnswer: Bread" in first.text
    assert history[0].is_late
    assert history[0].delivered_at is not None


async def test_a_question_that_is_declined_late_is_said_to_be_so() -> None:
    async with open_library(people_answer_timeout_seconds=0.1) as library:
        request_id = await let_expire(library)
        await library.parts.desk.answer(request_id, DECLINED, owner="hash-ann")
        later = await library.result("status", caller=ANN)

    assert later.structured["late_answers"][0]["declined"] is True
    assert "[LATE ANSWER] The user declined to answer a question" in later.text


async def test_a_late_answer_goes_to_the_conversation_that_asked() -> None:
    elsewhere = replace(ANN, session="another")
    async with open_library(people_answer_timeout_seconds=0.1) as library:
        request_id = await let_expire(library)
        await library.parts.desk.answer(request_id, "Bread", owner="hash-ann")
        other = await library.call("status", caller=elsewhere)
        own = await library.call("status", caller=ANN)

    assert "late_answers" not in other
    assert [late["answer"] for late in own["late_answers"]] == ["Bread"]


@pytest.mark.parametrize(
    ("settings", "address"),
    [
        ({"mcp_transport": "stdio"}, None),
        ({"mcp_transport": "streamable-http", "mcp_port": 8765}, "http://127.0.0.1:8765"),
        (
            {"mcp_transport": "streamable-http", "mcp_host": "0.0.0.0", "mcp_port": 80},
            "http://localhost:80",
        ),
        (
            {"mcp_transport": "streamable-http", "public_url": "https://cite.example/"},
            "https://cite.example",
        ),
    ],
)
async def test_the_first_progress_message_says_where_to_answer(
    settings: dict[str, Any], address: str | None
) -> None:
    messages: list[str] = []

    async def note(progress: Progress) -> None:
        messages.append(progress.message)

    async with open_library(people_answer_timeout_seconds=0.1, **settings) as library:
        await open_registry(library.app.settings).call(
            "ask_user", {"question": "Soup?"}, app=library.app, caller=ANN, on_progress=note
        )

    place = f" at {address}/mcp/tools/ask_user" if address else ""
    assert f"Waiting for the user to answer{place}" in messages[0]


async def test_a_late_answer_goes_with_an_error_too() -> None:
    async with open_library(people_answer_timeout_seconds=0.1) as library:
        request_id = await let_expire(library)
        await library.parts.desk.answer(request_id, "Bread", owner="hash-ann")
        failed = await library.result("fetch", caller=ANN, id="999")

    assert failed.is_error
    assert failed.structured["late_answers"][0]["answer"] == "Bread"


async def test_a_caller_that_goes_cancels_the_question_and_a_later_answer_still_arrives() -> None:
    async with open_library() as library:
        async with anyio.create_task_group() as tasks:

            async def call() -> None:
                await library.result("ask_user", caller=ANN, question="Soup?")

            tasks.start_soon(call)
            with anyio.fail_after(60):
                async for _ in library.parts.desk.watch("hash-ann"):
                    pending, _history = await library.parts.desk.list_questions("hash-ann")
                    if pending:
                        break
            tasks.cancel_scope.cancel()
        _, history = await library.parts.desk.list_questions("hash-ann")
        await library.parts.desk.answer(history[0].question_id, "Bread", owner="hash-ann")
        later = await library.call("status", caller=ANN)

    assert history[0].state == "cancelled"
    assert later["late_answers"][0]["answer"] == "Bread"


async def test_directives_come_newest_first_until_the_queue_is_empty() -> None:
    async with open_library() as library:
        for content in ("first", "second"):
            await library.parts.desk.add_directive(content, DESK_OF_ANN)
        results = [await library.call("get_user_request", caller=ANN) for _ in range(3)]

    assert [result.get("content") for result in results] == ["second", "first", None]
    assert results[2] == {"status": "empty"}
    consumed = results[0]
    assert consumed["status"] == "consumed"
    assert consumed["user_identity"] == "user:ann"
    assert consumed["key_hint"] == "9f42"
    assert consumed["task_id"] == "default"
    assert set(consumed) == {
        "request_id",
        "content",
        "task_id",
        "status",
        "created_at",
        "consumed_at",
        "user_identity",
        "key_hint",
    }


async def test_a_task_or_another_key_gets_only_its_own_directives() -> None:
    async with open_library() as library:
        await library.parts.desk.add_directive("ship", DESK_OF_ANN, task_id="release")
        other_key = await library.call("get_user_request", caller=BEN)
        other_task = await library.call("get_user_request", caller=ANN, task_id="tidy")
        mine = await library.call("get_user_request", caller=ANN, task_id="release")

    assert (other_key, other_task) == ({"status": "empty"}, {"status": "empty"})
    assert mine["content"] == "ship"


async def test_a_store_that_fails_is_told_in_the_words_of_the_manual() -> None:
    async with open_library() as library:
        await library.parts.store.aclose()
        result = await library.call("get_user_request", caller=ANN)

    assert result["error"]["message"] == "failed to fetch user request"
    assert result["error"]["code"] == "BACKEND_UNAVAILABLE"


async def test_strangers_of_an_open_server_have_no_desk() -> None:
    async with open_library(mcp_transport="streamable-http", mcp_allow_anonymous=True) as library:
        refused = await library.call("ask_user", question="Soup?")

    assert refused["error"]["message"] == "invalid authorization header"


@pytest.mark.parametrize(
    ("toolsets", "elicits", "of_key", "is_listed"),
    [
        (("default",), False, None, False),
        (("default",), True, None, True),
        (("default", "people"), False, None, True),
        (("all",), False, None, True),
        (("default",), False, frozenset({"people"}), True),
    ],
)
def test_what_asks_people_is_listed_where_it_was_asked_for_or_the_client_can_ask(
    toolsets: tuple[str, ...], elicits: bool, of_key: frozenset[str] | None, is_listed: bool
) -> None:
    registry = open_registry(Settings(mcp_toolsets=toolsets))

    assert is_shown("people", toolsets=toolsets, elicits=elicits, of_key=of_key) is is_listed
    assert is_shown("research", toolsets=toolsets, elicits=elicits, of_key=of_key)
    assert registry.find("ask_user") is not None
