"""People in the loop: how soon an answer reaches the agent, and whether directives arrive once.

    python -m bench.people [--rounds 40] [--consumers 50] [--directives 1000]

A real server, real MCP clients over HTTP and, for the first line, the console in Chromium. Times
run from the moment the form is sent to the moment the client has the tool's result. Directives are
consumed through two servers that share one database.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.async_api import Page, async_playwright

KEY = "ann:helper@sk-bench-00001111"
HEADERS = {"Authorization": f"Bearer {KEY}"}
QUESTIONS = "/mcp/tools/ask_user"
DIRECTIVES = "/mcp/tools/get_user_requests/api/requests"

_STARTED = re.compile(r"server started: .* port (\d+)")
_NOTE_WHEN_SENT = """
document.addEventListener("submit", () => {
  window.sentAt = performance.timeOrigin + performance.now();
}, true);
"""


@contextmanager
def running_server(database: Path) -> Iterator[str]:
    """Run a server in a process of its own; gives its URL."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(database.parent),
        "CITEWELL_DATABASE_URL": f"sqlite:///{database}",
        "CITEWELL_EMBEDDER": "none",
        "CITEWELL_RATE_LIMIT_PER_KEY": "0",
        "CITEWELL_RATE_LIMIT_PER_ADDRESS": "0",
        "CITEWELL_MCP_LOG_LEVEL": "INFO",
    }
    command = [sys.executable, "-m", "citewell", "serve", "--transport", "streamable-http"]
    with (
        (database.parent / f"server-{time.monotonic_ns()}.log").open("w+") as log,
        subprocess.Popen([*command, "--port", "0"], env=environment, stderr=log) as process,
    ):
        try:
            yield f"http://127.0.0.1:{_wait_for_port(Path(log.name), process)}"
        finally:
            process.terminate()


def _wait_for_port(log: Path, process: subprocess.Popen[bytes]) -> str:
    for _ in range(600):
        if found := _STARTED.search(log.read_text(encoding="utf-8")):
            return found[1]
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise SystemExit(f"the server did not start:\n{log.read_text(encoding='utf-8')}")


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Client]:
    """Give an MCP client with the key."""
    async with (
        httpx2.AsyncClient(headers=HEADERS, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        yield client


class Waiting:
    """A call of `ask_user` that runs, and when its result came."""

    def __init__(self) -> None:
        self.done = anyio.Event()
        self.answered_at = 0.0

    async def ask(self, client: Client, question: str) -> None:
        result = await client.call_tool("ask_user", {"question": question})
        self.answered_at = time.time()
        assert not result.is_error, result.content
        self.done.set()


async def answer_in_browser(client: Client, page: Page, number: int) -> float:
    """Return the seconds from sending the form to the tool's result."""
    waiting = Waiting()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(waiting.ask, client, f"Question {number}?")
        card = page.locator("[data-list=pending] > li")
        await card.locator("textarea").fill(f"Answer {number}")
        await card.get_by_role("button").click()
        await waiting.done.wait()
    sent_at = await page.evaluate("window.sentAt")
    await card.wait_for(state="detached")
    return waiting.answered_at - float(sent_at) / 1000


async def answer_by_api(client: Client, http: httpx2.AsyncClient, number: int) -> float:
    """Return the seconds from posting the answer to the tool's result."""
    waiting = Waiting()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(waiting.ask, client, f"Question {number}?")
        pending: list[dict[str, Any]] = []
        while not pending:
            await anyio.sleep(0.02)
            pending = (await http.get(f"{QUESTIONS}/api/requests")).json()["pending"]
        sent_at = time.time()
        await http.post(f"{QUESTIONS}/api/requests/{pending[0]['id']}", json={"answer": "Yes"})
        await waiting.done.wait()
    return waiting.answered_at - sent_at


async def measure_answers(url: str, other_url: str, *, rounds: int) -> None:
    """Print how soon answers arrive: from the console, from the API, through another server."""
    async with connected(url) as client:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = await browser.new_page()
            await page.add_init_script(_NOTE_WHEN_SENT)
            await page.goto(f"{url}{QUESTIONS}")
            await page.evaluate(f"localStorage.setItem('citewell.key', '{KEY}')")
            await page.reload()
            await page.locator("[data-list=pending]").wait_for(state="attached")
            times = [await answer_in_browser(client, page, number) for number in range(rounds)]
            await browser.close()
        _print_times("typed in the console", times)
        for name, base in (("posted to the API", url), ("posted to another server", other_url)):
            async with httpx2.AsyncClient(base_url=base, headers=HEADERS, timeout=60) as http:
                times = [await answer_by_api(client, http, number) for number in range(rounds)]
            _print_times(name, times)


def _print_times(name: str, seconds: list[float]) -> None:
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))]
    middle = statistics.median(ordered)
    print(
        f"answer {name} → result at the client: p50 {middle * 1000:.0f} ms, "
        f"p95 {p95 * 1000:.0f} ms, most {ordered[-1] * 1000:.0f} ms ({len(seconds)} rounds)"
    )


async def measure_directives(urls: list[str], *, consumers: int, directives: int) -> None:
    """Print whether each directive was delivered once."""
    async with httpx2.AsyncClient(base_url=urls[0], headers=HEADERS, timeout=60) as http:
        for number in range(directives):
            await http.post(DIRECTIVES, json={"content": f"directive {number}"})
    taken: Counter[str] = Counter()

    async def consume(url: str) -> None:
        async with connected(url) as client:
            while True:
                result = await client.call_tool("get_user_request", {})
                assert result.structured_content is not None
                if result.structured_content["status"] == "empty":
                    return
                taken[result.structured_content["content"]] += 1

    started = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for number in range(consumers):
            tasks.start_soon(consume, urls[number % len(urls)])
    seconds = time.perf_counter() - started
    twice = sum(count > 1 for count in taken.values())
    print(
        f"{consumers} consumers at {len(urls)} servers, {directives} directives: "
        f"{len(taken)} delivered, {twice} twice, {directives - len(taken)} lost, {seconds:.1f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--consumers", type=int, default=50)
    parser.add_argument("--directives", type=int, default=1_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        database = Path(folder) / "people.db"
        urls = [stack.enter_context(running_server(database)) for _ in range(2)]

        async def run() -> None:
            await measure_answers(*urls, rounds=options.rounds)
            await measure_directives(
                urls, consumers=options.consumers, directives=options.directives
            )

        anyio.run(run)


if __name__ == "__main__":
    main()
