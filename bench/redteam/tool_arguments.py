"""Arguments made from the schema of every tool: each call ends with a result or a clear error.

The cases keep to the schema, so that they reach past validation; most ids are of things that do
not exist. INTERNAL_ERROR, no answer at all or a server that has ended counts as got through. The
server over HTTP is on PostgreSQL, the others are on SQLite.
"""

from __future__ import annotations

import json
import random
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from anyio.streams.buffered import BufferedByteReceiveStream
from bench.redteam.attempt import Attempt, is_quick
from bench.redteam.schema_values import value_for
from tests.e2e.processes import SERVE, environment, http_server
from tests.postgres import empty_library
from tests.tools.library import EGRETS, HERONS, OWLS
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from citewell.store.open import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from anyio.streams.memory import MemoryObjectSendStream

NAME = "tool_arguments"
_CASES = 200
_QUICK_CASES = 4
# What the schema cannot say, such as the form of a cursor, refuses many.
_TRIES_PER_CASE = 5
_ANSWER_SECONDS = 120
_MOST_WAITING = 100
_FAULTS = ("INTERNAL_ERROR", "-32603", "no answer")
_MAX_LINE_BYTES = 10_000_000
_SETTINGS = {
    "CITEWELL_EMBEDDER": "none",
    "CITEWELL_MCP_TOOLSETS": "all",
    "CITEWELL_MCP_TOOL_TIMEOUT": "3",
    "CITEWELL_PEOPLE_ANSWER_TIMEOUT_SECONDS": "1",
    "CITEWELL_RATE_LIMIT_PER_KEY": "1000000",
    "CITEWELL_RATE_LIMIT_PER_ADDRESS": "1000000",
}
_CLIENT = {"name": "red team", "version": "1"}
_INITIALIZE = {
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT},
}

Message = dict[str, Any]
if TYPE_CHECKING:
    Ask = Callable[[Message], Awaitable[Message]]


async def attack() -> AsyncIterator[Attempt]:
    """Call every tool over each transport, all three at once: most of the time is waiting."""
    attempts, results = anyio.create_memory_object_stream[Attempt](_MOST_WAITING)
    with empty_library() as postgres:
        async with anyio.create_task_group() as tasks, attempts:
            for transport in _TRANSPORTS:
                database = postgres if transport == "HTTP" else None
                tasks.start_soon(_attack_over, transport, database, attempts.clone())
            attempts.close()
            async with results:
                async for attempt in results:
                    yield attempt


async def _attack_over(
    transport: str, database: str | None, attempts: MemoryObjectSendStream[Attempt]
) -> None:
    with TemporaryDirectory() as folder:
        address = database or f"sqlite:///{folder}/pages.db"
        await _fill(address)
        async with attempts, _TRANSPORTS[transport](Path(folder), address) as ask:
            async for attempt in _call_all(transport, ask):
                await attempts.send(attempt)


async def _call_all(transport: str, ask: Ask) -> AsyncIterator[Attempt]:
    listed = await ask({"method": "tools/list", "params": {}})
    chance = random.Random(7)
    cases = _QUICK_CASES if is_quick() else _CASES
    for tool in listed["result"]["tools"]:
        past_validation = tried = 0
        while past_validation < cases and tried < _TRIES_PER_CASE * cases:
            arguments = value_for(tool["inputSchema"], chance)
            what = f"{transport} {tool['name']} {json.dumps(arguments, ensure_ascii=True)[:200]}"
            outcome = await _call(ask, {"name": tool["name"], "arguments": arguments})
            tried += 1
            past_validation += outcome != "INVALID_ARGUMENT"
            yield Attempt(what=what, held=outcome not in _FAULTS, outcome=outcome)


async def _call(ask: Ask, params: Message) -> str:
    try:
        with anyio.fail_after(_ANSWER_SECONDS):
            return _outcome_of(await ask({"method": "tools/call", "params": params}))
    except TimeoutError:
        return "no answer"


def _outcome_of(answer: Message) -> str:
    if "error" in answer:
        return str(answer["error"]["code"])
    result = answer["result"]
    return str(result["structuredContent"]["error"]["code"]) if result["isError"] else "done"


async def _fill(address: str) -> None:
    store = await open_store(address)
    for page in (HERONS, EGRETS, OWLS):
        await store.put_page(page)
    await store.aclose()


@asynccontextmanager
async def _over_http(folder: Path, address: str) -> AsyncIterator[Ask]:
    headers = {"Accept": "application/json, text/event-stream"}
    with http_server(folder, CITEWELL_DATABASE_URL=address, **_SETTINGS) as server:
        async with httpx2.AsyncClient(base_url=server.url, timeout=_ANSWER_SECONDS) as http:

            async def ask(message: Message) -> Message:
                request = {"jsonrpc": "2.0", "id": 1, **message}
                answer = await http.post("/mcp", json=request, headers=headers)
                return dict(answer.json())

            yield ask


@asynccontextmanager
async def _over_websocket(folder: Path, address: str) -> AsyncIterator[Ask]:
    with http_server(folder, CITEWELL_DATABASE_URL=address, **_SETTINGS) as server:
        endpoint = connect(
            server.url.replace("http", "ws") + "/mcp",
            subprotocols=[Subprotocol("mcp")],
            max_size=None,
            open_timeout=_ANSWER_SECONDS,
        )
        async with endpoint as socket:

            async def receive() -> bytes:
                received = await socket.recv()
                return received if isinstance(received, bytes) else received.encode()

            conversation = _Conversation(socket.send, receive)
            await conversation.open()
            yield conversation.ask


@asynccontextmanager
async def _over_stdio(folder: Path, address: str) -> AsyncIterator[Ask]:
    env = environment(folder, CITEWELL_DATABASE_URL=address, **_SETTINGS)
    process = await anyio.open_process(SERVE, env=env, cwd=folder, stderr=subprocess.DEVNULL)
    async with process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, lines = process.stdin, BufferedByteReceiveStream(process.stdout)

        async def send(text: str) -> None:
            await stdin.send(text.encode() + b"\n")

        async def receive() -> bytes:
            return await lines.receive_until(b"\n", _MAX_LINE_BYTES)

        conversation = _Conversation(send, receive)
        await conversation.open()
        yield conversation.ask
        await stdin.aclose()


_TRANSPORTS = {"stdio": _over_stdio, "HTTP": _over_http, "WebSocket": _over_websocket}


class _Conversation:
    """Requests and answers, one after the other."""

    def __init__(
        self,
        send: Callable[[str], Awaitable[None]],
        receive: Callable[[], Awaitable[bytes]],
    ) -> None:
        self._send = send
        self._receive = receive
        self._asked = 0

    async def open(self) -> None:
        """Say hello."""
        await self.ask(_INITIALIZE)
        await self._send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))

    async def ask(self, message: Message) -> Message:
        """Return the answer to a message; what comes before it is passed over."""
        self._asked += 1
        await self._send(json.dumps({"jsonrpc": "2.0", "id": self._asked, **message}))
        while True:
            answer: Message = json.loads(await self._receive())
            if answer.get("id") == self._asked and "method" not in answer:
                return answer
