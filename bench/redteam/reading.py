"""Pages that are made to be slow or large to read: each ends in time, read or refused.

The limits are those of an idle machine; under load the pauses measure the load.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import anyio
from bench.redteam.attempt import Attempt

from citewell.core.errors import CitewellError
from citewell.core.records import FetchedPage
from citewell.ingest.reading import PageReader
from citewell.web.body import open_body
from citewell.web.sandbox import CPU_SECONDS, Sandbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

NAME = "reading"
_URL = "https://site.example/page"
_LONGEST_PAUSE_SECONDS = 0.25
_PAGES: dict[str, tuple[str, str]] = {
    "comments before nothing": ("text/plain", "<!---->" * 60 + "x"),
    "images in a link": ("text/markdown", "[" + "![a](b)" * 20_000),
    "open TeX": ("text/markdown", "\\(" * 150_000),
    "open links": ("text/markdown", "[a](b " * 50_000),
    "backticks": ("text/markdown", "".join("`" * n + " " for n in range(1, 700))),
    "emphasis": ("text/markdown", "# " + "*a **b " * 40_000),
    "a table of 3 MB": ("text/html", "<table>" + "<tr><td>a<td>b" * 200_000 + "</table>"),
    "200,000 links": ("text/html", "<p>" + "<a href=/a>a</a> " * 200_000),
    "deep lists": ("text/html", "<ul><li>a" * 4_000),
    "thousands of headings": ("text/html", "<h2>a</h2><p>b</p>" * 30_000),
    "attributes": ("text/html", "<p " + "a=b " * 200_000 + ">text</p>"),
    "entities": ("text/html", "<p>" + "&amp;" * 300_000 + "</p>"),
}


async def attack() -> AsyncIterator[Attempt]:
    """Read each page, and see for how long the event loop does one thing meanwhile."""
    sandbox = Sandbox(preload=("citewell.ingest.reading",))
    sandbox.warm_up()
    for what, (content_type, text) in _PAGES.items():
        yield await _read(what, content_type, text.encode(), sandbox)
    await sandbox.aclose()


async def _read(what: str, content_type: str, body: bytes, sandbox: Sandbox) -> Attempt:
    pauses = [0.0]

    async def watch() -> None:
        while True:
            # CPU time of the loop's own thread: what else the machine does is not counted.
            before = time.thread_time()
            await anyio.sleep(0.01)
            pauses.append(time.thread_time() - before)

    started = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        outcome = "read"
        try:
            kind, page_text, encoding, _ = await sandbox.run(open_body, body, content_type, _URL)
            page = FetchedPage(
                url=_URL,
                final_url=_URL,
                status=200,
                kind=kind,
                body=body,
                text=page_text,
                encoding=encoding,
                fetched_at=datetime.now(UTC),
            )
            await PageReader(sandbox).read(page)
        except CitewellError as error:
            outcome = error.message
        tasks.cancel_scope.cancel()
    seconds, pause = time.perf_counter() - started, max(pauses)
    held = seconds < CPU_SECONDS and pause < _LONGEST_PAUSE_SECONDS
    return Attempt(
        what=what,
        held=held,
        outcome=f"{outcome} in {seconds:.1f} s, the loop busy for {pause:.2f} s",
    )
