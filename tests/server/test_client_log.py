"""Log messages reach a client that asked for their level, and no other."""

from __future__ import annotations

from typing import cast

import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.server.tiny import Aviary, serving

pytestmark = pytest.mark.anyio


async def messages_of(base: str, level: types.LoggingLevel | None) -> list[object]:
    heard: list[object] = []

    async def hear(params: types.LoggingMessageNotificationParams) -> None:
        heard.append((params.level, params.logger, params.data))

    transport = streamable_http_client(f"{base}/mcp")
    async with Client(transport, mode="legacy", logging_callback=hear) as client:
        if level is not None:
            request = types.SetLevelRequest(params=types.SetLevelRequestParams(level=level))
            await client.session.send_request(request, types.EmptyResult)
        await client.call_tool("lose", {})
    return heard


async def test_a_request_of_the_sessionless_era_asks_for_itself() -> None:
    heard: list[object] = []
    wish = cast("types.RequestParamsMeta", {types.LOG_LEVEL_META_KEY: "warning"})

    async def hear(params: types.LoggingMessageNotificationParams) -> None:
        heard.append((params.level, params.data))

    async with (
        serving(Aviary()) as base,
        Client(f"{base}/mcp", mode="2026-07-28", logging_callback=hear) as client,
    ):
        await client.call_tool("lose", {})
        await client.call_tool("lose", {}, meta=wish)

    assert heard == [("error", "lose: NOT_FOUND")]


async def test_a_failed_call_is_logged_to_whoever_wants_errors() -> None:
    async with serving(Aviary()) as base:
        unasked = await messages_of(base, None)
        errors = await messages_of(base, "error")
        critical = await messages_of(base, "critical")

    assert errors == [("error", "citewell", "lose: NOT_FOUND")]
    assert unasked == critical == []
