"""Several server processes on one port: sessions, limits, death and the end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
]

_SECONDS = 120
_ADDRESS = re.compile(r"MCP http://127\.0\.0\.1:(\d+)/mcp")
OPENING = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


def command_in(folder: Path, *options: str, **settings: str) -> list[str]:
    """Return the command of a server of two processes with its settings in a file."""
    file = folder / "settings.env"
    values = {"EMBEDDER": "none", **settings}
    lines = [f"CITEWELL_{name}={value}\n" for name, value in values.items()]
    file.write_text("".join(lines), encoding="utf-8")
    return [
        *(sys.executable, "-m", "citewell", "serve", "--transport", "streamable-http"),
        *("--port", "0", "--workers", "2", "--env-file", str(file)),
        *("--database", f"sqlite:///{folder}/library.db", *options),
    ]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A running server of two processes."""

    port: int
    parent: int
    folder: Path

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8")

    @property
    def starts(self) -> int:
        """How often a process has begun to serve."""
        return len(_ADDRESS.findall(self.log))


@contextmanager
def served(folder: Path, **settings: str) -> Iterator[Pair]:
    """Give a server of two processes, which ends in good order."""
    with (folder / "log").open("w", encoding="utf-8") as stderr:
        process = subprocess.Popen(command_in(folder, **settings), stderr=stderr)
    pair = Pair(port=0, parent=process.pid, folder=folder)
    try:
        until(lambda: pair.starts == 2, process)
        yield replace(pair, port=int(_ADDRESS.findall(pair.log)[0]))
        process.terminate()
        assert process.wait(_SECONDS) == 0
    finally:
        process.kill()
        process.wait()


def until(is_true: Any, process: subprocess.Popen[bytes] | None = None) -> None:
    deadline = time.monotonic() + _SECONDS
    while not is_true():
        assert process is None or process.poll() is None, "the server ended"
        assert time.monotonic() < deadline
        time.sleep(0.05)


def post(
    port: int, method: str, params: dict[str, Any], session: str | None = None
) -> tuple[int, str, str]:
    """Return status, body and session id of a request on a connection of its own."""
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **({"Mcp-Session-Id": session} if session else {}),
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    connection = HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
    try:
        connection.request("POST", "/mcp", body, headers)
        response = connection.getresponse()
        text = response.read().decode()
        return response.status, text, response.getheader("Mcp-Session-Id") or ""
    finally:
        connection.close()


def sessions_of_both(port: int) -> dict[str, str]:
    """Return a session of each process, by its number."""
    found: dict[str, str] = {}

    def open_another() -> bool:
        session = post(port, "initialize", OPENING)[2]
        found[session.partition("-")[0]] = session
        return len(found) == 2

    until(open_another)
    return found


def processes_of(parent: int) -> list[int]:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="utf-8")
    return [int(process) for process in children.split()]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """A server that each test leaves with two processes, and that leaves none behind."""
    with served(tmp_path_factory.mktemp("pair")) as running:
        yield running
        last = processes_of(running.parent)
    assert not any(Path(f"/proc/{process}").exists() for process in last)


def test_a_session_is_served_whichever_process_takes_the_connection(pair: Pair) -> None:
    sessions = sessions_of_both(pair.port)
    call = {"name": "status", "arguments": {}}

    answers = [
        post(pair.port, "tools/call", call, session)[:2]
        for session in sessions.values()
        for _ in range(10)
    ]
    unknown = post(pair.port, "tools/call", call, "1-" + "0" * 32)[0]

    assert [status for status, _ in answers] == [200] * 20
    assert all('"isError":false' in body for _, body in answers)
    assert unknown == 404


def test_the_processes_count_requests_together(tmp_path: Path) -> None:
    with served(tmp_path, RATE_LIMIT_PER_ADDRESS="30") as limited:
        began = time.monotonic()
        statuses = [post(limited.port, "initialize", OPENING)[0] for _ in range(60)]
        refilled = (time.monotonic() - began) / 2

    assert 30 <= statuses.count(200) <= 31 + refilled
    assert set(statuses) <= {200, 429}


def test_a_process_that_dies_is_started_again(pair: Pair) -> None:
    before, starts = processes_of(pair.parent), pair.starts

    os.kill(before[0], signal.SIGKILL)

    until(lambda: len(set(processes_of(pair.parent)) - set(before)) == 1)
    until(lambda: pair.starts == starts + 1)
    assert len(sessions_of_both(pair.port)) == 2


def test_the_others_go_on_while_a_process_cannot_be_started_again(pair: Pair) -> None:
    library, aside = pair.folder / "library.db", pair.folder / "aside.db"
    starts = pair.starts

    library.rename(aside)
    library.write_bytes(b"no database" * 100)
    os.kill(processes_of(pair.parent)[0], signal.SIGKILL)
    until(lambda: "cannot start" in pair.log)
    status = post(pair.port, "initialize", OPENING)[0]
    aside.rename(library)

    until(lambda: pair.starts == starts + 1)
    assert status == 200
    assert len(sessions_of_both(pair.port)) == 2


def test_a_server_that_is_starting_a_process_again_stops_with_it(tmp_path: Path) -> None:
    with served(tmp_path) as stopping:
        before = processes_of(stopping.parent)
        os.kill(before[0], signal.SIGKILL)
        # The signal comes before the new process knows what to do with it.
        until(lambda: len(set(processes_of(stopping.parent)) - set(before)) == 1)

    assert "all 2 processes stopped" in stopping.log


def test_what_keeps_the_first_process_from_starting_is_reported(tmp_path: Path) -> None:
    ended = subprocess.run(
        command_in(tmp_path, "--host", "0.0.0.0"),
        capture_output=True,
        encoding="utf-8",
        timeout=_SECONDS,
        check=False,
    )

    assert ended.returncode == 2
    assert "CITEWELL_MCP_AUTH_TOKEN" in ended.stderr
