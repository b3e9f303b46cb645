"""The server as a process: its streams, its signals, its exit code."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from tests.e2e.processes import SERVE, environment, http_server, run_citewell

Json = dict[str, Any]

CLIENT = {"name": "t", "version": "1"}
HANDSHAKE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}


def request(number: int, method: str, params: Json | None = None) -> bytes:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
    return json.dumps(message).encode()


@contextmanager
def stdio_process(folder: Path, **settings: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        SERVE,
        env=environment(folder, **settings),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def ask(process: subprocess.Popen[bytes], line: bytes) -> Json:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line + b"\n")
    answer: Json = json.loads(process.stdout.readline())
    return answer


def test_stdout_carries_json_rpc_alone_and_the_log_goes_to_stderr(tmp_path: Path) -> None:
    lines = [
        request(1, "initialize", HANDSHAKE),
        b"not json",
        request(2, "tools/call", {"name": "status", "arguments": {}}),
        request(3, "tools/call", {"name": "answer", "arguments": {"url": "nonsense"}}),
    ]

    with stdio_process(tmp_path, CITEWELL_MCP_LOG_LEVEL="DEBUG") as process:
        answers = [ask(process, line) for line in lines]
        rest, log = process.communicate(timeout=120)

    assert [answer["id"] for answer in answers] == [1, None, 2, 3]
    assert all(answer["jsonrpc"] == "2.0" for answer in answers)
    assert rest == b""
    assert b"server started: transport stdio" in log
    assert b"server stopped" in log
    assert process.returncode == 0


def test_a_toolset_that_does_not_exist_is_refused_before_the_server_has_started(
    tmp_path: Path,
) -> None:
    with stdio_process(tmp_path, CITEWELL_MCP_TOOLSETS="herons") as process:
        out, log = process.communicate(timeout=120)

    assert process.returncode == 2
    assert out == b""
    assert log.startswith(b"citewell: CITEWELL_MCP_TOOLSETS names 'herons'")


# The first method is one that the front answers, the second brings the SDK's server in.
@pytest.mark.parametrize(
    ("number", "method"), [(signal.SIGINT, "tools/list"), (signal.SIGTERM, "sing")]
)
def test_a_signal_ends_the_stdio_server_cleanly(
    tmp_path: Path, number: signal.Signals, method: str
) -> None:
    with stdio_process(tmp_path) as process:
        ask(process, request(1, "initialize", HANDSHAKE))
        ask(process, request(2, method))
        process.send_signal(number)
        code = process.wait(60)
        assert process.stderr is not None
        log = process.stderr.read()

    assert code == 0
    assert b"server stopped" in log
    assert b"Traceback" not in log


@pytest.mark.anyio
async def test_a_signal_ends_the_http_server_though_clients_are_connected(tmp_path: Path) -> None:
    with http_server(tmp_path) as server:
        async with Client(f"{server.url}/mcp", mode="legacy") as client:
            await client.list_tools()
            with anyio.fail_after(300):
                code = await anyio.to_thread.run_sync(server.stop)

    assert code == 0
    assert b"server stopped" in server.log
    assert b"Traceback" not in server.log


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"CITEWELL_MCP_HOST": "0.0.0.0"}, b"CITEWELL_MCP_AUTH_TOKEN"),
        ({"CITEWELL_DATABASE_URL": "oracle://x"}, b"CITEWELL_DATABASE_URL"),
        ({"CITEWELL_EMBEDDER": "crystal-ball"}, b"embedder"),
    ],
)
def test_a_wrong_setting_stops_the_http_server_with_one_line(
    tmp_path: Path, settings: dict[str, str], said: bytes
) -> None:
    with http_server(tmp_path, **settings) as server:
        code = server.wait()

    assert code == 2
    # Whether there are keys is known only once the store is open, which the log tells.
    *before, complaint = server.log.splitlines()
    assert said in complaint
    assert all(b" INFO " in line for line in before)


def test_a_port_that_is_taken_stops_the_http_server_with_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        serve = ("serve", "--transport", "streamable-http", "--port", port)
        done = run_citewell(tmp_path, *serve)

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Address already in use" in done.stderr


def test_secrets_do_not_reach_the_log(tmp_path: Path) -> None:
    with http_server(
        tmp_path, CITEWELL_MCP_LOG_LEVEL="DEBUG", CITEWELL_MCP_AUTH_TOKEN="wren-7"
    ) as server:
        arguments = {"url": "http://user:hunter2@127.0.0.1:1/", "query": "What?"}
        body = request(1, "tools/call", {"name": "answer", "arguments": arguments})
        headers = {"Authorization": "Bearer wren-7", "Content-Type": "application/json"}
        answer = httpx2.post(f"{server.url}/mcp", content=body, headers=headers, timeout=60)
        server.stop()

    assert answer.status_code == 200
    assert b"tool call answer" in server.log
    assert b"hunter2" not in server.log
    assert b"wren-7" not in server.log
