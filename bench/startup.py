"""How soon a stdio client has its list of tools, against a bare `mcp` server with the same list.

CPU is user and system time of the process: up to the moment the list was read, and over its whole
life when the client leaves right after. `no front` is Citewell without its prepared answers.

    python -m bench.startup
    python -m bench.startup --search [--before FOLDER]

With `--search`: CPU from the start to the first answered `search` on the example site, with the
embedder and by words alone; in turns with the tree in FOLDER, a checkout from before.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RUNS = 9
CITEWELL = [sys.executable, "-m", "citewell", "serve"]
EXAMPLE_SITE = Path("examples/site")
EMBEDDERS: dict[str, dict[str, str]] = {"default": {}, "none": {"CITEWELL_EMBEDDER": "none"}}

SELECTIONS = ("default", "all", "kb,graph", "websites,people", "research,web,data")

BARE_SERVER = """
import json, sys
import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

tools = [types.Tool.model_validate(tool) for tool in json.loads(sys.argv[1])]

async def list_tools(context, params):
    return types.ListToolsResult(tools=tools)

async def main():
    server = Server("bare", version="1", on_list_tools=list_tools)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

anyio.run(main)
"""

NO_FRONT = """
import anyio
from citewell.core.settings import load_settings
from citewell.server.stdio_channel import claimed_stdio
from citewell.server.stdio_front import Handover
from citewell.server.stdio_server import serve_stdio

with claimed_stdio() as channel:
    anyio.run(serve_stdio, load_settings(), channel, Handover())
"""

CLIENT = {"name": "bench", "version": "1"}
HANDSHAKE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
OPENING: tuple[dict[str, Any], ...] = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HANDSHAKE},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)
QUESTION = {"name": "search", "arguments": {"query": "How is the sensor calibrated?"}}
SEARCH = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": QUESTION}


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """One start of a server, in milliseconds."""

    wall: float
    cpu_to_list: float
    cpu_of_life: float
    tools: list[dict[str, Any]]


def start(command: list[str], environment: dict[str, str]) -> Start:
    """Start a server, ask it for its tools, and leave."""
    began = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin as to_server, process.stdout as from_server:
        _send(to_server, OPENING[0])
        from_server.readline()
        for message in OPENING[1:]:
            _send(to_server, message)
        listed = json.loads(from_server.readline())
        wall = time.perf_counter() - began
        cpu_to_list = _cpu_so_far(process.pid)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return Start(
        wall=wall * 1000,
        cpu_to_list=cpu_to_list * 1000,
        cpu_of_life=(usage.ru_utime + usage.ru_stime) * 1000,
        tools=listed["result"]["tools"],
    )


def cpu_to_search(environment: dict[str, str]) -> float:
    """Return the CPU milliseconds of a server from its start to its first answered `search`."""
    process = subprocess.Popen(
        CITEWELL,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process, process.stdin as to_server, process.stdout as from_server:
        for message in (*OPENING, SEARCH):
            _send(to_server, message)
        answer: dict[str, Any] = {}
        while answer.get("id") != SEARCH["id"]:
            answer = json.loads(from_server.readline())
        taken = _cpu_so_far(process.pid)
    assert answer["result"]["structuredContent"]["evidence"], "the question has an answer there"
    return taken * 1000


def _send(stream: Any, message: dict[str, Any]) -> None:  # noqa: ANN401 - a pipe
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def _cpu_so_far(pid: int) -> float:
    # The process's CPU clock (clock_getcpuclockid), which counts threads that have ended too:
    # the one that imports the SDK has, by the first search.
    return time.clock_gettime(~pid << 3 | 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--search", action="store_true")
    parser.add_argument("--before", type=Path, metavar="FOLDER")
    parser.add_argument("--json", type=Path, help="with --search: write the numbers here")
    options = parser.parse_args()
    if options.search:
        trees = {"this tree": Path()} | ({"before": options.before} if options.before else {})
        found = _compare_searches({name: tree.absolute() for name, tree in trees.items()})
        if options.json is not None:
            options.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        return
    for toolsets in SELECTIONS:
        starts = _compare(toolsets)
        _print_table(toolsets, starts)


def _compare_searches(trees: dict[str, Path]) -> dict[str, float]:
    """Return the least CPU milliseconds of this tree, by embedder."""
    print("| tree | embedder | CPU ms to the first answered search, least | median |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "CITEWELL_DATABASE_URL": f"sqlite:///{folder}/library.db"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        subprocess.run(
            [sys.executable, "-m", "citewell", "ingest", str(EXAMPLE_SITE)],
            env=environment,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        variants = {
            (name, embedder): {**environment, "PYTHONPATH": str(tree / "src"), **chosen}
            for embedder, chosen in EMBEDDERS.items()
            for name, tree in trees.items()
        }
        for variant in variants.values():
            prepare = [sys.executable, "-m", "citewell.server.prepare_front"]
            subprocess.run(prepare, env=variant, check=True)
            cpu_to_search(variant)
        taken: dict[tuple[str, str], list[float]] = {key: [] for key in variants}
        for _ in range(RUNS):
            for key, variant in variants.items():
                taken[key].append(cpu_to_search(variant))
    for (name, embedder), runs in taken.items():
        print(f"| {name} | {embedder} | {min(runs):.0f} | {statistics.median(runs):.0f} |")
    return {
        f"first search over stdio, embedder {embedder}, ms": round(min(runs))
        for (name, embedder), runs in taken.items()
        if name == "this tree"
    }


def _compare(toolsets: str) -> dict[str, list[Start]]:
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            "CITEWELL_DATABASE_URL": f"sqlite:///{folder}/startup.db",
            "CITEWELL_MCP_TOOLSETS": toolsets,
        }
        tools = start(CITEWELL, environment).tools
        contenders = {
            "bare mcp": [sys.executable, "-c", BARE_SERVER, json.dumps(tools)],
            "citewell": CITEWELL,
            "citewell, no front": [sys.executable, "-c", NO_FRONT],
        }
        starts: dict[str, list[Start]] = {name: [] for name in contenders}
        for _ in range(RUNS):
            for name, command in contenders.items():
                starts[name].append(start(command, environment))
    for name, runs in starts.items():
        assert all(run.tools == tools for run in runs), f"{name} lists other tools"
    return starts


def _print_table(toolsets: str, starts: dict[str, list[Start]]) -> None:
    print(f"\n`CITEWELL_MCP_TOOLSETS={toolsets}`, {len(starts['bare mcp'][0].tools)} tools\n")
    print("| server | wall ms | CPU ms to list | × bare | CPU ms of life | × bare |")
    print("|---|---|---|---|---|---|")
    bare_list = statistics.median(run.cpu_to_list for run in starts["bare mcp"])
    bare_life = statistics.median(run.cpu_of_life for run in starts["bare mcp"])
    for name, runs in starts.items():
        wall = statistics.median(run.wall for run in runs)
        to_list = statistics.median(run.cpu_to_list for run in runs)
        life = statistics.median(run.cpu_of_life for run in runs)
        print(
            f"| {name} | {wall:.0f} | {to_list:.0f} | {to_list / bare_list:.2f} "
            f"| {life:.0f} | {life / bare_life:.2f} |"
        )


if __name__ == "__main__":
    main()
