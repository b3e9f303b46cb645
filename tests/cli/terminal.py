"""A pseudo-terminal to run the command in."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping

_CONTROL = re.compile(r"\x1b\][^\x1b\x07]*(?:\x1b\\|\x07)|\x1b\[[0-9;?]*[A-Za-z]|\r")


def run_in_terminal(
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    columns: int = 80,
    keys: bytes = b"",
) -> str:
    """Run citewell with its streams on a pseudo-terminal and return what a screen would get.

    `keys` is what a person types.
    """
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with subprocess.Popen(
        [sys.executable, "-m", "citewell", *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env={"PATH": "/usr/bin", "TERM": "xterm-256color", **(environment or {})},
    ) as process:
        os.close(terminal)
        if keys:
            os.write(controller, keys)
        shown = read_all(controller)
        process.wait(60)
    os.close(controller)
    return shown


def read_all(controller: int) -> str:
    """Return what is written to the terminal until its last writer has gone."""
    shown = bytearray()
    while True:
        try:
            read = os.read(controller, 65536)
        except OSError:
            break
        if not read:
            break
        shown += read
    return shown.decode()


def text_of(shown: str) -> str:
    """Return what a screen shows in the end, without colours and links.

    Lines of progress are erased one by one; what follows the last erasure stays.
    """
    return _CONTROL.sub("", shown.rpartition("\x1b[2K")[2])
