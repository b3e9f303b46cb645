"""Callers without a key: one address, however many sessions it opens, leaves room for others."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from tests.messages import INITIALIZE
from tests.server.test_http_access import bearer, make_keys
from tests.server.tiny import Aviary, Said, Words, serving
from typing_extensions import override
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from citewell.access.keys import KeyTerms
from citewell.core.settings import Settings
from citewell.server.open_sessions import MAX_SESSIONS_OF_CALLER
from citewell.tools.load import MAX_CALLS, MAX_CALLS_OF_ONE
from citewell.tools.tool import Call

pytestmark = pytest.mark.anyio

ONE = {"X-Forwarded-For": "203.0.113.1"}
OTHER = {"X-Forwarded-For": "198.51.100.2"}
ACCEPT = {"Accept": "application/json, text/event-stream"}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
# More than all places, though not for either of the two who send half of them.
CROWD = MAX_CALLS + 20
PUBLIC = Settings(mcp_allow_anonymous=True, mcp_allowed_hosts=("docs.example",))
UNLIMITED = replace(PUBLIC, rate_limit_per_address=10_000)


def call(name: str, number: int) -> dict[str, Any]:
    params = {"name": name, "arguments": {}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@dataclass
class Crowd(Aviary):
    """Knows when each call of a crowd runs or was refused."""

    running: int = 0
    refusals: list[str] = field(default_factory=list)
    settled: anyio.Event = field(default_factory=anyio.Event)

    @override
    async def _wait(self, given: Words, call: Call) -> Said:
        self.running += 1
        self.note()
        await anyio.sleep_forever()
        return Said(said="never")

    def refuse(self, answer: str) -> None:
        self.refusals.append(answer)
        self.note()

    def note(self) -> None:
        if self.running + len(self.refusals) == CROWD:
            self.settled.set()


@asynccontextmanager
async def browsing(
    aviary: Aviary, settings: Settings = PUBLIC
) -> AsyncIterator[httpx2.AsyncClient]:
    limits = httpx2.Limits(max_connections=None)
    async with (
        serving(aviary, settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60, limits=limits) as http,
    ):
        yield http


async def in_a_session(http: httpx2.AsyncClient, address: dict[str, str]) -> dict[str, str]:
    """Open a session, and return the headers of a request in it."""
    opened = await http.post("/mcp", json=INITIALIZE, headers=ACCEPT | address)
    headers = ACCEPT | address | {"MCP-Protocol-Version": "2025-06-18"}
    headers["Mcp-Session-Id"] = opened.headers["mcp-session-id"]
    await http.post("/mcp", json=INITIALIZED, headers=headers)
    return headers


def dial(http: httpx2.AsyncClient, address: dict[str, str]) -> connect:
    url = str(http.base_url).replace("http", "ws").rstrip("/") + "/mcp"
    return connect(url, subprotocols=[Subprotocol("mcp")], additional_headers=address)


async def say(http: httpx2.AsyncClient, headers: dict[str, str]) -> str:
    return (await http.post("/mcp", json=call("say", 1), headers=headers)).text


@pytest.mark.parametrize("means", ["sessions", "invented tokens"])
async def test_requests_of_one_address_have_one_share(means: str) -> None:
    crowd = Crowd()

    async def ask(headers: dict[str, str], number: int) -> None:
        answer = await http.post("/mcp", json=call("wait", number), headers=headers)
        crowd.refuse(answer.text)

    async with browsing(crowd) as http:
        if means == "sessions":
            senders = [await in_a_session(http, ONE) for _ in range(2)]
        else:
            senders = [ONE | bearer(f"invented-{number}") for number in range(2)]
        async with anyio.create_task_group() as tasks:
            for number in range(CROWD):
                tasks.start_soon(ask, senders[number % 2], number)
            with anyio.fail_after(120):
                await crowd.settled.wait()
            served = [await say(http, OTHER), await say(http, await in_a_session(http, OTHER))]
            tasks.cancel_scope.cancel()

    assert ["It said heron." in answer for answer in served] == [True, True]
    assert crowd.running == MAX_CALLS_OF_ONE
    assert all("75 of your own calls" in answer for answer in crowd.refusals)


async def test_connections_of_one_address_have_one_share() -> None:
    crowd = Crowd()

    async def ask(socket: ClientConnection) -> None:
        await socket.send(json.dumps(INITIALIZE))
        await socket.recv()
        await socket.send(json.dumps(INITIALIZED))
        for number in range(CROWD // 2):
            await socket.send(json.dumps(call("wait", number + 2)))
        async for answer in socket:
            crowd.refuse(str(answer))

    async with browsing(crowd) as http, AsyncExitStack() as sockets:
        both = [await sockets.enter_async_context(dial(http, ONE)) for _ in range(2)]
        async with anyio.create_task_group() as tasks:
            for socket in both:
                tasks.start_soon(ask, socket)
            with anyio.fail_after(120):
                await crowd.settled.wait()
            served = await say(http, OTHER)
            tasks.cancel_scope.cancel()

    assert "It said heron." in served
    assert crowd.running == MAX_CALLS_OF_ONE


async def test_two_keys_behind_one_address_have_a_share_each(tmp_path: Path) -> None:
    settings = Settings(database_url=f"sqlite://{tmp_path}/access.db")
    tokens = await make_keys(settings, ann=KeyTerms(), bob=KeyTerms())
    aviary = Aviary()

    async with browsing(aviary, settings) as http:
        for token in tokens.values():
            await say(http, ONE | bearer(token))

    ann, bob = (caller.share for caller in aviary.callers)
    assert None not in {ann, bob}
    assert ann != bob


async def test_an_address_can_open_so_many_sessions_and_leaves_the_others() -> None:
    statuses = Counter[int]()

    async def open_session(address: dict[str, str], number: int) -> int:
        message = INITIALIZE | {"id": number}
        opened = await http.post("/mcp", json=message, headers=ACCEPT | address)
        statuses[opened.status_code] += 1
        return opened.status_code

    async with browsing(Aviary(), UNLIMITED) as http:
        first = await in_a_session(http, ONE)
        for number in range(2, MAX_SESSIONS_OF_CALLER + 1):
            await open_session(ONE, number)
        further = [await open_session(each, 0) for each in (ONE, OTHER)]
        await http.delete("/mcp", headers=first)
        further.append(await open_session(ONE, 0))

    assert further == [429, 200, 200]
    assert statuses == {200: MAX_SESSIONS_OF_CALLER + 1, 429: 1}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process may open fewer files")
async def test_an_address_can_open_so_many_websockets_and_leaves_the_others() -> None:
    async with browsing(Aviary(), UNLIMITED) as http, AsyncExitStack() as sockets:
        for _ in range(MAX_SESSIONS_OF_CALLER - 1):
            await sockets.enter_async_context(dial(http, ONE))
        async with dial(http, ONE), dial(http, OTHER):
            with pytest.raises(InvalidStatus) as refused:
                async with dial(http, ONE):
                    pass
        async with dial(http, ONE):
            pass

    assert refused.value.response.status_code == 429


async def test_an_address_of_ipv6_is_its_network() -> None:
    aviary = Aviary()

    async with browsing(aviary) as http:
        for host in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "::ffff:192.0.2.7"):
            await say(http, {"X-Forwarded-For": host})

    assert [caller.share for caller in aviary.callers] == [
        "address 2001:db8::/64",
        "address 2001:db8::/64",
        "address 2001:db8:0:1::/64",
        "address 192.0.2.7",
    ]
