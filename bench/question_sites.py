"""The sites of the developers' questions, as one library that is ingested once and kept.

    python -m bench.question_sites [SITE …] [--again]

Ingests the sites into the cache and makes their vectors, which takes an hour on two cores; an
interrupted run goes on where it stopped. `--again` reads all pages anew, keeping the vectors of
texts that did not change.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from sqlite3 import connect
from threading import Thread
from urllib.parse import quote

import anyio
from bench.cached_embedder import CachedEmbedder
from bench.judged_sets import DEFAULT_CACHE as JUDGED_CACHE
from bench.judged_sets import DEFAULT_SITES as DEFAULT_SITES
from bench.site_labels import QuietHandler

from citewell.core.errors import CitewellError
from citewell.core.records import FetchedPage
from citewell.inference.open import open_embedder
from citewell.ingest.embed import EmbeddingQueue
from citewell.ingest.outcome import PARALLEL_PAGES
from citewell.ingest.pipeline import Ingester
from citewell.store.open import open_store
from citewell.store.protocol import Store
from citewell.web.fetcher import Fetcher

DEFAULT_CACHE = JUDGED_CACHE / "questions"
PROJECT = "default"
_PORT = 8917


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A documentation site: where its files lie, and the loopback address that serves them."""

    name: str
    root: str
    address: str

    @property
    def url(self) -> str:
        """What all its pages' URLs begin with."""
        return f"http://{self.address}:{_PORT}/"

    def page_url(self, path: str) -> str:
        """Return the URL of one of its files."""
        return self.url + quote(path)


# An address each, since to Citewell a host is a site.
SITES = {
    name: Site(name=name, root=root, address=f"127.0.{third}.1")
    for third, (name, root) in enumerate(
        (
            ("git-doc", "usr/share/doc/git-doc"),
            ("debian-reference-ja", "usr/share/debian-reference"),
            ("developers-reference-ja", "usr/share/developers-reference/ja"),
            ("rust-doc", "usr/share/doc/rust-doc/html/book"),
            ("apache2-doc", "usr/share/doc/apache2-doc/manual/en"),
            ("python3.11-doc", "usr/share/doc/python3.11/html"),
            ("python-sqlalchemy-doc", "usr/share/doc/python-sqlalchemy-doc/html"),
            ("python-scipy-doc", "usr/share/doc/python-scipy-doc/html"),
            # These have no questions in the data: they are for near misses and for fitting.
            ("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html"),
            ("python-django-doc", "usr/share/doc/python-django-doc/html"),
            ("sqlite3-doc", "usr/share/doc/sqlite3"),
            ("debian-reference-en", "usr/share/debian-reference"),
            # Those of unseen_sites.jsonl.
            ("bacula-doc", "usr/share/doc/bacula-doc/html"),
            ("ntpsec-doc", "usr/share/doc/ntpsec-doc/html"),
            ("openvswitch-doc", "usr/share/doc/openvswitch-doc/html"),
            ("python-scrapy-doc", "usr/share/doc/python-scrapy-doc/html"),
            # Those of fresh_sites.jsonl.
            ("knot-resolver-doc", "usr/share/doc/knot-resolver"),
            ("slony1-2-doc", "usr/share/doc/slony1-2-doc/adminguide"),
            ("scons-doc", "usr/share/doc/scons/HTML"),
            ("python-tornado-doc", "usr/share/doc/python-tornado-doc/html"),
            # Those of later_sites.jsonl.
            ("python-djangorestframework-doc", "usr/share/doc/python3-djangorestframework/html"),
            ("valgrind", "usr/share/doc/valgrind/html"),
            ("gettext-doc", "usr/share/doc/gettext"),
            ("emscripten-doc", "usr/share/doc/emscripten-doc/html"),
            ("docutils-doc", "usr/share/doc/docutils-doc"),
            # Those of blind_sites.jsonl.
            ("freetds-doc", "usr/share/doc/freetds-doc/userguide"),
            ("h2o-doc", "usr/share/doc/h2o"),
            ("snakemake-doc", "usr/share/doc/snakemake/html"),
            ("libapache2-mod-perl2-doc", "usr/share/doc/libapache2-mod-perl2-doc"),
            # Those of recent_sites.jsonl.
            ("krb5-doc", "usr/share/doc/krb5-doc"),
            ("kitty-doc", "usr/share/doc/kitty/html"),
            ("shorewall-doc", "usr/share/doc/shorewall-doc/html"),
            ("python-xarray-doc", "usr/share/doc/python-xarray-doc/html"),
            # Those of newest_sites.jsonl.
            ("proftpd-doc", "usr/share/doc/proftpd-doc"),
            ("python-lxml-doc", "usr/share/doc/python-lxml/html"),
            ("nim-doc", "usr/share/doc/nim/html"),
            ("wireshark-doc", "usr/share/doc/wireshark"),
            # Those of latest_sites.jsonl.
            ("postfix-doc", "usr/share/doc/postfix/html"),
            ("slurm-wlm-doc", "usr/share/doc/slurm-wlm/html"),
            ("varnish-doc", "usr/share/doc/varnish/html"),
            ("nut-doc", "usr/share/doc/nut-doc/html"),
            # Those of trained_sites.jsonl.
            ("bind9-doc", "usr/share/doc/bind9-doc/arm"),
            ("python-aiohttp-doc", "usr/share/doc/python-aiohttp-doc/html"),
            ("exim4-doc-html", "usr/share/doc/exim4-doc-html/spec_html"),
            ("python-click-doc", "usr/share/doc/python-click-doc/html"),
            ("fish-common", "usr/share/doc/fish"),
            # Those of desktop_sites.jsonl.
            ("python-pil-doc", "usr/share/doc/python-pil-doc/html"),
            ("ffmpeg-doc", "usr/share/doc/ffmpeg/manual"),
            ("gnucash-docs", "usr/share/doc/gnucash-docs/gnucash-guide-en"),
            ("qemu-system-common", "usr/share/doc/qemu-system-common/system"),
            # Those of winter_sites.jsonl.
            ("putty-doc", "usr/share/doc/putty-doc"),
            ("swig4.0-doc", "usr/share/doc/swig4.0-doc/Manual"),
            ("erlang-doc", "usr/share/doc/erlang-doc/doc"),
            ("libglib2.0-doc", "usr/share/gtk-doc/html/glib"),
        ),
        start=1,
    )
}
ASKED = tuple(SITES)[:8]


def open_kept_embedder(cache: Path, *, threads: int = 0) -> CachedEmbedder:
    """Return the built-in embedder; vectors are kept by text, so a re-ingested site has them."""
    embedder = open_embedder("granite", endpoint="", api_key=None, threads=threads)
    assert embedder is not None, "granite is always there"
    return CachedEmbedder(embedder, cache / "vectors.db")


@asynccontextmanager
async def open_library(cache: Path, name: str, *, model: str) -> AsyncIterator[Store]:
    """Give the kept store of one site."""
    store = await open_store(f"sqlite://{(cache / f'{name}.db').absolute()}", model=model)
    try:
        yield store
    finally:
        await store.aclose()


def copy_library(kept: Path, library: Path) -> None:
    """Copy a library that another process may be writing."""
    with closing(connect(kept)) as source, closing(connect(library)) as target:
        source.backup(target)


def loopback_fetcher() -> Fetcher:
    """Return the real fetcher, allowed to reach the sites on loopback and nothing else there."""
    return Fetcher(
        user_agent="citewell-bench",
        timeout_seconds=30,
        max_page_bytes=20_000_000,
        max_redirects=5,
        max_retries=0,
        respect_robots=False,
        host_concurrency=4,
        host_delay_seconds=0.0,
        allowed_ports=(),
        allowed_private_hosts=tuple(site.address for site in SITES.values()),
    )


@contextmanager
def served(sites: Path, name: str) -> Iterator[str]:
    """Serve the files of a site at its address, and give that."""
    site = SITES[name]
    handler = partial(QuietHandler, directory=str(sites / name / site.root))
    server = ThreadingHTTPServer((site.address, _PORT), handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site.url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def site_pages(sites: Path, name: str) -> Iterator[FetchedPage]:
    """Give every HTML file of a site as it would have been fetched."""
    site = SITES[name]
    root = sites / name / site.root
    for file in sorted(root.rglob("*.html")):
        # Old editions and other languages lie beside the ones that are asked about.
        path = file.relative_to(root).as_posix()
        if path.split("/")[0].endswith("-edition"):
            continue
        body = file.read_bytes()
        url = site.page_url(path)
        yield FetchedPage(
            url=url,
            final_url=url,
            status=200,
            kind="html",
            body=body,
            text=body.decode("utf-8", "replace"),
            fetched_at=datetime.now(UTC),
        )


async def ingest_site(sites: Path, name: str, store: Store) -> None:
    """Read the files of a site into the store, without vectors; prints the pace."""
    started = time.perf_counter()
    pages, skipped = 0, 0
    limit = anyio.Semaphore(PARALLEL_PAGES)

    async def put(fetched: FetchedPage) -> None:
        nonlocal pages, skipped
        try:
            await ingester.ingest_fetched(fetched, project=PROJECT, tags=(name,))
            pages += 1
        except CitewellError:
            skipped += 1
        finally:
            limit.release()

    async with (
        loopback_fetcher() as fetcher,
        Ingester(store=store, fetcher=fetcher, embedder=None, stale_after_days=9_999) as ingester,
        anyio.create_task_group() as tasks,
    ):
        for fetched in site_pages(sites, name):
            await limit.acquire()
            tasks.start_soon(put, fetched)
    seconds = time.perf_counter() - started
    print(f"{name}: {pages} pages in {seconds:.0f} s, {skipped} without text", flush=True)


async def prepare(
    names: tuple[str, ...], *, sites: Path, cache: Path, again: bool, threads: int
) -> None:
    """Ingest what is not in the cache, then give every chunk its vector."""
    embedder = open_kept_embedder(cache, threads=threads)
    for name in names:
        done = cache / f"{name}.ingested"
        if again or not done.exists():
            async with open_library(cache, name, model=embedder.name) as store:
                await ingest_site(sites, name, store)
            done.touch()
    for name in names:
        started = time.perf_counter()
        async with open_library(cache, name, model=embedder.name) as store:
            made = await EmbeddingQueue(store, embedder).embed_all()
        print(f"{name}: {made} vectors in {time.perf_counter() - started:.0f} s", flush=True)
    await embedder.aclose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", nargs="*", choices=[[], *SITES], default=[])
    parser.add_argument("--sites", type=Path, default=DEFAULT_SITES)
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--again", action="store_true", help="read all pages anew")
    parser.add_argument("--threads", type=int, default=0)
    options = parser.parse_args()
    names = tuple(options.site) or ASKED
    anyio.run(
        partial(
            prepare,
            names,
            sites=options.sites,
            cache=options.cache,
            again=options.again,
            threads=options.threads,
        )
    )


if __name__ == "__main__":
    main()
