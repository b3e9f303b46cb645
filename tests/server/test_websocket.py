"""MCP over WebSocket: the same server, behind the same door."""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.messages import INITIALIZE
from tests.server.test_http_access import LIST, bearer, call, make_keys
from tests.server.tiny import Aviary, serving
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin, Subprotocol

from citewell.access.keys import OPERATOR, KeyTerms, revoke_key
from citewell.core.settings import Settings
from citewell.server.jsonrpc import MAX_REQUEST_BYTES
from citewell.store.open import open_store

pytestmark = pytest.mark.anyio

INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
MCP = [Subprotocol("mcp")]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(database_url=f"sqlite://{tmp_path}/access.db")


def dial(base: str, token: str | None = None) -> AbstractAsyncContextManager[ClientConnection]:
    address = base.replace("http", "ws") + "/mcp"
    headers = bearer(token) if token else {}
    return connect(address, subprotocols=MCP, additional_headers=headers, max_size=None)


async def ask(socket: ClientConnection, message: dict[str, Any]) -> dict[str, Any]:
    """Send a request and return its answer; what comes before it is passed over."""
    await socket.send(json.dumps(message))
    while True:
        answer: dict[str, Any] = json.loads(await socket.recv())
        if answer.get("id") == message["id"]:
            return answer


async def open_session(socket: ClientConnection) -> dict[str, Any]:
    answer = await ask(socket, INITIALIZE)
    await socket.send(json.dumps(INITIALIZED))
    return answer


async def test_a_session_is_opened_and_tools_are_called(settings: Settings) -> None:
    aviary = Aviary()

    async with serving(aviary, settings) as base, dial(base) as socket:
        opened = await open_session(socket)
        called = await ask(socket, call("say", words="鷺"))
        again = await ask(socket, call("say") | {"id": "second"})
        subprotocol = socket.subprotocol

    assert subprotocol == "mcp"
    assert opened["result"]["serverInfo"]["name"] == "citewell"
    assert called["result"]["structuredContent"] == {"said": "鷺"}
    assert again["result"]["structuredContent"] == {"said": "heron"}
    assert aviary.callers[0].session == aviary.callers[1].session


async def test_two_connections_are_two_sessions(settings: Settings) -> None:
    aviary = Aviary()

    async with serving(aviary, settings) as base, dial(base) as one, dial(base) as other:
        for socket in (one, other):
            await open_session(socket)
            await ask(socket, call("say"))

    assert aviary.callers[0].session != aviary.callers[1].session


async def test_progress_comes_before_the_answer(settings: Settings) -> None:
    message = call("bird_count")
    message["params"]["_meta"] = {"progressToken": 7}

    async with serving(Aviary(), settings) as base, dial(base) as socket:
        await open_session(socket)
        await socket.send(json.dumps(message))
        first = json.loads(await socket.recv())

    assert first["method"] == "notifications/progress"
    assert first["params"]["message"] == "Counting 1…"


async def test_the_door_is_that_of_http(settings: Settings) -> None:
    guarded = replace(settings, mcp_auth_token="wren-7")
    statuses = []

    async with serving(Aviary(), guarded) as base:
        address = base.replace("http", "ws") + "/mcp"
        for headers, origin, offered in (
            ({}, None, MCP),
            (bearer("wrong"), None, MCP),
            (bearer("wren-7"), "https://evil.example", MCP),
            (bearer("wren-7"), None, [Subprotocol("chat")]),
        ):
            with pytest.raises(InvalidStatus) as caught:
                async with connect(
                    address,
                    additional_headers=headers,
                    origin=Origin(origin) if origin else None,
                    subprotocols=offered,
                ):
                    pass
            statuses.append(caught.value.response.status_code)
            challenge = caught.value.response.headers.get("WWW-Authenticate")
            assert (challenge is not None) == (statuses[-1] == 401)
        async with dial(base, "wren-7") as socket:
            opened = await open_session(socket)

    assert statuses == [401, 401, 403, 400]
    assert "result" in opened


async def test_scopes_limits_and_faults_are_answers(settings: Settings) -> None:
    tokens = await make_keys(settings, reader=KeyTerms(scope="read"))
    limited = replace(settings, rate_limit_per_key=3)

    async with serving(Aviary(), limited) as base, dial(base, tokens["reader"]) as socket:
        await open_session(socket)
        forbidden = await ask(socket, call("lose"))
        listed = await ask(socket, LIST)
        limit = await ask(socket, LIST)
        await socket.send("{nonsense")
        fault = json.loads(await socket.recv())

    assert forbidden["error"]["code"] == -32600
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["say", "bird_count", "wait"]
    assert (limit["error"]["code"], limit["error"]["data"]["retryAfter"] > 0) == (-32000, True)
    assert fault["error"]["code"] == -32700


async def test_messages_count_as_requests_of_their_address(settings: Settings) -> None:
    # The handshake, the two messages that open the session, and one more.
    limited = replace(settings, rate_limit_per_address=4)

    async with serving(Aviary(), limited) as base, dial(base) as socket:
        await open_session(socket)
        listed = await ask(socket, LIST)
        limit = await ask(socket, LIST)

    assert "result" in listed
    assert (limit["error"]["code"], limit["error"]["data"]["retryAfter"] > 0) == (-32000, True)


async def test_a_revoked_key_loses_its_connection(settings: Settings) -> None:
    tokens = await make_keys(settings, ann=KeyTerms())
    store = await open_store(settings.database_url)

    async with serving(Aviary(), settings) as base, dial(base, tokens["ann"]) as socket:
        await open_session(socket)
        await revoke_key(store.access, "ann", by=OPERATOR)
        code = await code_of_close(socket, json.dumps(LIST))
    await store.aclose()

    assert code == 1008


async def code_of_close(socket: ClientConnection, frame: str | bytes) -> int:
    """Send a frame again and again until the server closes, and return the code it gives."""
    with anyio.fail_after(60):
        with suppress(ConnectionClosed):
            while True:
                await socket.send(frame)
                await socket.recv()
        await socket.wait_closed()
    return socket.close_code or 0


async def test_a_call_stops_when_its_connection_goes(settings: Settings) -> None:
    aviary = Aviary()

    async with serving(aviary, settings) as base:
        async with dial(base) as socket:
            await open_session(socket)
            await socket.send(json.dumps(call("wait")))
            await aviary.started.wait()
        with anyio.fail_after(60):
            await aviary.stopped.wait()

    assert aviary.stopped.is_set()


async def test_a_frame_that_is_binary_or_too_large_ends_the_connection(settings: Settings) -> None:
    async with serving(Aviary(), settings) as base:
        async with dial(base) as socket:
            binary = await code_of_close(socket, b"binary")
        async with dial(base) as socket:
            large = await code_of_close(socket, "x" * (MAX_REQUEST_BYTES + 1))

    assert (binary, large) == (1003, 1009)
