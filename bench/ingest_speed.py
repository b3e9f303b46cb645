"""How fast pages are ingested: without vectors, and with them against the bare model.

    python -m bench.ingest_speed [--site DIR] [--pages N] [--embedded-pages N]

The site is served by a process of its own, on the same cores. The second figure is a ratio within
this run: chunks a second through fetch, extract, store and embed, over the bare embedder on the
same chunks.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio
from bench.cpu_time import cpu_seconds

from citewell.core.records import SearchFilter
from citewell.inference.open import open_embedder
from citewell.inference.protocols import Embedder
from citewell.ingest.pipeline import Ingester
from citewell.ingest.several_pages import ingest_all
from citewell.store.open import open_store
from citewell.web.fetcher import Fetcher

DEFAULT_SITE = Path("/tmp/sites/python3.11-doc/usr/share/doc/python3.11/html")


@contextmanager
def served_by_another_process(folder: Path) -> Iterator[tuple[str, int]]:
    """Serve the folder on loopback; give its address and the process, which is ended afterwards."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "http.server",
        str(port),
        "--bind",
        "127.0.0.1",
        "-p",
        "HTTP/1.1",
    ]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while True:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
        yield f"http://127.0.0.1:{port}/", process.pid
    finally:
        process.terminate()
        process.wait()


async def ingest(
    urls: Sequence[str], embedder: Embedder | None, site: int
) -> tuple[float, float, list[str]]:
    """Return the seconds and the CPU seconds it took, and the embedded text of every chunk.

    Vectors and the processes that read pages count, the process of the site does not.
    """
    with tempfile.TemporaryDirectory() as folder:
        store = await open_store(f"sqlite:///{folder}/bench.db")
        async with (
            Fetcher(allowed_private_hosts=("127.0.0.1",), respect_robots=False) as fetcher,
            Ingester(
                store=store, fetcher=fetcher, embedder=embedder, stale_after_days=30
            ) as ingester,
        ):
            started, spent = time.perf_counter(), -cpu_seconds(os.getpid(), without=site)
            await ingest_all(ingester, urls, project="default")
            pages = await store.list_pages(SearchFilter(), limit=100_000)
            await ingester.embed_now([page.source_id for page in pages])
            seconds = time.perf_counter() - started
            spent += cpu_seconds(os.getpid(), without=site)
            texts = [text for _, text in await store.chunks_to_embed(model="none", limit=1_000_000)]
        await store.aclose()
    return seconds, spent, texts


def run(options: argparse.Namespace) -> None:
    if not options.site.exists():
        print(f"no site at {options.site}; give --site")
        return
    paths = sorted(
        file.relative_to(options.site).as_posix() for file in options.site.rglob("*.html")
    )
    random.Random(1).shuffle(paths)
    with served_by_another_process(options.site) as (base, site):
        urls = [base + path for path in paths[: options.pages]]
        seconds, spent, texts = anyio.run(ingest, urls, None, site)
        numbers = {
            "pages/s": round(len(urls) / seconds, 1),
            "CPU ms a page": round(1000 * spent / len(urls), 1),
        }
        print(f"without vectors: {len(urls)} pages, {len(texts)} chunks, {numbers}")
        if options.embedded_pages:
            embedded = urls[: options.embedded_pages]
            numbers |= anyio.run(compare_with_bare_embedder, embedded, site)
    if options.json is not None:
        options.json.write_text(json.dumps(numbers, indent=1), "utf-8")


async def compare_with_bare_embedder(urls: Sequence[str], site: int) -> dict[str, float]:
    """Return the chunks a second of an ingest with vectors, beside those of the model alone."""
    embedder = open_embedder("granite", endpoint="", api_key=None, threads=0)
    assert embedder is not None, "granite is always there"
    await embedder.embed_query("load")
    seconds, spent, texts = await ingest(urls, embedder, site)
    # Another one: the first remembers the vectors that it made.
    bare_embedder = open_embedder("granite", endpoint="", api_key=None, threads=0)
    assert bare_embedder is not None, "granite is always there"
    await bare_embedder.embed_query("load")
    started, bare_spent = time.perf_counter(), -cpu_seconds(os.getpid(), without=site)
    await bare_embedder.embed_passages(texts)
    bare = time.perf_counter() - started
    bare_spent += cpu_seconds(os.getpid(), without=site)
    through, alone = len(texts) / seconds, len(texts) / bare
    print(
        f"with vectors: {len(texts)} chunks, {through:.1f} chunks/s; "
        f"bare embedder {alone:.1f} chunks/s; ratio {through / alone:.2f}, by CPU "
        f"{bare_spent / spent:.2f}"
    )
    return {
        "chunks/s with vectors": round(through, 1),
        "chunks/s of the bare model": round(alone, 1),
        "CPU ms a chunk with vectors": round(1000 * spent / len(texts), 2),
        "CPU ms a chunk of the bare model": round(1000 * bare_spent / len(texts), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, default=DEFAULT_SITE)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--embedded-pages", type=int, default=20)
    parser.add_argument("--json", type=Path, help="write the numbers without vectors here")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
