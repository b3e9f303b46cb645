"""What access costs: calls a second with auth, limits and metering over the bare SDK's server.

    python -m bench.http_calls [--calls 1600] [--rounds 9] [--sessions 200] [--seconds 120]

First both servers answer the same trivial tool, in turns and each in a process of its own. Then
`citewell serve` holds many sessions under a steady load and is told to stop in the midst of it:
every call that was sent before must be answered, and be on record.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream
from bench.http_calls_servers import KINDS

from citewell.access.keys import OPERATOR, KeyTerms, create_key
from citewell.store.open import open_store

MODERN = "2026-07-28"
HANDSHAKE = "2025-06-18"
_PORT = re.compile(rb"port (\d+)")
_CONCURRENT = 8


class Connection:
    """One kept-alive HTTP connection, with as little client as possible around it."""

    def __init__(self, stream: anyio.abc.SocketStream, headers: Sequence[str]) -> None:
        self._stream = stream
        self._received = BufferedByteReceiveStream(stream)
        self.headers = list(headers)

    async def post(self, message: dict[str, Any], *extra: str) -> tuple[int, dict[str, str], bytes]:
        """Send a message and return status, headers and body of the answer."""
        body = json.dumps(message).encode()
        lines = [
            "POST /mcp HTTP/1.1",
            "Host: localhost",
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
            f"Content-Length: {len(body)}",
            *self.headers,
            *extra,
        ]
        await self._stream.send("\r\n".join([*lines, "", ""]).encode() + body)
        head = (await self._received.receive_until(b"\r\n\r\n", 65_536)).decode("latin-1")
        first, *rest = head.split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)
        }
        return int(first.split()[1]), headers, await self._read_body(headers)

    async def _read_body(self, headers: dict[str, str]) -> bytes:
        if "content-length" in headers:
            return await self._received.receive_exactly(int(headers["content-length"]))
        body = b""
        while size := int(await self._received.receive_until(b"\r\n", 100), 16):
            body += await self._received.receive_exactly(size)
            await self._received.receive_exactly(2)
        await self._received.receive_exactly(2)
        return body

    async def aclose(self) -> None:
        await self._stream.aclose()


def call_message(tool: str, number: int, *, modern: bool) -> dict[str, Any]:
    params: dict[str, Any] = {"name": tool, "arguments": {}}
    if modern:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


async def open_connection(port: int, token: str | None, tool: str, *, modern: bool) -> Connection:
    """Connect as a client of the era does: the older one opens a session first."""
    stream = await anyio.connect_tcp("127.0.0.1", port)
    headers = [f"Authorization: Bearer {token}"] if token else []
    if modern:
        era = [f"MCP-Protocol-Version: {MODERN}", "Mcp-Method: tools/call", f"Mcp-Name: {tool}"]
        return Connection(stream, [*headers, *era])
    connection = Connection(stream, headers)
    client = {"name": "bench", "version": "1"}
    params = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": client}
    opening = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    status, answered, body = await connection.post(opening)
    assert status == 200, body
    connection.headers.append(f"Mcp-Session-Id: {answered['mcp-session-id']}")
    connection.headers.append(f"MCP-Protocol-Version: {HANDSHAKE}")
    await connection.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return connection


async def measure(
    process: subprocess.Popen[bytes], port: int, token: str, *, calls: int, modern: bool
) -> tuple[float, float]:
    """Return calls a second, by the clock and by the server's processor time."""
    connections = [
        await open_connection(port, token, "echo", modern=modern) for _ in range(_CONCURRENT)
    ]

    async def work(connection: Connection, count: int) -> None:
        for number in range(1, count + 1):
            message = call_message("echo", number, modern=modern)
            status, _, body = await connection.post(message)
            assert status == 200, body
            assert b'"isError":false' in body or b"heron" in body, body

    for connection in connections:
        await work(connection, 20)
    started, used = time.perf_counter(), processor_seconds(process.pid)
    async with anyio.create_task_group() as tasks:
        for connection in connections:
            tasks.start_soon(work, connection, calls // _CONCURRENT)
    seconds, used = time.perf_counter() - started, processor_seconds(process.pid) - used
    for connection in connections:
        await connection.aclose()
    made = calls // _CONCURRENT * _CONCURRENT
    return made / seconds, made / used


def processor_seconds(pid: int) -> float:
    """Return what a process has used of the processors, in all its threads (Linux)."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:  # noqa: PTH123 - not a file on disk
        after_name = file.read().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running(
    command: Sequence[str], **environment: str
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Run a server until leaving; gives its process and its port."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *command], stderr=log, env=os.environ | environment
        )
        try:
            deadline = time.monotonic() + 60
            found = None
            while found is None:
                assert process.poll() is None, "the server did not start"
                assert time.monotonic() < deadline, "the server did not start in time"
                time.sleep(0.05)
                found = _PORT.search(os.pread(log.fileno(), 100_000, 0))
            yield process, int(found[1])
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(60)


async def make_key(address: str) -> str:
    store = await open_store(address)
    try:
        return (await create_key(store.access, "bench", KeyTerms(), by=OPERATOR)).token
    finally:
        await store.aclose()


async def compare(*, calls: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        address = f"sqlite:///{folder}/calls.db"
        token = await make_key(address)
        for modern in (False, True):
            found: dict[str, list[tuple[float, float]]] = {kind: [] for kind in KINDS}
            for _ in range(rounds):
                for kind in KINDS:
                    server = ["bench.http_calls_servers", kind]
                    with running(server, CITEWELL_DATABASE_URL=address) as (process, port):
                        found[kind].append(
                            await measure(process, port, token, calls=calls, modern=modern)
                        )
            tell(MODERN if modern else HANDSHAKE, found)


def tell(era: str, found: dict[str, list[tuple[float, float]]]) -> None:
    """Print both rates of both servers; a busy machine disturbs the clock more."""
    for place, by in enumerate(("by the clock", "by processor time")):
        bare, ours = ([each[place] for each in found[kind]] for kind in KINDS)
        ratio = statistics.median(one / other for one, other in zip(ours, bare, strict=True))
        print(
            f"{era}, calls/s {by}: bare {statistics.median(bare):.0f}, "
            f"ours {statistics.median(ours):.0f}, ratio {ratio:.2f}"
        )


async def hold(*, sessions: int, rate: float, seconds: float) -> bool:
    """Load a real server and stop it; return whether nothing went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        address = f"sqlite:///{folder}/hold.db"
        token = await make_key(address)
        limits = {"CITEWELL_RATE_LIMIT_PER_KEY": "0", "CITEWELL_RATE_LIMIT_PER_ADDRESS": "0"}
        serve = ["citewell", "serve", "--transport", "streamable-http", "--port", "0"]
        with running(serve, CITEWELL_DATABASE_URL=address, CITEWELL_EMBEDDER="none", **limits) as (
            process,
            port,
        ):
            load = Load(sessions=sessions, rate=rate, seconds=seconds)
            await load.run(process, port, token)
            code = process.wait(60)
        recorded = await count_recorded(address)
    times = sorted(load.milliseconds)
    print(
        f"{sessions} sessions, {rate:g} calls/s for {seconds:g} s, then SIGTERM: "
        f"{load.sent} sent, {load.answered} answered, {recorded} on record, "
        f"{len(load.errors)} errors, exit code {code}, "
        f"p50 {times[len(times) // 2]:.0f} ms, p99 {times[len(times) * 99 // 100]:.0f} ms"
    )
    for error in load.errors[:5]:
        print("  ", error)
    return not load.errors and load.sent == load.answered == recorded and code == 0


async def count_recorded(address: str) -> int:
    store = await open_store(address)
    try:
        return sum(total.calls for total in await store.access.usage())
    finally:
        await store.aclose()


class Load:
    """Sessions that take turns in calling, at a steady rate."""

    def __init__(self, *, sessions: int, rate: float, seconds: float) -> None:
        self._sessions = sessions
        self._rate = rate
        self._seconds = seconds
        self.sent = 0
        self.answered = 0
        self.errors: list[str] = []
        self.milliseconds: list[float] = []

    async def run(self, process: subprocess.Popen[bytes], port: int, token: str) -> None:
        connections = [
            await open_connection(port, token, "status", modern=False)
            for _ in range(self._sessions)
        ]
        started = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            number = 0
            while (due := number / self._rate) < self._seconds:
                await anyio.sleep(max(0.0, started + due - time.perf_counter()))
                connection = connections[number % len(connections)]
                number += 1
                tasks.start_soon(self._call, connection, number)
            # The last calls are on their way when the server is told to stop.
            async with anyio.create_task_group() as last:
                for connection in connections[:20]:
                    number += 1
                    last.start_soon(self._call, connection, number)
                await anyio.sleep(0.02)
                process.send_signal(signal.SIGTERM)
        for connection in connections:
            await connection.aclose()

    async def _call(self, connection: Connection, number: int) -> None:
        self.sent += 1
        started = time.perf_counter()
        try:
            with anyio.fail_after(30):
                message = call_message("status", number, modern=False)
                status, _, body = await connection.post(message)
        except (OSError, TimeoutError, anyio.EndOfStream, anyio.IncompleteRead) as error:
            self.errors.append(repr(error))
            return
        self.milliseconds.append((time.perf_counter() - started) * 1000)
        if status == 200 and b'"isError":false' in body:
            self.answered += 1
        else:
            self.errors.append(f"{status} {body[:200]!r}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=1_600)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--rate", type=float, default=20)
    parser.add_argument("--seconds", type=float, default=120)
    given = parser.parse_args()
    if given.rounds:
        anyio.run(lambda: compare(calls=given.calls, rounds=given.rounds))
    if not given.seconds:
        return 0
    held = anyio.run(lambda: hold(sessions=given.sessions, rate=given.rate, seconds=given.seconds))
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
