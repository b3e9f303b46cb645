"""The searches of `bench.cluster`, sent as bytes that cost little, and what each process spends."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import ByteStream
from anyio.streams.buffered import BufferedByteReceiveStream
from bench.cluster_processes import AUTHORIZATION, Cluster, Process

MOST_BYTES = 2**20
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Searched:
    """How many searches were answered, in how long, and what they took of the cores."""

    done: int
    seconds: float
    server_seconds: float
    postgres_seconds: float
    asking_seconds: float

    @property
    def rate(self) -> float:
        return self.done / self.seconds

    def per_search(self) -> str:
        """What one took in each process."""
        parts = (
            ("server", self.server_seconds),
            ("PostgreSQL", self.postgres_seconds),
            ("asking", self.asking_seconds),
        )
        return ", ".join(f"{name} {1000 * spent / self.done:.1f}" for name, spent in parts)


async def search_at_once(
    cluster: Cluster, *, servers: int, at_once: int, seconds: float
) -> Searched:
    """Let so many callers search as fast as they are answered, spread over the first servers."""
    end = time.monotonic() + seconds
    done = 0

    async def search(number: int) -> None:
        nonlocal done
        port = cluster.servers[number % servers].port
        assert port is not None, "a server has a port"
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            answers = BufferedByteReceiveStream(stream)
            while time.monotonic() < end:
                number += at_once
                await _ask(stream, answers, query=f"heron number {number} eats fish")
                done += 1

    before = _spent(cluster)
    began = time.monotonic()
    async with anyio.create_task_group() as tasks:
        for number in range(at_once):
            tasks.start_soon(search, number)
    spent = [after - start for after, start in zip(_spent(cluster), before, strict=True)]
    return Searched(done, time.monotonic() - began, *spent)


async def _ask(stream: ByteStream, answers: BufferedByteReceiveStream, *, query: str) -> None:
    params = {"name": "search", "arguments": {"query": query}}
    body = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    ).encode()
    head = (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n"
        f"Content-Type: application/json\r\nAuthorization: {AUTHORIZATION}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    await stream.send(head.encode() + body)
    answer_head = (await answers.receive_until(b"\r\n\r\n", MOST_BYTES)).lower()
    assert answer_head.startswith(b"http/1.1 200"), answer_head
    length = int(answer_head.partition(b"content-length:")[2].split(b"\r\n")[0])
    answer = await answers.receive_exactly(length)
    assert b'"isError":true' not in answer, answer


def _spent(cluster: Cluster) -> tuple[float, float, float]:
    """Seconds of a core so far: of the servers, of PostgreSQL, and of this process."""
    postgres = cluster.postgres.process_id
    children = Path(f"/proc/{postgres}/task/{postgres}/children").read_text(encoding="ascii")
    return (
        sum(_cpu_seconds(_process_id(server)) for server in cluster.servers),
        sum(_cpu_seconds(pid) for pid in [postgres, *map(int, children.split())]),
        time.process_time(),
    )


def _process_id(process: Process) -> int:
    assert process.running is not None, "the server runs"
    return process.running.pid


def _cpu_seconds(process_id: int | str) -> float:
    """What the process has used, children that have ended included."""
    stat = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8")
    # The name before it may hold spaces.
    fields: Sequence[str] = stat.rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS
