"""What a person sees on a real (pseudo-)terminal."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.cli.shell import Shell
from tests.site import Response

pty = pytest.importorskip("pty", reason="pseudo-terminals are of POSIX")


def run_in_terminal(*arguments: str, environment: dict[str, str]) -> str:
    """Run citewell with both streams on a pseudo-terminal and return what a screen would get."""
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "citewell", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
        env={"PATH": "/usr/bin", "TERM": "xterm-256color", **environment},
    ) as process:
        os.close(terminal)
        shown = bytearray()
        while True:
            try:
                read = os.read(controller, 65536)
            except OSError:
                break
            if not read:
                break
            shown += read
        process.wait(60)
    os.close(controller)
    return shown.decode()


def test_on_a_terminal_headers_are_coloured_and_progress_is_shown(shell: Shell) -> None:
    question = ["ask", shell.site.url("/storage"), "What happens when the memory is full?"]

    shown = run_in_terminal(*question, *shell.options, environment={})

    assert "\x1b[1;36m[SOURCES]\x1b[0m" in shown
    assert "\x1b[?25l" in shown


def test_no_color_is_obeyed(shell: Shell) -> None:
    question = ["ask", shell.site.url("/storage"), "What happens when the memory is full?"]

    shown = run_in_terminal(*question, *shell.options, environment={"NO_COLOR": "1"})

    assert "[SOURCES]" in shown
    assert "36m" not in shown


def test_a_page_cannot_send_control_characters_to_the_terminal(shell: Shell) -> None:
    shell.site.pages["/bad"] = Response(
        body=b"# Buoy colour\n\nThe buoy is \x1b]0;owned\x07yellow \x1b[2Jand round.\n",
        headers={"Content-Type": "text/markdown; charset=utf-8"},
    )

    shown = run_in_terminal(
        "ask", shell.site.url("/bad"), "What colour is the buoy?", *shell.options, environment={}
    )

    assert "yellow" in shown
    assert "\x1b]0;" not in shown
    assert "\x1b[2J" not in shown
