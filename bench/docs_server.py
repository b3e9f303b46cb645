"""The docs server beside servemd: index, search, memory, first answer, and which page comes first.

servemd is installed into a venv of its own when it is not there yet. Both get the same folders and
queries, each in a process of its own; servers answer plain JSON-RPC POSTs. A heading query is the
text of a heading of levels 1 to 3, and right when the first page has that heading. On the generated
pages servemd gets fewer of them: ten times as slow there, it would take most of the run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.memory import made_up_word

from citewell.docsite.files import list_doc_files
from citewell.docsite.folder import DocsFolder
from citewell.docsite.llms import llms_full_txt
from citewell.docsite.pages import parse_page

FASTAPI = Path("../shared/data/markdown/md_fastapi_en_ja/docs")
SERVEMD_VENV = Path("/tmp/servemd-venv")
QUERIES = 400
STARTS = 7
GENERATED_PAGES = 2_000
SERVEMD_QUERIES_OF_GENERATED = 100
STARTS_OF_GENERATED = 3

# What both workers share; `setup` defines warm_up, open_index, search and get_page.
WORKER = """
import asyncio, json, logging, statistics, sys, time
logging.disable(logging.CRITICAL)
task = json.load(sys.stdin)

def rss():
    for line in open("/proc/self/status", encoding="ascii"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1000

def milliseconds(action, *arguments):
    # Of a core, so that others on the machine do not count.
    began = time.process_time()
    result = action(*arguments)
    return (time.process_time() - began) * 1000, result

{setup}

# What a first call imports is no memory of pages.
warm_up()
before = rss()
open_ms, _ = milliseconds(open_index)
searches = [milliseconds(search, query) for query in task["queries"]]
after = rss()
pages = [milliseconds(get_page, path)[0] for path in task["paths"]]
json.dump(dict(
    open_ms=open_ms,
    memory_mb=after - before,
    search_ms=[took for took, _ in searches],
    page_ms=pages,
    first=[found[0] for _, found in searches],
    letters=[found[1] for _, found in searches],
), sys.stdout)
"""

CITEWELL = """
import tempfile
from pathlib import Path
from citewell.core.records import Caller
from citewell.core.settings import Settings
from citewell.docsite.folder import DocsFolder
from citewell.tools.docs.front import DocsFront

settings = Settings(docs_root=task["docs"], docs_base_url="http://127.0.0.1:8765")
caller = Caller(session="bench")
loop = asyncio.new_event_loop()

def warm_up():
    global front
    with tempfile.TemporaryDirectory() as empty:
        front = DocsFront(DocsFolder.open(Path(empty)), settings)
        search("anything")

def open_index():
    global front
    folder = DocsFolder.open(Path(task["docs"]), cache_root=Path(task["cache"]))
    front = DocsFront(folder, settings)

def search(query):
    result = loop.run_until_complete(front.call("search_docs", {"query": query}, caller=caller))
    hits = result.structured["results"]
    return hits[0]["path"] if hits else None, len(result.text.encode())

def get_page(path):
    loop.run_until_complete(front.call("get_doc_page", {"path": path}, caller=caller))
"""

SERVEMD = """
import contextlib, os
os.environ.update(CITEWELL_DOCS_ROOT=task["docs"], CACHE_ROOT=task["cache"])
with contextlib.redirect_stdout(sys.stderr):
    from docs_server.mcp import call_tool, get_index_manager, search_docs
loop = asyncio.new_event_loop()

def warm_up():
    with contextlib.suppress(RuntimeError):
        call_tool("search_docs", {"query": "anything"})

def open_index():
    with contextlib.redirect_stdout(sys.stderr):
        loop.run_until_complete(get_index_manager().initialize())

def search(query):
    text = call_tool("search_docs", {"query": query})["content"][0]["text"]
    return None, len(text.encode())

def get_page(path):
    call_tool("get_doc_page", {"path": path})
"""

# Its tool answers in prose, so the first page is asked of its search itself.
SERVEMD_FIRST = """
def first(query):
    hits = search_docs(query, 1)
    return hits[0].path if hits else None

json.dump([first(query) for query in task["queries"]], sys.stdout)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A docs server: how its worker and its process are started."""

    name: str
    python: str
    setup: str
    command: list[str]

    def work(self, docs: Path, cache: Path, *, queries: list[str], paths: list[str]) -> Any:  # noqa: ANN401 - JSON
        """Open the index, search and read pages in a fresh process; return what it measured."""
        task = {"docs": str(docs), "cache": str(cache), "queries": queries, "paths": paths}
        return self._run(WORKER.replace("{setup}", self.setup), task)

    def first_pages(self, docs: Path, cache: Path, queries: list[str]) -> list[str | None]:
        """Return the first page that each query finds, of a server whose tool answers in prose."""
        task = {"docs": str(docs), "cache": str(cache), "queries": queries, "paths": []}
        head, _, _ = WORKER.partition("before = rss()")
        script = head.replace("{setup}", self.setup) + "open_index()\n" + SERVEMD_FIRST
        first: list[str | None] = self._run(script, task)
        return first

    def start(self, docs: Path, cache: Path, port: int) -> float:
        """Return the seconds from starting the server to its first answered `search_docs`."""
        environment = {
            **os.environ,
            "CITEWELL_DOCS_ROOT": str(docs),
            "CACHE_ROOT": str(cache),
            "CITEWELL_DOCS_CACHE_ROOT": str(cache),
            "CITEWELL_DATABASE_URL": f"sqlite:///{cache}/corpus.db",
            "PORT": str(port),
            "CITEWELL_MCP_PORT": str(port),
        }
        began = time.perf_counter()
        process = subprocess.Popen(
            self.command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            while not answers(port):
                time.sleep(0.002)
            return time.perf_counter() - began
        finally:
            process.terminate()
            process.wait(30)

    def _run(self, script: str, task: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        done = subprocess.run(
            [self.python, "-c", script],
            input=json.dumps(task).encode(),
            stdout=subprocess.PIPE,
            check=True,
        )
        return json.loads(done.stdout)


def answers(port: int) -> bool:
    """Ask a server once; whether it gave an answer."""
    params = {"name": "search_docs", "arguments": {"query": "dependencies"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/mcp",
        json.dumps(body).encode(),
        {"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return "result" in json.loads(response.read())
    except OSError:
        return False


def contenders() -> list[Contender]:
    """Return both servers, servemd installed."""
    python = SERVEMD_VENV / "bin/python"
    if not (SERVEMD_VENV / "bin/servemd").exists():
        subprocess.run([sys.executable, "-m", "venv", SERVEMD_VENV], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "servemd"], check=True)
    return [
        Contender(
            name="citewell",
            python=sys.executable,
            setup=CITEWELL,
            command=[sys.executable, "-m", "citewell", "docs"],
        ),
        Contender(
            name="servemd",
            python=str(python),
            setup=SERVEMD,
            command=[str(SERVEMD_VENV / "bin/servemd")],
        ),
    ]


def write_generated(root: Path) -> None:
    """Write pages of made-up words, a few hundred each, in folders of fifty."""
    chance = random.Random(7)
    for number in range(GENERATED_PAGES):
        file = root / f"part{number // 50:02}" / f"page{number:04}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        sections = [
            f"## {made_up_word(chance)} {made_up_word(chance)} of {number}\n\n"
            + " ".join(made_up_word(chance) for _ in range(150))
            for _ in range(5)
        ]
        file.write_text(f"# Page {number}\n\n" + "\n\n".join(sections) + "\n", encoding="utf-8")


def copy_some(docs: Path, root: Path, count: int) -> None:
    """Copy `count` pages, taken evenly, but none of the few that are longer than a book."""
    files = [file for file in list_doc_files(docs) if file.size < 100_000]
    for file in files[:: len(files) // count][:count]:
        target = root / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(docs / file.path, target)


def heading_queries(docs: Path) -> tuple[list[str], list[set[str]]]:
    """Return headings to ask for, and the pages that have each."""
    folder = DocsFolder.open(docs)
    owners: dict[str, set[str]] = {}
    for path in folder.paths:
        text = folder.text(path) or ""
        for section in parse_page(path, text, mtime=0.0, size=len(text)).sections:
            if section.level <= 3 and section.heading:
                owners.setdefault(section.heading, set()).add(path)
    queries = random.Random(11).sample(sorted(owners), min(QUERIES, len(owners)))
    return queries, [owners[query] for query in queries]


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def measure_folder(
    docs: Path, scratch: Path, *, starts: int, servemd_queries: int = QUERIES
) -> dict[str, dict[str, float]]:
    """Return the numbers of both servers on one folder."""
    every_query, owners = heading_queries(docs)
    count = len(list_doc_files(docs))
    paths = [file.path for file in list_doc_files(docs)][:QUERIES]
    full = len(llms_full_txt(DocsFolder.open(docs), base_url="").encode())
    measured: dict[str, dict[str, float]] = {}
    both = contenders()
    for contender in both:
        cache = scratch / contender.name
        queries = every_query[: servemd_queries if contender.name == "servemd" else None]
        built = contender.work(docs, cache, queries=queries[:5], paths=[])
        loads = [contender.work(docs, cache, queries=[], paths=[]) for _ in range(5)]
        worked = contender.work(docs, cache, queries=queries, paths=paths)
        first = worked["first"]
        if contender.name == "servemd":
            first = contender.first_pages(docs, cache, queries)
        right = [page in owned for page, owned in zip(first, owners, strict=False)]
        measured[contender.name] = {
            "index build CPU ms": built["open_ms"],
            "index load CPU ms": statistics.median(load["open_ms"] for load in loads),
            "search_docs median CPU ms": statistics.median(worked["search_ms"][1:]),
            "search_docs p95 CPU ms": p95(worked["search_ms"][1:]),
            "get_doc_page p95 CPU ms": p95(worked["page_ms"]),
            "memory MB per 100 docs": worked["memory_mb"] / count * 100,
            "heading: right page first": statistics.mean(right),
            "llms-full.txt / one search, bytes": full / statistics.median(worked["letters"]),
        }
    seconds: dict[str, list[float]] = {contender.name: [] for contender in both}
    for _ in range(starts):
        for contender in both:
            took = contender.start(docs, scratch / contender.name, free_port())
            seconds[contender.name].append(took)
    for name, taken in seconds.items():
        if taken:
            measured[name]["start to first answer ms"] = statistics.median(taken) * 1000
    return measured


def print_table(title: str, measured: dict[str, dict[str, float]]) -> None:
    print(f"\n{title}\n\n| what | citewell | servemd | ratio |\n|---|---|---|---|")
    for what, ours in measured["citewell"].items():
        theirs = measured["servemd"][what]
        ratio = f"{ours / theirs:.2f}" if theirs else "–"
        print(f"| {what} | {ours:.3g} | {theirs:.3g} | {ratio} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", type=Path, default=FASTAPI, help="a folder of Markdown")
    parser.add_argument("--starts", type=int, default=STARTS, help="starts of each server")
    parser.add_argument("--skip-generated", action="store_true")
    given = parser.parse_args()
    if not given.docs.is_dir():
        print(f"{given.docs} is not there; see bench/README.md")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        docs = given.docs.resolve()
        copy_some(docs, scratch / "hundred", 100)
        some = measure_folder(scratch / "hundred", scratch / "cache100", starts=0)
        print_table("100 pages", some)
        count = len(list_doc_files(docs))
        every = measure_folder(docs, scratch / "cache", starts=given.starts)
        print_table(f"{count} pages", every)
        if not given.skip_generated:
            write_generated(scratch / "generated")
            many = measure_folder(
                scratch / "generated",
                scratch / "cache2000",
                starts=min(given.starts, STARTS_OF_GENERATED),
                servemd_queries=SERVEMD_QUERIES_OF_GENERATED,
            )
            print_table(f"{GENERATED_PAGES} generated pages", many)
    return 0


if __name__ == "__main__":
    sys.exit(main())
