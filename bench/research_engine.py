"""The research engine as the server runs it, over pages on loopback or a judged set's store."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bench.cached_embedder import CachedEmbedder
from typing_extensions import override

from citewell.core.settings import Settings
from citewell.inference.open import open_embedder, open_reranker
from citewell.inference.protocols import Embedder, Reranker
from citewell.ingest.pipeline import Ingester
from citewell.research.engine import Engine
from citewell.research.parts import Limits, Parts
from citewell.store.protocol import Store
from citewell.web.fetcher import Fetcher


def cached_embedder(cache: Path) -> CachedEmbedder:
    """Return the default model with its vectors kept in `cache`."""
    model = open_embedder("granite", endpoint="", api_key=None, threads=0)
    assert model is not None, "granite is always there"
    return CachedEmbedder(model, cache / "vectors.db")


def default_reranker() -> Reranker | None:
    """Return the reranker that a server without settings uses."""
    return open_reranker(Settings().reranker, endpoint="", api_key=None, threads=0)


def default_limits() -> Limits:
    """Return how far a server without settings goes."""
    return Limits()


@asynccontextmanager
async def open_engine(
    store: Store, embedder: Embedder | None, reranker: Reranker | None
) -> AsyncIterator[Engine]:
    """Give an engine that fetches from loopback; vectors are made for candidates only."""
    async with (
        Fetcher(allowed_private_hosts=("127.0.0.1",), respect_robots=False) as fetcher,
        Ingester(store=store, fetcher=fetcher, embedder=None, stale_after_days=30) as ingester,
    ):
        parts = Parts(store=store, ingester=ingester, embedder=embedder, reranker=reranker)
        yield Engine(parts, default_limits())


@contextmanager
def served_folder(folder: Path, *, port: int = 0) -> Iterator[str]:
    """Serve a folder of HTML on loopback and give its base URL."""
    with _running(partial(_QuietFiles, directory=str(folder)), port) as base:
        yield base


@contextmanager
def served_pages(pages: Mapping[str, str]) -> Iterator[str]:
    """Serve HTML by path (without the leading slash) on loopback and give the base URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 65_536

        def do_GET(self) -> None:
            page = pages.get(self.path.lstrip("/"))
            body = (page or "").encode()
            self.send_response(200 if page is not None else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, format: str, *args: object) -> None:
            pass

    with _running(Handler, 0) as base:
        yield base


class _QuietFiles(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65_536

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def _running(
    handler: type[BaseHTTPRequestHandler] | partial[_QuietFiles], port: int
) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
