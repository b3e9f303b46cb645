"""The HTTP server under load: callers of `search` at once, and `/healthz` beside an ingest.

    python -m bench.under_load [--site SITE] [--cache DIR] [--callers 64] [--seconds 30]
                               [--workers 1,2] [--json FILE]

Callers keep one call each under way against a copy of a library of `bench.question_sites`. Calls a
second hang on what else the machine does; CPU a call, of all server processes, does not. Then a
page with a table of 3.6 MB is ingested while `/healthz` is asked every 20 ms, as before the ingest.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from bench.cpu_time import cpu_seconds
from bench.question_sites import DEFAULT_CACHE, SITES, copy_library
from bench.research_engine import served_pages

_QUESTIONS = sorted(Path(__file__).parent.glob("*_sites.jsonl"))
_ADDRESS = re.compile(r"MCP http://127\.0\.0\.1:(\d+)/mcp")
_ROWS = 24_400
_PROBE_SECONDS = 0.02


@contextmanager
def served(library: Path, folder: Path, *, workers: int) -> Iterator[tuple[int, int]]:
    """Give the port and the process id of a server on `library`."""
    file, log = folder / "settings.env", folder / f"log-{workers}"
    file.write_text(
        "CITEWELL_INFERENCE_THREADS=1\nCITEWELL_RATE_LIMIT_PER_ADDRESS=0\n"
        "CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS=127.0.0.1\nCITEWELL_EVENTS=none\n"
        "CITEWELL_MCP_TOOL_TIMEOUT=600\n",
        "utf-8",
    )
    command = [
        *(sys.executable, "-m", "citewell", "serve", "--transport", "streamable-http"),
        *("--port", "0", "--workers", str(workers), "--env-file", str(file)),
        *("--database", f"sqlite:///{library}"),
    ]
    with log.open("w", encoding="utf-8") as stderr:
        process = subprocess.Popen(command, stderr=stderr)
    try:
        while len(found := _ADDRESS.findall(log.read_text("utf-8"))) < workers:
            if process.poll() is not None:
                raise SystemExit(log.read_text("utf-8"))
            time.sleep(0.1)
        yield int(found[0]), process.pid
    finally:
        process.terminate()
        process.wait()


def call(connection: HTTPConnection, tool: str, arguments: dict[str, object]) -> dict[str, Any]:
    """Return the result of a tool call without a session."""
    params = {"name": tool, "arguments": arguments}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    connection.request("POST", "/mcp", body, headers)
    answer: dict[str, Any] = json.loads(connection.getresponse().read())
    result: dict[str, Any] = answer["result"]
    return result


def measure_callers(
    port: int, server: int, questions: list[str], *, callers: int, seconds: float
) -> dict[str, float]:
    """Return what so many callers get who call again as soon as they are answered."""
    times: list[float] = []
    codes: list[str] = []

    def be_a_caller(number: int, until: float) -> None:
        connection = HTTPConnection("127.0.0.1", port, timeout=600)
        turn = number
        while time.monotonic() < until:
            question = f"{questions[turn % len(questions)]} ({number}.{turn})"
            started = time.monotonic()
            result = call(connection, "search", {"query": question})
            if result["isError"]:
                error = result["structuredContent"]["error"]
                codes.append(error["code"])
                # As a caller should who is told when to come again.
                time.sleep(error.get("details", {}).get("retry_after", 0))
            else:
                times.append(time.monotonic() - started)
            turn += 1

    be_a_caller(0, time.monotonic() + 3)
    times.clear()
    before, began = cpu_seconds(server), time.monotonic()
    threads = [
        threading.Thread(target=be_a_caller, args=(number, began + seconds))
        for number in range(callers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent, passed = cpu_seconds(server) - before, time.monotonic() - began
    ranked = sorted(times)
    return {
        "calls/s": round(len(times) / passed, 1),
        "p50 s": round(statistics.median(ranked), 2),
        "p99 s": round(ranked[int(0.99 * (len(ranked) - 1))], 2),
        "CPU ms a call": round(1000 * spent / len(times), 1),
        "errors": len(codes),
        "of those OVERLOADED": codes.count("OVERLOADED"),
    }


def measure_health(port: int) -> dict[str, float]:
    """Return how long `/healthz` takes, and how long beside the ingest of a large table."""
    rows = "".join(
        f"<tr><td>setting_{row}</td><td>What setting number {row} is for, and when it is read "
        f"again; changed by whoever runs the site.</td><td>{row * 7}</td></tr>\n"
        for row in range(_ROWS)
    )
    page = f"<title>Settings</title><h1>Settings</h1><table>{rows}</table>"
    quiet: list[float] = []
    beside: list[float] = []
    with served_pages({"table.html": page}) as base:
        ended = threading.Event()
        probing = threading.Thread(target=_probe, args=(port, quiet, ended))
        probing.start()
        time.sleep(5)
        ended.set()
        probing.join()
        ended.clear()
        probing = threading.Thread(target=_probe, args=(port, beside, ended))
        probing.start()
        connection = HTTPConnection("127.0.0.1", port, timeout=600)
        result = call(connection, "ingest", {"url": f"{base}/table.html"})
        ended.set()
        probing.join()
    if result["isError"]:
        raise SystemExit(str(result["content"]))
    return {
        "page MB": round(len(page) / 1e6, 1),
        "p50 ms, quiet": _at(quiet, 0.5),
        "p99 ms, quiet": _at(quiet, 0.99),
        "p50 ms, beside the ingest": _at(beside, 0.5),
        "p99 ms, beside the ingest": _at(beside, 0.99),
        "max ms, beside the ingest": _at(beside, 1.0),
    }


def _probe(port: int, times: list[float], ended: threading.Event) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    while not ended.wait(_PROBE_SECONDS):
        started = time.monotonic()
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        times.append(time.monotonic() - started)


def _at(times: list[float], share: float) -> float:
    return round(1000 * sorted(times)[int(share * (len(times) - 1))], 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--site", default="python-django-doc", choices=list(SITES))
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--callers", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    options = parser.parse_args()
    kept = options.cache / f"{options.site}.db"
    if not kept.exists():
        print(f"no library at {kept}; make it with: python -m bench.question_sites {options.site}")
        return
    lines = [
        json.loads(line) for path in _QUESTIONS for line in path.read_text("utf-8").splitlines()
    ]
    questions = [line["question"] for line in lines if line["site"] == options.site]
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library = folder / "library.db"
        copy_library(kept, library)
        for workers in map(int, options.workers.split(",")):
            with served(library, folder, workers=workers) as (port, server):
                found[f"{options.callers} callers, {workers} processes"] = measure_callers(
                    port, server, questions, callers=options.callers, seconds=options.seconds
                )
        with served(library, folder, workers=1) as (port, _):
            found["/healthz"] = measure_health(port)
    for name, numbers in found.items():
        print(name, *(f"  {what:28} {value:9}" for what, value in numbers.items()), sep="\n")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
