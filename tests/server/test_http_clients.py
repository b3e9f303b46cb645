"""MCP clients of both eras over HTTP."""

from __future__ import annotations

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from tests.server.tiny import Aviary, serving

from citewell.core.settings import Settings

pytestmark = pytest.mark.anyio

in_both_eras = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


@in_both_eras
async def test_tools_are_listed_with_underscores_and_called_by_either_name(mode: str) -> None:
    async with serving(Aviary()) as base, Client(f"{base}/mcp", mode=mode) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        underscored = await client.call_tool("bird_count", {})
        dotted = await client.call_tool("bird.count", {})

    assert listed == ["say", "bird_count", "lose", "wait"]
    assert underscored.structured_content == dotted.structured_content == {"said": "3"}


async def test_dotted_names_are_listed_when_asked_for() -> None:
    settings = Settings(mcp_tool_names="dotted")

    async with serving(Aviary(), settings) as base, Client(f"{base}/mcp", mode="legacy") as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]

    assert listed == ["say", "bird.count", "lose", "wait"]


@in_both_eras
async def test_a_result_has_text_and_structure(mode: str) -> None:
    async with serving(Aviary()) as base, Client(f"{base}/mcp", mode=mode) as client:
        result = await client.call_tool("say", {"words": "鷺"})

    assert result.content == [types.TextContent(type="text", text="It said 鷺.")]
    assert result.structured_content == {"said": "鷺"}
    assert not result.is_error


@in_both_eras
async def test_without_structured_output_the_text_is_minified_json(mode: str) -> None:
    settings = Settings(mcp_structured_output_enabled=False)

    async with serving(Aviary(), settings) as base, Client(f"{base}/mcp", mode=mode) as client:
        tool = (await client.list_tools()).tools[0]
        result = await client.call_tool("say", {"words": "鷺"})

    assert tool.output_schema is None
    assert result.structured_content is None
    assert result.content == [types.TextContent(type="text", text='{"said":"鷺"}')]


@in_both_eras
async def test_a_failed_tool_is_an_error_result(mode: str) -> None:
    async with serving(Aviary()) as base, Client(f"{base}/mcp", mode=mode) as client:
        result = await client.call_tool("lose", {})

    assert result.is_error
    assert result.structured_content is not None
    assert result.structured_content["error"]["code"] == "NOT_FOUND"
    assert result.structured_content["error"]["suggestion"] == "Look up."


@in_both_eras
async def test_an_unknown_tool_is_invalid_params(mode: str) -> None:
    async with serving(Aviary()) as base, Client(f"{base}/mcp", mode=mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("sing", {})

    assert caught.value.error.code == types.INVALID_PARAMS
    assert "say, bird_count, lose, wait" in caught.value.error.message


@in_both_eras
async def test_progress_only_goes_up_and_ends_with_its_total(mode: str) -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with serving(Aviary()) as base, Client(f"{base}/mcp", mode=mode) as client:
        await client.call_tool("bird_count", {}, progress_callback=note)

    counting = [(n, None, f"Counting {n}…") for n in (1, 2, 3)]
    assert sorted(seen) == [*counting, (4, 4, "Done")]


@in_both_eras
async def test_a_cancelled_call_stops(mode: str) -> None:
    aviary = Aviary()

    async with serving(aviary) as base, Client(f"{base}/mcp", mode=mode) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "wait", {})
            await aviary.started.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(60):
            await aviary.stopped.wait()
        result = await client.call_tool("say", {})

    assert result.structured_content == {"said": "heron"}


async def test_parts_open_with_the_first_request_and_close_with_the_server() -> None:
    aviary = Aviary()

    async with serving(aviary) as base:
        before = aviary.opened
        async with Client(f"{base}/mcp", mode="legacy") as client:
            await client.call_tool("say", {})
            await client.call_tool("say", {})
            while_running = (aviary.opened, aviary.closed)

    assert (before, while_running, aviary.closed) == (0, (1, 0), 1)


async def test_parts_that_cannot_be_opened_are_tried_again() -> None:
    aviary = Aviary(fail_opening=True)

    async with serving(aviary) as base:
        async with httpx2.AsyncClient(timeout=60) as http:
            failed = await http.post(f"{base}/mcp", json={})
        aviary.fail_opening = False
        async with Client(f"{base}/mcp", mode="legacy") as client:
            worked = await client.call_tool("say", {})

    assert (failed.status_code, "The nest is closed." in failed.text) == (503, True)
    assert not worked.is_error


async def test_parts_that_break_are_opened_again() -> None:
    aviary = Aviary()

    async with serving(aviary) as base, Client(f"{base}/mcp", mode="legacy") as client:
        await client.call_tool("say", {})
        aviary.storm.set()
        aviary.storm = anyio.Event()
        while aviary.opened == 1:
            await client.call_tool("say", {})
        worked = await client.call_tool("say", {})

    assert not worked.is_error
    assert (aviary.opened, aviary.closed) == (2, 1)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_server_tells_what_it_has_and_how_to_use_it(mode: str) -> None:
    async with serving(Aviary()) as base, Client(f"{base}/mcp", mode=mode) as client:
        capabilities = client.server_capabilities
        instructions = client.instructions or ""

    has = capabilities.model_dump(exclude_none=True)
    assert sorted(has) == ["completions", "logging", "prompts", "resources", "tools"]
    assert instructions.startswith("Prefer Citewell")


async def test_a_client_with_the_token_is_served() -> None:
    settings = Settings(mcp_auth_token="wren-7")
    aviary = Aviary()
    http = httpx2.AsyncClient(headers={"Authorization": "Bearer wren-7"}, timeout=60)

    async with serving(aviary, settings) as base, http:
        transport = streamable_http_client(f"{base}/mcp", http_client=http)
        async with Client(transport, mode="legacy") as client:
            result = await client.call_tool("say", {})

    assert not result.is_error
    assert aviary.callers[0].key_hash is not None
