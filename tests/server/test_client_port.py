"""Tools that ask the client's own model, over HTTP, in both eras of the protocol."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from tests.server.tiny import Said, Words, in_memory, serving

from citewell.app.open import App, open_app
from citewell.core.settings import Settings
from citewell.tools.registry import Registry
from citewell.tools.tool import Annotations, Call, Tool

pytestmark = pytest.mark.anyio

in_both_eras = pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])


class Poet:
    """One tool, which returns what the client's model wrote."""

    def registry(self) -> Registry:
        tool: Tool[Any, Any] = Tool(
            name="rhyme",
            toolset="research",
            title="Rhyme",
            description="Rhyme.",
            annotations=Annotations(read_only=True),
            needs=(),
            run=_rhyme,
            render=lambda said, call: str(said.said),
            example={},
            asks_client=True,
        )
        return Registry([tool], timeout_seconds=60, max_response_bytes=100_000)

    def open_app(self, settings: Settings) -> AbstractAsyncContextManager[App]:
        return open_app(in_memory(settings))


async def _rhyme(given: Words, call: Call) -> Said:
    assert call.client is not None
    written = await call.client.sample(f"Rhyme on {given.words}", max_tokens=50)
    return Said(said=written or "nothing")


async def _write(
    context: object, params: types.CreateMessageRequestParams
) -> types.CreateMessageResult:
    asked = params.messages[0].content
    assert isinstance(asked, types.TextContent)
    text = f"{asked.text}: a mare on"
    return types.CreateMessageResult(
        role="assistant", content=types.TextContent(type="text", text=text), model="pen"
    )


async def _refuse(context: object, params: types.CreateMessageRequestParams) -> types.ErrorData:
    return types.ErrorData(code=types.INVALID_REQUEST, message="The user said no.")


@in_both_eras
async def test_a_tool_gets_what_the_clients_model_writes(mode: str) -> None:
    async with (
        serving(Poet()) as base,
        Client(f"{base}/mcp", mode=mode, sampling_callback=_write) as client,
    ):
        result = await client.call_tool("rhyme", {"words": "heron"})

    assert result.structured_content == {"said": "Rhyme on heron: a mare on"}


@in_both_eras
async def test_a_client_without_a_model_is_not_asked(mode: str) -> None:
    async with serving(Poet()) as base, Client(f"{base}/mcp", mode=mode) as client:
        result = await client.call_tool("rhyme", {"words": "heron"})

    assert result.structured_content == {"said": "nothing"}


async def test_a_client_that_refuses_does_not_fail_the_tool() -> None:
    async with (
        serving(Poet()) as base,
        Client(f"{base}/mcp", mode="legacy", sampling_callback=_refuse) as client,
    ):
        result = await client.call_tool("rhyme", {"words": "heron"})

    assert result.structured_content == {"said": "nothing"}
