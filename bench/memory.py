"""Memory of the HTTP server after one search: an empty store, one page, and 15,000 chunks."""

from __future__ import annotations

import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import anyio
import numpy as np

from citewell.app.open import open_app
from citewell.core.records import Chunk, ExtractedPage, FetchedPage, PageDraft, Section
from citewell.core.settings import Settings

RUNS = 3
CHUNKS_PER_PAGE = 50
WORDS_PER_CHUNK = 150
VOCABULARY = 20_000


def made_up_word(chance: random.Random) -> str:
    """Return a word; as in any language, a few are common and most are rare."""
    return f"w{min(VOCABULARY, int(chance.paretovariate(0.7)))}"


def made_up_page(number: int, chunks: int, chance: random.Random) -> PageDraft:
    """Return a page of one section, all of made-up words."""
    url = f"https://example.org/{number}"
    title = f"Page {number}"
    texts = [" ".join(made_up_word(chance) for _ in range(WORDS_PER_CHUNK)) for _ in range(chunks)]
    text = "\n\n".join(texts)
    starts = [i * 2 + sum(map(len, texts[:i])) for i in range(chunks)]
    section = Section(
        ordinal=0, parent=None, level=1, heading=title, anchor=None, start=0, end=len(text)
    )
    return PageDraft(
        url=url,
        fetched=FetchedPage(
            url=url,
            final_url=url,
            status=200,
            kind="html",
            body=b"",
            fetched_at=datetime.now(UTC),
        ),
        extracted=ExtractedPage(
            title=title, text=text, kind="html", language="en", sections=(section,)
        ),
        chunks=tuple(
            Chunk(
                ordinal=ordinal,
                section=0,
                start=start,
                end=start + len(words),
                text=words,
                tokens=2 * WORDS_PER_CHUNK,
                heading_path=(title,),
                anchor=None,
                embedded_text=f"{title}\n{words}",
            )
            for ordinal, (start, words) in enumerate(zip(starts, texts, strict=True))
        ),
    )


async def fill_store(address: str, chunks: int) -> None:
    """Put `chunks` chunks with random vectors of the default model into the store."""
    chance, noise = random.Random(7), np.random.default_rng(7)
    async with open_app(Settings(database_url=address), role="command") as app:
        parts = await app.open("store", "embedder")
        embedder, store = parts.embedder, parts.store
        assert embedder is not None
        for number in range(-(-chunks // CHUNKS_PER_PAGE)):
            on_page = min(CHUNKS_PER_PAGE, chunks - number * CHUNKS_PER_PAGE)
            await store.put_page(made_up_page(number, on_page, chance))
        while waiting := await store.chunks_to_embed(model=embedder.name, limit=1_000):
            made = noise.standard_normal((len(waiting), embedder.dimensions)).astype(np.float32)
            made /= np.linalg.norm(made, axis=1, keepdims=True)
            vectors = {chunk_id: made[i] for i, (chunk_id, _) in enumerate(waiting)}
            await store.put_vectors(vectors, model=embedder.name)


@contextmanager
def http_server(address: str, folder: Path) -> Iterator[tuple[int, str]]:
    """Run the server; gives its process id and URL."""
    log = folder / "server.log"
    command = [sys.executable, "-m", "citewell", "serve", "--transport", "streamable-http"]
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [*command, "--port", "0"],
            env={**os.environ, "CITEWELL_DATABASE_URL": address},
            stderr=stderr,
        )
    try:
        while not (found := re.search(rb"server started: .* port (\d+)", log.read_bytes())):
            assert process.poll() is None, log.read_text(encoding="utf-8")
            time.sleep(0.05)
        yield process.pid, f"http://127.0.0.1:{int(found[1])}/mcp"
    finally:
        process.terminate()
        process.wait(10)


def search(url: str) -> None:
    params = {"name": "search", "arguments": {"query": "What is w7 and how does w1234 use it?"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        assert not json.load(response)["result"].get("isError")


def resident_megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1024


def main() -> None:
    print("| chunks in the store | after start, MB | after one search, MB | over none, MB |")
    print("|---|---|---|---|")
    none = 0.0
    for chunks in (0, 1, 15_000):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            address = f"sqlite:///{folder}/memory.db"
            anyio.run(fill_store, address, chunks)
            started, searched = zip(*(measure(address, folder) for _ in range(RUNS)), strict=True)
        after = statistics.median(searched)
        none = none or after
        print(
            f"| {chunks:,} | {statistics.median(started):.0f} | {after:.0f} | {after - none:.0f} |"
        )


def measure(address: str, folder: Path) -> tuple[float, float]:
    with http_server(address, folder) as (pid, url):
        before = resident_megabytes(pid)
        search(url)
        return before, resident_megabytes(pid)


if __name__ == "__main__":
    main()
