"""Programs of other makers that sign in, and the person who does it for them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx2
from tests.clients.authority import Authority, free_port, sign_in
from tests.clients.node import environment, program

_TO_AUTHORIZE = re.compile(rb"(http://127\.0\.0\.1:\d+/auth\?\S+)")


def sign_in_through(
    command: Sequence[str], *, env: Mapping[str, str], folder: Path | None = None
) -> dict[str, Any]:
    """Run a program that prints `authorize URL` and reads the redirect's query from stdin.

    Returns the JSON object that it prints at its end.
    """
    process = subprocess.Popen(
        command, env=dict(env), cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        address = process.stdout.readline().decode().removeprefix("authorize ").strip()
        answer = sign_in(address, stop_at=redirect_target(address))
        process.stdin.write(json.dumps(answer).encode() + b"\n")
        process.stdin.close()
        seen: dict[str, Any] = json.loads(process.stdout.read())
    return seen


def sign_in_with_mcp_remote(authority: Authority, home: Path) -> str:
    """Connect mcp-remote's own client; return what it printed."""
    process = subprocess.Popen(
        [*program("mcp-remote/dist/client.js"), authority.mcp, str(free_port()), "--allow-http"],
        env=environment(home, BROWSER="none"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    log = b""
    with process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                log += line
                if found := _TO_AUTHORIZE.search(line):
                    address = found[1].decode()
                    target = redirect_target(address)
                    answer = sign_in(address, stop_at=target)
                    httpx2.get(target, params=answer, timeout=120)
                if b"Connected successfully" in line:
                    break
        finally:
            process.terminate()
    return log.decode()


def redirect_target(address: str) -> str:
    """Return where an authorization request asks to be sent back to."""
    return str(httpx2.URL(address).params["redirect_uri"])
