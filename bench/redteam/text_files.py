"""Text files of many kinds, large or malformed: they are read or refused, and nobody waits.

Each is fetched, ingested, quoted and asked by the application in this process; the site has a
hostile sitemap, llms.txt and inventory, too.
"""

from __future__ import annotations

import json
import random
import tempfile
import time
import zlib
from typing import TYPE_CHECKING, Any

import anyio
from bench.redteam.attempt import Attempt, is_quick
from tests.site import Answer, Response, running_site
from tests.tools.library import open_library

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.tools.library import Library

NAME = "text-files"
_LONGEST_STEP_SECONDS = 0.25
_TOOLS: dict[str, dict[str, Any]] = {
    "web_fetch": {},
    "ingest": {},
    "kb_verify_quote": {"quote": "The heron is not here in any way."},
    "answer": {"query": "What is a heron?"},
}
_SECONDS = 90.0


def _file(body: bytes | str, content_type: str) -> Response:
    content = body if isinstance(body, bytes) else body.encode()
    return Response(body=content, headers={"Content-Type": content_type})


def _messages(count: int) -> str:
    return "".join(
        f"From a@b.example Mon Jan  1 00:00:00 2024\nFrom: Ann <a{i}@b.example>\nSubject: Heron {i}"
        f"\nDate: Mon, 1 Jan 2024 00:00:00 +0000\n\nHerons wade {i}.\n\n"
        for i in range(count)
    )


_WORD = "=?utf-8?q?a?= "
_ITEM = "<item><title>a</title><link>http://a.example/</link></item>"
_CELL = {"cell_type": "markdown", "source": ["# a\n"] * 3, "metadata": {}}
_BYTES = bytes(random.Random(1).randrange(128, 256) for _ in range(2_000_000))
_SITEMAP = f"<urlset>{'<url><loc>http://127.0.0.1/x</loc></url>' * 60_000}</urlset>"
_INVENTORY = b"# Sphinx inventory version 2\n# Project: x\n# Version: 1\n# packed by zlib.\n"
_FILES: dict[str, Response] = {
    "wide JSON": _file(json.dumps({f"k{i}": i for i in range(150_000)}), "application/json"),
    "deep JSON": _file("[" * 500_000, "application/json"),
    "many messages": _file(_messages(15_000), "application/mbox"),
    "a long header": _file(
        f"From a@b\nSubject: {'=?utf-8?q?a?= ' * 100_000}\n\nx", "application/mbox"
    ),
    "CSV": _file("a,b,c\n" * 400_000, "text/csv"),
    "quotation marks": _file('"' * 2_000_000, "text/csv"),
    "TSV": _file("a\tb\n" * 400_000, "text/tab-separated-values"),
    "YAML": _file("a: &a [*a" * 10 + "\n" + "- x\n" * 300_000, "application/yaml"),
    "TOML": _file("[a]\n" * 300_000, "application/toml"),
    "deep XML": _file("<a>" * 400_000, "application/xml"),
    "a feed": _file(f"<rss><channel>{_ITEM * 30_000}</channel></rss>", "application/rss+xml"),
    "TeX": _file("\\section{a}\n$x$ " * 100_000, "application/x-tex"),
    "a manual page": _file(".SH NAME\n\\fBa\\fR\n" * 100_000, "text/troff"),
    "a diff": _file("--- a\n+++ b\n@@ -1 +1 @@\n" * 80_000, "text/x-diff"),
    "a calendar": _file("BEGIN:VEVENT\nSUMMARY:x\nEND:VEVENT\n" * 50_000, "text/calendar"),
    "a notebook": _file(
        json.dumps({"cells": [_CELL] * 20_000, "metadata": {}, "nbformat": 4}),
        "application/x-ipynb+json",
    ),
    "Org": _file("* a\n:PROPERTIES:\n:END:\n" * 80_000, "text/org"),
    "one line": _file("a" * 3_000_000, "text/plain"),
    "a log": _file("2024-01-01 ERROR herons\n" * 120_000, "text/plain"),
    "reST": _file("a\n=\n\n" * 150_000, "text/x-rst"),
    "AsciiDoc": _file("= a\n\n== b\n\n" * 100_000, "text/asciidoc"),
    "Markdown": _file("[a](b) ![c](d) `e` **f** " * 60_000, "text/markdown"),
    "references": _file("[a]: b\n" * 200_000 + "[a] " * 100_000, "text/markdown"),
    "JavaScript": _file("/** a */ function b(){}\n" * 60_000, "text/javascript"),
    "Python": _file("def a():\n    '''b'''\n" * 60_000, "text/x-python"),
    "zero bytes": _file(b"\0a" * 1_500_000, "text/plain"),
    "UTF-16": _file(("heron " * 300_000).encode("utf-16"), "text/plain; charset=utf-16"),
    "bytes of no charset": _file(_BYTES, "text/plain"),
    "meta elements": _file(f"<head>{'<meta name=a content=b>' * 100_000}</head>x", "text/html"),
    "a sitemap": _file(_SITEMAP, "application/xml"),
}


async def attack() -> AsyncIterator[Attempt]:
    """Call tools with each file, and see for how long the event loop does one thing meanwhile."""
    files = dict(list(_FILES.items())[:: 4 if is_quick() else 1])
    pages: dict[str, Answer] = {f"/{number}": file for number, file in enumerate(files.values())}
    pages |= {
        "/": "<h1>Birds</h1><p>Herons wade.</p>",
        "/sitemap.xml": _FILES["a sitemap"],
        "/llms.txt": _file("# a\n" + "- [a](/b): c\n" * 80_000, "text/plain"),
        "/objects.inv": _file(
            _INVENTORY + zlib.compress(b"a py:function 1 b.html -\n" * 300_000), "text/plain"
        ),
    }
    with tempfile.TemporaryDirectory() as folder, running_site(pages) as site:
        async with open_library(
            web_allowed_private_hosts=(site.host,),
            mcp_tool_timeout=_SECONDS,
            database_url=f"sqlite:///{folder}/library.db",
        ) as library:
            # What is loaded at the first call is not counted.
            await library.call("web_fetch", url=site.url("/0"))
            for number, what in enumerate(files):
                for tool, arguments in _TOOLS.items():
                    asked = {**arguments, "url": site.url(f"/{number}")}
                    yield await _call(f"{tool} of {what}", library, tool, asked)
            asked = {"url": site.url("/")}
            yield await _call("a site", library, "rag_process_website", asked)


async def _call(what: str, library: Library, tool: str, arguments: dict[str, Any]) -> Attempt:
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            # CPU time of the loop's own thread: what else the machine does is not counted.
            before = time.thread_time()
            try:
                await anyio.sleep(0.005)
            finally:
                longest = max(longest, time.thread_time() - before)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        result = await library.result(tool, **arguments)
        tasks.cancel_scope.cancel()
    code = result.structured["error"]["code"] if result.is_error else "read"
    return Attempt(
        what=what,
        held=longest < _LONGEST_STEP_SECONDS and code != "INTERNAL_ERROR",
        outcome=f"{code}, the loop busy for {longest:.2f} s",
    )
