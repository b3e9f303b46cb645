"""Lines over pipes: the stdio transport with tiny tools, and the front before it."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import Any

import anyio
import anyio.to_thread
import pytest
from tests.server.tiny import Aviary

from citewell.core.settings import Settings
from citewell.server.early_answer import EarlyAnswer
from citewell.server.jsonrpc import MAX_REQUEST_BYTES, Fault, parse_message
from citewell.server.line_session import serve_channel
from citewell.server.mcp_server import build_server
from citewell.server.plain_calls import PlainCalls, local_caller
from citewell.server.prepare_front import ask_server
from citewell.server.stdio_channel import LineChannel
from citewell.server.stdio_front import Handover, answer_until_unknown, load_prepared_answers
from citewell.server.stdio_server import serve_stdio

pytestmark = pytest.mark.anyio

Json = dict[str, Any]

CLIENT = {"name": "t", "version": "1"}
ENVELOPE = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": CLIENT,
    }
}
INITIALIZED: Json = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(number: int, method: str, params: Json | None = None) -> Json:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def initialize(version: str = "2025-11-25") -> Json:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT}
    return request(1, "initialize", params)


def as_line(message: Json) -> bytes:
    return json.dumps(message).encode()


@dataclass
class Peer:
    """The client's end of the pipes."""

    channel: LineChannel

    async def send(self, *messages: Json | bytes) -> None:
        for message in messages:
            self.channel.write_line(message if isinstance(message, bytes) else as_line(message))

    async def receive(self) -> Json:
        with anyio.fail_after(60):
            line = await anyio.to_thread.run_sync(self.channel.read_line)
        assert line is not None, "the server closed the channel"
        answer: Json = json.loads(line)
        return answer


def channel_of(end: socket.socket) -> LineChannel:
    return LineChannel(end.fileno(), end.fileno())


@asynccontextmanager
async def talking(
    aviary: Aviary, handover: Handover | None = None, *, early: EarlyAnswer | None = None
) -> AsyncIterator[Peer]:
    """Serve the tiny tools to a peer until it hangs up."""
    settings = Settings()
    near, far = socket.socketpair()
    with near, far:
        async with aviary.open_app(settings) as app:
            server = build_server(aviary.registry(), app, settings=settings)
            async with anyio.create_task_group() as tasks:
                channel = channel_of(near)
                serve = partial(serve_channel, server, channel, early=early)
                tasks.start_soon(serve, handover or Handover())
                if early is not None:
                    tasks.start_soon(early.give, channel)
                yield Peer(channel_of(far))
                far.shutdown(socket.SHUT_WR)


def front_answers(*messages: Json | bytes) -> tuple[list[Json], Handover | None]:
    """Return what the front answers to the messages, and what it hands over."""
    prepared = load_prepared_answers(Settings())
    assert prepared is not None
    near, far = socket.socketpair()
    with near, far:
        for message in messages:
            line = message if isinstance(message, bytes) else as_line(message)
            channel_of(far).write_line(line)
        far.shutdown(socket.SHUT_WR)
        handover = answer_until_unknown(channel_of(near), prepared)
        near.shutdown(socket.SHUT_WR)
        answers = [json.loads(line) for line in iter(channel_of(far).read_line, None)]
    return answers, handover


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_the_handshake_era_is_served(version: str) -> None:
    async with talking(Aviary()) as peer:
        await peer.send(initialize(version), INITIALIZED, request(2, "tools/list"))
        opened, listed = await peer.receive(), await peer.receive()

    assert opened["result"]["protocolVersion"] == version
    assert listed["id"] == 2
    assert listed["result"]["tools"][1]["name"] == "bird_count"


async def test_the_sessionless_era_is_served() -> None:
    call = {**ENVELOPE, "name": "say", "arguments": {"words": "wren"}}

    async with talking(Aviary()) as peer:
        await peer.send(request(1, "server/discover", ENVELOPE))
        discovered = await peer.receive()
        await peer.send(request(2, "tools/call", call))
        called = await peer.receive()

    assert discovered["result"]["supportedVersions"] == ["2026-07-28"]
    assert called["result"]["structuredContent"] == {"said": "wren"}


async def test_lines_that_are_no_messages_get_their_json_rpc_code() -> None:
    expected: list[tuple[bytes, int, int | None]] = [
        (b"{nonsense", -32700, None),
        (b"\xff\xfe", -32700, None),
        (as_line(request(3, "ping")).replace(b"2.0", b"1.0"), -32600, 3),
        (b"[]", -32600, None),
        (b'{"jsonrpc": "2.0", "id": 4, "method": "sing"}', -32601, 4),
        (b'{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": 7}', -32602, 5),
    ]
    got: list[tuple[int, int | None]] = []

    async with talking(Aviary()) as peer:
        await peer.send(initialize())
        await peer.receive()
        for line, _, _ in expected:
            await peer.send(b"", line)
            answer = await peer.receive()
            got.append((answer["error"]["code"], answer["id"]))

    assert got == [(code, request_id) for _, code, request_id in expected]


async def test_a_cancelled_call_stops_and_is_not_answered() -> None:
    aviary = Aviary()
    cancel = {"method": "notifications/cancelled", "params": {"requestId": 2}}

    async with talking(aviary) as peer:
        await peer.send(initialize(), INITIALIZED, request(2, "tools/call", {"name": "wait"}))
        await peer.receive()
        await aviary.started.wait()
        await peer.send({"jsonrpc": "2.0", **cancel})
        with anyio.fail_after(60):
            await aviary.stopped.wait()
        await peer.send(request(3, "ping"))
        after = await peer.receive()

    assert after["id"] == 3


async def test_a_call_stops_when_the_client_hangs_up() -> None:
    aviary = Aviary()

    async with talking(aviary) as peer:
        await peer.send(initialize(), INITIALIZED, request(2, "tools/call", {"name": "wait"}))
        await aviary.started.wait()

    assert aviary.stopped.is_set()
    assert aviary.closed == 1


async def test_all_calls_over_one_pipe_are_of_one_session() -> None:
    aviary = Aviary()

    async with talking(aviary) as peer:
        await peer.send(initialize(), INITIALIZED)
        await peer.receive()
        for number in (2, 3):
            await peer.send(request(number, "tools/call", {"name": "say"}))
            await peer.receive()

    assert aviary.callers[0] == aviary.callers[1]
    assert aviary.callers[0].session


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "1999-01-01"])
async def test_the_front_answers_the_handshake_as_the_server_does(version: str) -> None:
    expected = await ask_server(Settings())

    answers, handover = front_answers(
        initialize(version),
        INITIALIZED,
        request(2, "ping"),
        request(3, "tools/list"),
        request(4, "prompts/list"),
    )

    negotiated = "2025-11-25" if version == "1999-01-01" else version
    opened = {**expected["handshake"]["initialize"], "protocolVersion": negotiated}
    lists = [expected["handshake"][method] for method in ("tools/list", "prompts/list")]
    assert [answer["result"] for answer in answers] == [opened, {}, *lists]
    assert [answer["id"] for answer in answers] == [1, 2, 3, 4]
    assert handover is None


async def test_the_front_answers_the_sessionless_era_as_the_server_does() -> None:
    expected = await ask_server(Settings())
    methods = ["server/discover", "tools/list", "prompts/list", "resources/templates/list"]

    answers, handover = front_answers(
        *(request(number, method, ENVELOPE) for number, method in enumerate(methods, start=1))
    )

    assert [answer["result"] for answer in answers] == [expected["modern"][m] for m in methods]
    assert handover is None


async def test_the_front_hands_over_what_it_does_not_know() -> None:
    call = request(2, "tools/call", {"name": "say"})

    answers, handover = front_answers(initialize(), INITIALIZED, call, request(3, "ping"))

    assert len(answers) == 1
    assert handover == Handover(
        lines=(as_line(initialize()), as_line(INITIALIZED), as_line(call)), answered_id=1
    )


@pytest.mark.parametrize(
    ("opening", "meta", "is_early"),
    [
        ([initialize(), INITIALIZED], {}, True),
        ([initialize(), INITIALIZED], {"progressToken": 1}, True),
        ([initialize()], {}, False),
        ([initialize("2025-03-26"), INITIALIZED], {}, False),
        ([request(1, "server/discover", ENVELOPE)], ENVELOPE["_meta"], True),
        ([request(1, "server/discover", ENVELOPE)], {}, False),
    ],
)
async def test_a_first_search_needs_no_sdk_where_results_are_whole(
    opening: list[Json], meta: Json, is_early: bool
) -> None:
    call = request(2, "tools/call", {"name": "search", "arguments": {}, "_meta": meta})

    _, handover = front_answers(*opening, call)

    assert handover is not None
    assert (handover.early is not None) is is_early


@pytest.mark.parametrize(
    ("opening", "meta"),
    [
        ([initialize(), INITIALIZED], {"progressToken": 1}),
        ([request(1, "server/discover", ENVELOPE)], ENVELOPE["_meta"]),
    ],
    ids=["handshake", "sessionless"],
)
async def test_the_first_search_is_answered_as_the_next_one_is(
    opening: list[Json], meta: Json
) -> None:
    settings = Settings(database_url="sqlite://", embedder="none")
    search = {"name": "search", "arguments": {"query": "Where do herons nest?"}, "_meta": meta}
    _, handover = front_answers(*opening, request(2, "tools/call", search))
    assert handover is not None
    near, far = socket.socketpair()

    with near, far:
        peer = Peer(channel_of(far))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve_stdio, settings, channel_of(near), handover)
            early = await peer.receive()
            await peer.send(request(3, "tools/call", search))
            while (late := await peer.receive()).get("id") is None:
                assert late["method"] == "notifications/progress"
            far.shutdown(socket.SHUT_WR)

    # Only how long they took differs.
    for answer in (early, late):
        answer["result"]["content"] = len(answer["result"]["content"])
        del answer["result"]["structuredContent"]["stats"]["total_ms"]
    assert early["result"]["structuredContent"]["sources"] == []
    assert early == {**late, "id": 2}


async def test_a_call_that_is_answered_early_can_be_cancelled() -> None:
    aviary = Aviary()
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}

    async with aviary.open_app(Settings()) as app:
        calls = PlainCalls(aviary.registry(), app)
        call = calls.find(request(2, "tools/call", {"name": "wait"}))
        assert call is not None
        early = EarlyAnswer(calls, call, local_caller(""), modern=False)
        handover = Handover(lines=(as_line(initialize()), as_line(INITIALIZED)), answered_id=1)
        async with talking(Aviary(), handover, early=early) as peer:
            await aviary.started.wait()
            await peer.send({**cancel, "params": {"requestId": 5}}, request(3, "ping"))
            meanwhile = await peer.receive()
            was_running = not aviary.stopped.is_set()
            await peer.send(cancel, request(4, "ping"))
            with anyio.fail_after(60):
                await early.is_over.wait()
            after = await peer.receive()

    assert (meanwhile["id"], was_running, after["id"]) == (3, True, 4)
    assert aviary.stopped.is_set()


@pytest.mark.parametrize(
    "odd",
    [
        b"{nonsense",
        request(1, "tools/list"),
        request(1, "initialize"),
        request(1, "server/discover"),
        request(1, "tools/list", {**ENVELOPE, "cursor": "x"}),
        request(1, "tools/list", {"_meta": {**ENVELOPE["_meta"], "x": 1}} | {"y": 1}),
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        INITIALIZED,
    ],
)
async def test_the_front_leaves_an_odd_opening_to_the_server(odd: Json | bytes) -> None:
    answers, handover = front_answers(odd)

    line = odd if isinstance(odd, bytes) else as_line(odd)
    assert answers == []
    assert handover == Handover(lines=(line,))


async def test_the_front_does_not_mix_the_eras() -> None:
    answers, handover = front_answers(
        request(1, "server/discover", ENVELOPE), initialize() | {"id": 2}
    )

    assert len(answers) == 1
    assert handover is not None
    assert handover.answered_id == 1


async def test_the_server_goes_on_where_the_front_stopped() -> None:
    call = request(2, "tools/call", {"name": "say"})
    lines = (as_line(initialize()), as_line(INITIALIZED), as_line(call))

    async with talking(Aviary(), Handover(lines=lines, answered_id=1)) as peer:
        first = await peer.receive()
        await peer.send(request(1, "ping"))
        second = await peer.receive()

    assert (first["id"], first["result"]["structuredContent"]) == (2, {"said": "heron"})
    assert (second["id"], second["result"]) == (1, {})


@pytest.mark.parametrize(
    ("module", "others"),
    [
        ("citewell.server.run", {"mcp", "anyio", "pydantic", "starlette", "asyncio", "numpy"}),
        ("citewell.server.stdio_server", {"mcp", "mcp_types", "starlette"}),
    ],
)
def test_the_first_answers_need_no_sdk(module: str, others: set[str]) -> None:
    program = (
        f"import sys, {module};"
        f"heavy = {others} & set(sys.modules);"
        "sys.exit(repr(heavy) if heavy else 0)"
    )

    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)

    assert done.stderr == b""
    assert done.returncode == 0


def test_of_an_endless_line_no_more_is_kept_than_says_that_it_is_too_long() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        lines = b"x" * 9_000_000 + b"\n" + b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
        writer = Thread(target=theirs.sendall, args=(lines,), daemon=True)
        writer.start()
        channel = channel_of(ours)
        first, second = channel.read_line(), channel.read_line()
        writer.join(timeout=60)

    assert first is not None
    assert MAX_REQUEST_BYTES < len(first) < MAX_REQUEST_BYTES + 100_000
    assert isinstance(parse_message(first), Fault)
    assert second == b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
