"""`ask_user` over HTTP with clients that can ask their person, in both eras of the protocol."""

from __future__ import annotations

from pathlib import Path

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import stdio_client
from tests.e2e.processes import http_server, stdio_parameters
from tests.server.shelf import Shelf
from tests.server.tiny import serving
from typing_extensions import override

from citewell.store.open import open_store

pytestmark = pytest.mark.anyio

in_both_eras = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


class Person:
    """Who sits at the client, and what they were asked."""

    def __init__(self, action: str = "accept", answer: str | None = "Soup.") -> None:
        self.asked: list[str] = []
        self.most_characters: list[int] = []
        self._action = action
        self._answer = answer

    async def reply(self, context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        self.asked.append(params.message)
        assert isinstance(params, types.ElicitRequestFormParams)
        self.most_characters.append(params.requested_schema["properties"]["answer"]["maxLength"])
        content = None if self._answer is None else {"answer": self._answer}
        return types.ElicitResult.model_validate({"action": self._action, "content": content})


@in_both_eras
async def test_the_person_at_the_client_answers(mode: str) -> None:
    person, shelf = Person(), Shelf()
    async with (
        serving(shelf, shelf.settings) as base,
        Client(f"{base}/mcp", mode=mode, elicitation_callback=person.reply) as client,
    ):
        with anyio.fail_after(60):
            result = await client.call_tool("ask_user", {"question": "What to eat?"})
            after = await client.call_tool("status", {})

    assert (person.asked, person.most_characters) == (["What to eat?"], [10_000])
    assert result.structured_content is not None
    assert result.structured_content["answer"] == "Soup."
    assert after.structured_content is not None
    assert "late_answers" not in after.structured_content


@in_both_eras
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_person_who_will_not_answer_cancels_the_question(mode: str, action: str) -> None:
    person, shelf = Person(action, None), Shelf()
    async with (
        serving(shelf, shelf.settings) as base,
        Client(f"{base}/mcp", mode=mode, elicitation_callback=person.reply) as client,
    ):
        with anyio.fail_after(60):
            result = await client.call_tool("ask_user", {"question": "What to eat?"})

    assert result.is_error
    assert result.structured_content is not None
    assert result.structured_content["error"]["type"] == "QuestionClosed"


@in_both_eras
async def test_without_a_person_at_the_client_the_question_waits_for_the_console(mode: str) -> None:
    shelf = Shelf(people_answer_timeout_seconds=0.2)
    async with (
        serving(shelf, shelf.settings) as base,
        Client(f"{base}/mcp", mode=mode) as client,
    ):
        with anyio.fail_after(60):
            result = await client.call_tool("ask_user", {"question": "What to eat?"})

    assert result.structured_content is not None
    assert result.structured_content["error"]["message"] == "timeout waiting for user response"


@pytest.mark.slow
@in_both_eras
async def test_the_person_at_a_stdio_client_answers(mode: str, tmp_path: Path) -> None:
    person = Person()
    server = stdio_client(
        stdio_parameters(tmp_path, CITEWELL_MCP_TOOLSETS="people", CITEWELL_EMBEDDER="none")
    )
    async with Client(server, mode=mode, elicitation_callback=person.reply) as client:
        with anyio.fail_after(60):
            result = await client.call_tool("ask_user", {"question": "What to eat?"})

    assert person.asked == ["What to eat?"]
    assert result.structured_content is not None
    assert result.structured_content["answer"] == "Soup."


class SlowPerson(Person):
    """Someone who answers in the console before looking at the client's form."""

    def __init__(self, *, closes_form: bool) -> None:
        super().__init__("decline", None)
        self.base = ""
        self._closes_form = closes_form

    @override
    async def reply(self, context: object, params: types.ElicitRequestParams) -> types.ElicitResult:
        address = "/mcp/tools/ask_user/api/requests"
        async with httpx2.AsyncClient(base_url=self.base, timeout=60) as http:
            pending = (await http.get(address)).json()["pending"]
            await http.post(f"{address}/{pending[0]['id']}", json={"answer": "From the console."})
        if not self._closes_form:
            await anyio.sleep_forever()
        return await super().reply(context, params)


@pytest.mark.parametrize(
    ("mode", "closes_form"),
    [("legacy", False), ("2026-07-28", True)],
    ids=["form-left-open", "form-closed"],
)
async def test_an_answer_in_the_console_counts_though_the_client_asks_too(
    mode: str, closes_form: bool
) -> None:
    person, shelf = SlowPerson(closes_form=closes_form), Shelf()
    async with (
        serving(shelf, shelf.settings) as person.base,
        Client(f"{person.base}/mcp", mode=mode, elicitation_callback=person.reply) as client,
    ):
        with anyio.fail_after(60):
            result = await client.call_tool("ask_user", {"question": "What to eat?"})

    assert result.structured_content is not None
    assert result.structured_content["answer"] == "From the console."


@in_both_eras
async def test_the_tools_that_ask_people_are_listed_for_clients_that_can_ask(mode: str) -> None:
    person, shelf = Person(), Shelf(mcp_toolsets=("default",))
    listed: list[set[str]] = []
    instructions: list[str] = []
    async with serving(shelf, shelf.settings) as base:
        for callback in (None, person.reply):
            async with Client(f"{base}/mcp", mode=mode, elicitation_callback=callback) as client:
                listed.append({tool.name for tool in (await client.list_tools()).tools})
                instructions.append(client.instructions or "")

    assert listed[1] - listed[0] == {"ask_user", "get_user_request"}
    # A client that begins in the newer era asks for no instructions.
    assert ["ask_user" in text for text in instructions] == [False, mode == "legacy"]


@in_both_eras
async def test_a_stdio_client_that_can_ask_sees_them_too(mode: str, tmp_path: Path) -> None:
    person = Person()
    listed: list[set[str]] = []
    for callback in (None, person.reply):
        transport = stdio_client(stdio_parameters(tmp_path))
        async with Client(transport, mode=mode, elicitation_callback=callback) as client:
            listed.append({tool.name for tool in (await client.list_tools()).tools})

    assert listed[1] - listed[0] == {"ask_user", "get_user_request"}


async def test_a_stop_of_the_server_leaves_the_question_open_and_the_agent_may_ask_again(
    tmp_path: Path,
) -> None:
    results: list[types.CallToolResult] = []
    messages: list[str] = []
    with http_server(tmp_path) as server:

        async def stop_server(progress: float, total: float | None, message: str | None) -> None:
            messages.append(message or "")
            # A second signal would mean that the server must not wait for anything.
            if len(messages) == 1:
                server.process.terminate()

        with anyio.fail_after(120):
            async with Client(f"{server.url}/mcp", mode="legacy") as client:
                asked = {"question": "Soup?"}
                results.append(
                    await client.call_tool("ask_user", asked, progress_callback=stop_server)
                )
        code = await anyio.to_thread.run_sync(server.wait)

    [result] = results
    assert messages[0] == f"Waiting for the user to answer at {server.url}/mcp/tools/ask_user"
    assert code == 0
    assert result.is_error
    assert result.structured_content is not None
    error = result.structured_content["error"]
    assert (error["code"], error["details"]["retryable"]) == ("BACKEND_UNAVAILABLE", True)
    store = await open_store(f"sqlite:///{tmp_path}/pages.db")
    question = await store.people.get_question(error["details"]["request_id"], owner="local")
    await store.aclose()
    assert question is not None
    assert question.state == "pending"
