"""A smoke test of the installed package: run it with the Python of an environment that has only that.

Answers a question about the example site with the command, and lists tools over stdio.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import citewell

ROOT = Path(__file__).resolve().parent.parent
COMMAND = Path(sysconfig.get_path("scripts")) / "citewell"


def check_place() -> None:
    """Fail unless the package comes from the environment, not from the repository."""
    place = Path(citewell.__file__).resolve()
    assert not place.is_relative_to(ROOT / "src"), f"this is the source, not the wheel: {place}"


def check_command() -> None:
    """Fail unless the command runs and answers from the example site."""
    shown = subprocess.run(
        [COMMAND, "--version"], capture_output=True, encoding="utf-8", check=True
    )
    assert shown.stdout.strip() == f"citewell {citewell.__version__}", shown.stdout
    answered = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert answered.returncode == 0, answered.stderr
    assert "127.0.0.1" in answered.stdout, answered.stdout


async def check_server() -> None:
    """Fail unless the server lists its tools and runs one over stdio."""
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{Path(folder).as_posix()}/pages.db"
        parameters = StdioServerParameters(
            command=str(COMMAND), args=["serve", "--database", database]
        )
        with anyio.fail_after(120):
            async with Client(stdio_client(parameters)) as client:
                tools = await client.list_tools()
                status = await client.call_tool("status", {})
    assert {"answer", "search", "status"} <= {tool.name for tool in tools.tools}
    assert not status.is_error, status


if __name__ == "__main__":
    check_place()
    check_command()
    anyio.run(check_server)
    sys.stdout.write(f"citewell {citewell.__version__} works as installed\n")
