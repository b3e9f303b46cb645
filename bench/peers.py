"""Citewell beside other ways of giving a model a documentation page, as the table of the README.

    python -m bench.peers [--count 12] [--site python3.11-doc]

Takes the first even lines of the developers' questions whose page is known, serves those pages on
loopback, and asks each peer as a model would, over MCP. A peer is installed from its registry into
an environment of its own below .peers; those that are not asked are named at the end with a reason.
`answered` counts responses that hold the answering sentence; tokens are those of the response.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from bench.plain_fts import PlainSearch
from bench.question_sites import DEFAULT_SITES, served
from bench.questions import DEFAULT_QUESTIONS, AskedQuestion, read_questions, score
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from citewell.store.open import open_store

PEERS = Path(".peers")
LEFT_OUT = {
    "docs-mcp-server": "the registry that was at hand does not have @arabold/docs-mcp-server",
    "servemd": "serves folders of Markdown, and these pages are HTML",
}


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


async def ask_citewell(
    questions: Sequence[tuple[AskedQuestion, str]], address: str, database: str
) -> list[Row]:
    """Index the pages, then search them for each question."""
    row, fts = Row(name="**Citewell** `search`"), Row(name="plain FTS5, five sections")
    urls = sorted({f"{address}{page}" for _, page in questions})
    host = address.removeprefix("http://").strip("/")
    env = {"CITEWELL_DATABASE_URL": database, "CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS": host}
    command = [sys.executable, "-m", "citewell"]
    await anyio.run_process([*command, "ingest", *urls], env=env)
    async with connected(*command, "serve", **env) as client:
        await call(client, "search", {"query": questions[0][0].text})
        for question, _ in questions:
            row.add(question, *await call(client, "search", {"query": question.text}))
    plain = PlainSearch(trigrams=False)
    store = await open_store(database)
    await plain.fill(store)
    await store.aclose()
    for question, _ in questions:
        began = time.monotonic()
        found = "\n\n".join(section.shown for section in plain.search(question.text))
        fts.add(question, found, time.monotonic() - began)
    return [row, fts]


async def ask_fetch(questions: Sequence[tuple[AskedQuestion, str]], address: str) -> list[Row]:
    """Fetch the page that holds the answer, which a model would first have to know."""
    python = installed_from_pypi("mcp-server-fetch")
    row = Row(name="mcp-server-fetch, given the right page")
    options = ("--ignore-robots-txt", "--allow-private-ips")
    async with connected(python, "-m", "mcp_server_fetch", *options) as client:
        for question, page in questions:
            row.add(question, *await call(client, "fetch", {"url": f"{address}{page}"}))
    return [row]


def installed_from_pypi(package: str) -> str:
    """Return the Python of an environment that has nothing but the package."""
    folder = PEERS / package
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=True)
    return str(python)


async def compare(options: argparse.Namespace) -> None:
    """Ask all of them and print the table."""
    questions = chosen_questions(options.questions, options.site, options.count)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, served(options.sites, options.site) as address:
        rows += await ask_citewell(questions, address, f"sqlite:///{folder}/peers.db")
        rows += await ask_fetch(questions, address)
    print("| | answering sentence returned | tokens, median | seconds, median |")
    print("| --- | --- | --- | --- |")
    print("\n".join(row.line() for row in rows))
    for name, reason in LEFT_OUT.items():
        print(f"{name}: {reason}", file=sys.stderr)


def main() -> None:
    """Read the options and compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--questions", type=Path, default=DEFAULT_QUESTIONS)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--site", default="python3.11-doc")
    parser.add_argument("--count", type=int, default=12)
    anyio.run(compare, parser.parse_args())


if __name__ == "__main__":
    main()
