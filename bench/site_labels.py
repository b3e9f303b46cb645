"""Known-item search on a whole site: serve it on loopback, fetch, ingest and search for real.

    python -m bench.site_labels [SET] [--data DIR] [--sites DIR] [--store FILE] [--no-vectors]

Prints pages ingested a second, page hit@1 and hit@5, and milliseconds a query. The store is kept
when a file is named, and pages already in it are not fetched again.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
from bench.judged_sets import (
    DEFAULT_DATA,
    DEFAULT_SITES,
    SITE_SETS,
    JudgedQuery,
    judged_queries,
    site_url,
)
from typing_extensions import override

from citewell.core.records import SearchFilter
from citewell.inference.calibrated_reranker import CalibratedReranker
from citewell.inference.open import open_embedder
from citewell.inference.protocols import Embedder
from citewell.ingest.pipeline import Ingester
from citewell.ingest.several_pages import ingest_all
from citewell.retrieve.pipeline import Models, Options, retrieve
from citewell.store.open import open_store
from citewell.store.protocol import Store
from citewell.web.fetcher import Fetcher

BLOCKS = 20


class QuietHandler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(root: Path) -> Iterator[str]:
    """Give the address of a loopback site that serves the files under `root`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(root)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def ingest_site(urls: Sequence[str], store: Store) -> None:
    """Fetch and ingest every page of the site through the real fetcher; prints the pace."""
    started = time.perf_counter()
    async with (
        Fetcher(
            user_agent="citewell-bench",
            timeout_seconds=30,
            max_page_bytes=20_000_000,
            max_redirects=5,
            max_retries=1,
            respect_robots=True,
            host_concurrency=4,
            host_delay_seconds=0.0,
            allowed_ports=(),
            allowed_private_hosts=("127.0.0.1",),
        ) as fetcher,
        Ingester(store=store, fetcher=fetcher, embedder=None, stale_after_days=1) as ingester,
    ):
        outcomes = await ingest_all(ingester, urls, project="default")
    seconds = time.perf_counter() - started
    failed = sum(outcome.page is None for outcome in outcomes)
    print(
        f"ingested {len(urls) - failed} pages at {len(urls) / seconds:.0f} a second; {failed} not"
    )


async def search_site(
    queries: Sequence[JudgedQuery], site: str, *, store: Store, embedder: Embedder | None
) -> None:
    """Ask every query and print how often its page comes first and among the first five."""
    home = site_url("")
    firsts, fifths, seconds = [], [], []
    for query in queries:
        started = time.perf_counter()
        found = await retrieve(
            query.text,
            store=store,
            models=Models(embedder=embedder, reranker=CalibratedReranker()),
            where=SearchFilter(url_prefix=site),
            options=Options(limit=BLOCKS),
        )
        seconds.append(time.perf_counter() - started)
        pages = list(
            dict.fromkeys(home + each.chunk.url.removeprefix(site) for each in found.chunks)
        )
        firsts.append(any(page in query.gains for page in pages[:1]))
        fifths.append(any(page in query.gains for page in pages[:5]))
    print(
        f"{len(queries)} queries: page hit@1 {statistics.fmean(firsts):.3f}, "
        f"hit@5 {statistics.fmean(fifths):.3f}, median {statistics.median(seconds) * 1000:.0f} ms"
    )


async def run(options: argparse.Namespace) -> None:
    root = options.sites / SITE_SETS[options.set]
    if not root.exists() or not options.data.exists():
        print(f"no site at {root} or no data at {options.data}; give --sites and --data")
        return
    paths = sorted(file.relative_to(root).as_posix() for file in root.rglob("*.html"))
    embedder = None
    if not options.no_vectors:
        embedder = open_embedder("granite", endpoint="", api_key=None, threads=0)
    with tempfile.TemporaryDirectory() as folder, served(root) as site:
        file = options.store or Path(folder) / "site.db"
        store = await open_store(f"sqlite://{file.absolute()}")
        try:
            await ingest_site([site + path for path in paths], store)
            queries = list(judged_queries(options.set, data=options.data))[: options.max_queries]
            await search_site(queries, site, store=store, embedder=embedder)
        finally:
            await store.aclose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", nargs="?", default="labels_python_dev", choices=sorted(SITE_SETS))
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA)
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--store", type=Path, help="keep the store in this file")
    parser.add_argument("--max-queries", type=int, default=10_000)
    parser.add_argument("--no-vectors", action="store_true", help="search by words alone")
    anyio.run(run, parser.parse_args())


if __name__ == "__main__":
    main()
