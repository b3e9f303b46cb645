"""The real server as a process, over stdio and over HTTP."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp.client.stdio import StdioServerParameters
from tests.site import wait_until

SERVE = [sys.executable, "-m", "citewell", "serve"]
EVERY_CONNECTION = pytest.mark.parametrize(
    ("server", "transport", "mode"),
    [
        ("http", "stdio", "legacy"),
        ("http", "stdio", "2026-07-28"),
        ("http", "http", "legacy"),
        ("http", "http", "2026-07-28"),
        ("http_on_postgres", "http", "2026-07-28"),
    ],
)
"""Each transport in each era; what the database is makes no difference to a client."""
_STARTED = re.compile(rb"server started: .* port (\d+)")


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """Return the variables of a server that keeps its pages in `folder`."""
    # A checkout that is not the installed one is found by PYTHONPATH, which some clients refuse empty.
    inherited = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if os.environ.get(name)}
    return {
        **inherited,
        "HOME": str(folder),
        "CITEWELL_DATABASE_URL": f"sqlite:///{folder}/pages.db",
        "CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS": "127.0.0.1",
        "CITEWELL_WEB_TIMEOUT_SECONDS": "6",
        **settings,
    }


def run_citewell(
    folder: Path, *arguments: str, **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run a command of the shell to its end."""
    return subprocess.run(
        [sys.executable, "-m", "citewell", *arguments],
        env=environment(folder, **settings),
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def make_key(folder: Path, name: str, *options: str) -> str:
    """Return a new key for the server of `folder`."""
    made = run_citewell(folder, "keys", "create", name, "--json", *options)
    assert made.returncode == 0, made.stderr
    return str(json.loads(made.stdout)["key"])


def stdio_parameters(folder: Path, **settings: str) -> StdioServerParameters:
    """Return how a client starts the server over stdio."""
    env = environment(folder, **settings)
    return StdioServerParameters(command=SERVE[0], args=SERVE[1:], env=env, cwd=folder)


class ServerProcess:
    """A running HTTP server and what it has written."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.log = b""
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()

    @property
    def url(self) -> str:
        found = _STARTED.search(self.log)
        assert found is not None, self.log.decode()
        return f"http://127.0.0.1:{int(found[1])}"

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.log += line

    def wait(self) -> int:
        """Wait until the process ends by itself, and return the exit code."""
        code = self.process.wait(60)
        self._reader.join(5)
        return code

    def stop(self) -> int:
        """Send SIGTERM and return the exit code."""
        self.process.terminate()
        return self.wait()


@contextmanager
def http_server(folder: Path, **settings: str) -> Iterator[ServerProcess]:
    """Run the HTTP server until leaving, on a free port unless CITEWELL_MCP_PORT names one."""
    env = environment(folder, **{"CITEWELL_MCP_PORT": "0", **settings})
    command = [*SERVE, "--transport", "streamable-http"]
    with running_server(command, folder=folder, env=env, started=_STARTED) as server:
        yield server


@contextmanager
def running_server(
    command: list[str], *, folder: Path, env: dict[str, str], started: re.Pattern[bytes]
) -> Iterator[ServerProcess]:
    """Run a server until leaving; given once its log holds `started`, or it has ended."""
    process = subprocess.Popen(
        command,
        env=env,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        server = ServerProcess(process)
        try:
            wait_until(
                lambda: started.search(server.log) is not None or process.poll() is not None,
                seconds=180,
            )
            yield server
        finally:
            if process.poll() is None:
                server.stop()
