"""Signing in to Claude Code, which does it at a terminal only."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import termios
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import httpx2
from tests.clients.authority import sign_in
from tests.clients.signing_in import redirect_target

_TO_AUTHORIZE = re.compile(rb"(http://127\.0\.0\.1:\d+/auth\?[^\s\x1b]+)")
_SECONDS = 120


def sign_in_at_terminal(command: list[str], env: dict[str, str], folder: Path) -> str:
    """Run the command at a terminal, sign in where it says, paste the redirect; return its log."""
    terminal, its_end = pty.openpty()
    # Wide enough that the address stays on one line.
    termios.tcsetwinsize(its_end, (50, 2000))
    process = subprocess.Popen(
        command,
        env=env,
        cwd=folder,
        stdin=its_end,
        stdout=its_end,
        stderr=its_end,
        start_new_session=True,
    )
    os.close(its_end)
    try:
        log = _read(terminal, until=lambda log: b"paste the redirect URL" in log)
        found = _TO_AUTHORIZE.search(log)
        if found is None:
            return log.decode()
        address = found[1].decode()
        target = redirect_target(address)
        answer = sign_in(address, stop_at=target)
        os.write(terminal, str(httpx2.URL(target, params=answer)).encode() + b"\r")
        log += _read(terminal, until=lambda log: process.poll() is not None)
        return log.decode()
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(terminal)


def _read(terminal: int, *, until: Callable[[bytes], bool]) -> bytes:
    log = b""
    end = monotonic() + _SECONDS
    while monotonic() < end and not until(log):
        ready, _, _ = select.select([terminal], [], [], 1)
        if not ready:
            continue
        try:
            log += os.read(terminal, 65_536)
        except OSError:
            # The program has closed its end.
            break
    return log
