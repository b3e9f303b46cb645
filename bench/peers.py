"""Citewell beside other ways of giving a model a documentation page, as the table of the README.

    python -m bench.peers [--count 14] [--site python3.11-doc]

Takes the first even lines of the developers' questions whose page is known, serves those pages on
loopback, and asks each peer as a model would, over MCP. A peer is installed from its registry into
an environment of its own below .peers; one that cannot be installed is named with the reason that
its installer gives. `answered` counts responses that hold the answering sentence; tokens are those
of the response.

- docs-mcp-server indexes the HTML files; without a key for embeddings it searches by words.
- servemd serves Markdown, so it gets the pages as Citewell extracted them. Its query language joins
  words by AND, which no question survives; the words are joined by OR, as its description offers.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
from bench.plain_fts import PlainSearch
from bench.question_sites import DEFAULT_SITES, SITES
from bench.questions import DEFAULT_QUESTIONS, AskedQuestion, read_questions, score
from bench.site_labels import QuietHandler
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from citewell.core.records import SearchFilter
from citewell.store.open import open_store
from citewell.store.protocol import Store

PEERS = Path(".peers")
SERVEMD_PORT = 8797
NPM_INSTALL = ("npm", "install", "--no-audit", "--no-fund", "--loglevel=error")

Questions = Sequence[tuple[AskedQuestion, str]]
CallTool = Callable[[str, dict[str, Any]], Awaitable[str]]


class PeerUnavailable(Exception):
    """A peer cannot be installed here; the message says why."""


@dataclass(slots=True, kw_only=True)
class Row:
    """How one peer did."""

    name: str
    answered: int = 0
    tokens: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def add(self, question: AskedQuestion, text: str, seconds: float) -> None:
        """Score a response."""
        scored = score(question, "", text, answered=True)
        self.answered += scored.anywhere
        self.tokens.append(scored.tokens)
        self.seconds.append(seconds)

    def line(self) -> str:
        """Return the row as Markdown."""
        tokens, seconds = statistics.median(self.tokens), statistics.median(self.seconds)
        asked = len(self.tokens)
        return f"| {self.name} | {self.answered} of {asked} | {tokens:.0f} | {seconds:.2f} |"


def chosen_questions(path: Path, site: str, count: int) -> list[tuple[AskedQuestion, str]]:
    """Return questions that their site answers, each with its gold page."""
    pages = [json.loads(line)["page"] for line in path.read_text(encoding="utf-8").splitlines()]
    questions = [
        (question, pages[question.line - 1])
        for question in read_questions(path)
        if question.site == site and question.line % 2 == 0 and not question.is_absent
    ]
    return questions[:count]


@contextmanager
def served_folder(folder: Path) -> Iterator[str]:
    """Serve the files of a folder on a free port of loopback, and give the address."""
    handler = partial(QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@asynccontextmanager
async def connected(command: str, *arguments: str, **env: str) -> AsyncIterator[Client]:
    """Give a client of a server that runs over stdio."""
    parameters = StdioServerParameters(command=command, args=list(arguments), env=env or None)
    async with Client(stdio_client(parameters)) as client:
        yield client


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[str, float]:
    """Return the text of a tool's result and the seconds it took."""
    began = time.monotonic()
    result = await client.call_tool(tool, arguments)
    text = "\n".join(getattr(part, "text", "") for part in result.content)
    return text, time.monotonic() - began


async def ask_citewell(questions: Questions, address: str, database: str) -> list[Row]:
    """Index the pages, then search them for each question."""
    row = Row(name="**Citewell** `search`")
    urls = sorted({f"{address}{page}" for _, page in questions})
    host = address.removeprefix("http://").strip("/")
    env = {"CITEWELL_DATABASE_URL": database, "CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS": host}
    command = [sys.executable, "-m", "citewell"]
    await anyio.run_process([*command, "ingest", *urls], env=env)
    async with connected(*command, "serve", **env) as client:
        await call(client, "search", {"query": questions[0][0].text})
        for question, _ in questions:
            row.add(question, *await call(client, "search", {"query": question.text}))
    return [row]


async def ask_plain_fts(questions: Questions, store: Store) -> list[Row]:
    """Search the sections of the same pages in a plain FTS5 table."""
    row = Row(name="plain SQLite FTS5, five best sections")
    plain = PlainSearch(trigrams=False)
    await plain.fill(store)
    for question, _ in questions:
        began = time.monotonic()
        found = "\n\n".join(section.shown for section in plain.search(question.text))
        row.add(question, found, time.monotonic() - began)
    return [row]


async def ask_servemd(questions: Questions, store: Store, folder: Path) -> list[Row]:
    """Serve the pages as Markdown, search them, and read the first page that is found."""
    python = installed_from_pypi("servemd")
    names = Row(name="servemd `search_docs`")
    pages = Row(name="servemd `search_docs`, then `get_doc_page` of its first result")
    docs = folder / "docs"
    docs.mkdir()
    for info in await store.list_pages(SearchFilter(project="default"), limit=500):
        page = await store.get_page(info.source_id)
        assert page is not None, "a listed page is stored"
        name = Path(urlsplit(info.url).path).stem
        (docs / f"{name}.md").write_text(f"# {info.title}\n\n{page.text}", encoding="utf-8")
    async with running_servemd(python, docs, folder) as ask:
        for question, _ in questions:
            began = time.monotonic()
            words = re.findall(r"\w+", question.text)
            found = await ask("search_docs", {"query": " OR ".join(words)})
            names.add(question, found, time.monotonic() - began)
            first = re.search(r"[\w./-]+\.md", found)
            page_text = await ask("get_doc_page", {"path": first.group()}) if first else ""
            pages.add(question, f"{found}\n{page_text}", time.monotonic() - began)
    return [names, pages]


@asynccontextmanager
async def running_servemd(python: str, docs: Path, folder: Path) -> AsyncIterator[CallTool]:
    """Run servemd on loopback and give what calls its tools.

    Its own command listens on every address; its endpoint takes JSON-RPC without a handshake.
    """
    env = {**os.environ, "DOCS_ROOT": str(docs), "CACHE_ROOT": str(folder / "cache")}
    options = ["--host", "127.0.0.1", "--port", str(SERVEMD_PORT), "--log-level", "warning"]
    command = [python, "-m", "uvicorn", "docs_server.main:app", *options]
    address = f"http://127.0.0.1:{SERVEMD_PORT}"

    async def ask(tool: str, arguments: dict[str, Any]) -> str:
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = (await http.post(f"{address}/mcp", json=message)).json()
        if "error" in answer:
            raise RuntimeError(f"servemd: {answer['error']}")
        return str(answer["result"]["content"][0]["text"])

    async with (
        await anyio.open_process(command, env=env, stdout=None, stderr=None) as process,
        httpx2.AsyncClient(timeout=60) as http,
    ):
        try:
            with anyio.fail_after(120):
                while not await _answers(http, f"{address}/health"):  # noqa: ASYNC110 - a process
                    await anyio.sleep(0.2)
            yield ask
        finally:
            process.terminate()


async def _answers(http: httpx2.AsyncClient, url: str) -> bool:
    try:
        return (await http.get(url)).is_success
    except httpx2.TransportError:
        return False


async def ask_docs_mcp_server(questions: Questions, site: Path, folder: Path) -> list[Row]:
    """Index the HTML files of the pages, then search them for each question."""
    program = str(installed_from_npm("@arabold/docs-mcp-server") / ".bin" / "docs-mcp-server")
    row = Row(name="docs-mcp-server `search_docs`, by words")
    files = folder / "html"
    files.mkdir()
    for page in {page for _, page in questions}:
        shutil.copy(site / page, files / Path(page).name)
    env = {**os.environ, "DOCS_MCP_TELEMETRY": "false"}
    options = ("--store-path", str(folder / "docs-mcp-server"))
    await anyio.run_process([program, "scrape", "python", files.as_uri(), *options], env=env)
    arguments = ("server", "--protocol", "stdio", *options)
    async with connected(program, *arguments, **env) as client:
        for question, _ in questions:
            asked = {"library": "python", "query": question.text}
            row.add(question, *await call(client, "search_docs", asked))
    return [row]


async def ask_fetch(questions: Questions, address: str) -> list[Row]:
    """Fetch the page that holds the answer, which a model would first have to know."""
    python = installed_from_pypi("mcp-server-fetch")
    row = Row(name="mcp-server-fetch, given the right page (its first 5,000 characters)")
    options = ("--ignore-robots-txt", "--allow-private-ips")
    async with connected(python, "-m", "mcp_server_fetch", *options) as client:
        for question, page in questions:
            row.add(question, *await call(client, "fetch", {"url": f"{address}{page}"}))
    return [row]


def installed_from_pypi(package: str) -> str:
    """Return the Python of an environment that has nothing but the package.

    Raises:
        PeerUnavailable: pip cannot install it.
    """
    python = PEERS / package / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEERS / package)], check=True)
    _install([str(python), "-m", "pip", "install", "--quiet", package], PEERS / package)
    return str(python.absolute())


def installed_from_npm(package: str) -> Path:
    """Return the `node_modules` of a folder that has nothing but the package.

    Raises:
        PeerUnavailable: npm cannot install it.
    """
    folder = PEERS / package.rpartition("/")[2]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text("{}", encoding="utf-8")
    _install([*NPM_INSTALL, package], folder, cwd=folder)
    return (folder / "node_modules").absolute()


def _install(command: Sequence[str], folder: Path, cwd: Path | None = None) -> None:
    done = folder / ".installed"
    if done.exists():
        return
    try:
        subprocess.run(command, cwd=cwd, check=True, capture_output=True, encoding="utf-8")
    except FileNotFoundError as error:
        raise PeerUnavailable(f"{command[0]} is not installed") from error
    except subprocess.CalledProcessError as error:
        reasons = [line for line in error.stderr.splitlines() if "rror" in line and " 404 " in line]
        reasons = reasons or error.stderr.splitlines()[-1:]
        raise PeerUnavailable(reasons[0].strip()) from error
    done.touch()


async def compare(options: argparse.Namespace) -> None:
    """Ask all of them and print the table."""
    questions = chosen_questions(options.questions, options.site, options.count)
    site = options.sites / options.site / SITES[options.site].root
    with (
        tempfile.TemporaryDirectory() as name,
        served_folder(site) as address,
    ):
        folder = Path(name)
        database = f"sqlite:///{folder}/peers.db"
        rows = await ask_citewell(questions, address, database)
        store = await open_store(database)
        missing = []
        for peer in (
            partial(ask_plain_fts, questions, store),
            partial(ask_docs_mcp_server, questions, site, folder),
            partial(ask_servemd, questions, store, folder),
            partial(ask_fetch, questions, address),
        ):
            try:
                rows += await peer()
            except PeerUnavailable as reason:
                missing.append(f"{peer.func.__name__}: {reason}")
        await store.aclose()
    print("| | answering sentence returned | tokens, median | seconds, median |")
    print("| --- | --- | --- | --- |")
    print("\n".join(row.line() for row in rows))
    print("\n".join(missing), file=sys.stderr)


def main() -> None:
    """Read the options and compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--questions", type=Path, default=DEFAULT_QUESTIONS)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--site", default="python3.11-doc")
    parser.add_argument("--count", type=int, default=14)
    anyio.run(compare, parser.parse_args())


if __name__ == "__main__":
    main()
