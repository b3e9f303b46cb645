"""How fast the store searches 100,000 chunks, beside an exact numpy scan of the same vectors.

    python bench/search_speed.py [--chunks 100000] [--keep PATH]

Texts follow the word frequencies of English (Zipf), vectors are a mixture of topics in a subspace
of few dimensions, as real embeddings are. Compare the ratios of one run, not times between runs.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import anyio
import numpy as np
import numpy.typing as npt

from citewell.core.records import (
    Chunk,
    ExtractedPage,
    FetchedPage,
    Hit,
    PageDraft,
    SearchFilter,
    Section,
)
from citewell.store.open import open_store
from citewell.store.protocol import Store

DIMENSIONS = 384
SUBSPACE = 64
TOPICS = 400
VOCABULARY = 60_000
WORDS_PER_CHUNK = 130
CHUNKS_PER_PAGE = 20
QUERIES = 100
MODEL = "bench"

Vectors = npt.NDArray[np.float32]


class Corpus:
    """Random texts and vectors, the same for the same number of chunks."""

    def __init__(self, chunks: int) -> None:
        self._rng = np.random.default_rng(20260314)
        ranks = np.arange(1, VOCABULARY + 1)
        self._cumulative = np.cumsum(1 / (ranks + 2.7))
        self._words = np.array([_spell(rank) for rank in range(1, VOCABULARY + 1)])
        self._topics = self._rng.standard_normal((TOPICS, SUBSPACE))
        self._basis = self._rng.standard_normal((SUBSPACE, DIMENSIONS))
        self._offset = 4 * self._rng.standard_normal(DIMENSIONS)
        self.chunks = chunks
        self.vectors = self._make_vectors(chunks)

    def text(self) -> str:
        return " ".join(self._words[self._pick(WORDS_PER_CHUNK)])

    def query_words(self) -> list[str]:
        """Two to eight words: some common, some rare, no stop words."""
        wanted = int(self._rng.integers(2, 9))
        return [str(self._words[at]) for at in self._pick(40) if at > 50][:wanted]

    def query_vectors(self) -> Vectors:
        near = self.vectors[self._rng.integers(0, self.chunks, QUERIES)]
        noise = self._rng.standard_normal((QUERIES, DIMENSIONS)) * 0.02
        return _unit(near + noise.astype(np.float32))

    def _pick(self, count: int) -> npt.NDArray[np.int64]:
        drawn = self._rng.random(count) * self._cumulative[-1]
        return np.asarray(np.searchsorted(self._cumulative, drawn), np.int64)

    def _make_vectors(self, count: int) -> Vectors:
        latent = self._topics[self._rng.integers(0, TOPICS, count)]
        latent = latent + 0.9 * self._rng.standard_normal((count, SUBSPACE))
        noise = 1.5 * self._rng.standard_normal((count, DIMENSIONS))
        return _unit(latent @ self._basis + noise + self._offset)


def _unit(vectors: npt.NDArray[np.floating]) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def _spell(rank: int) -> str:
    letters = []
    while rank:
        rank, letter = divmod(rank, 26)
        letters.append("etaoinshrdlucmfwypvbgkjqxz"[letter])
    return "q" + "".join(letters)


def make_page(number: int, texts: Sequence[str], *, url: str = "") -> PageDraft:
    url = url or f"https://bench.example/{number}"
    text = "\n\n".join(texts)
    chunks = []
    start = 0
    for ordinal, part in enumerate(texts):
        chunks.append(
            Chunk(
                ordinal=ordinal,
                section=0,
                start=start,
                end=start + len(part),
                text=part,
                tokens=len(part) // 4,
                heading_path=(),
                anchor=None,
                embedded_text=part,
            )
        )
        start += len(part) + 2
    whole = Section(
        ordinal=0, parent=None, level=0, heading="", anchor=None, start=0, end=len(text)
    )
    return PageDraft(
        url=url,
        fetched=FetchedPage(
            url=url,
            final_url=url,
            status=200,
            kind="text",
            body=b"",
            fetched_at=datetime.now(UTC),
        ),
        extracted=ExtractedPage(
            title=f"Page {number}", text=text, kind="text", language="en", sections=(whole,)
        ),
        chunks=tuple(chunks),
        project="half" if number % 2 else "other",
        tags=("tenth",) if number % 10 == 0 else (),
    )


async def _fill(store: Store, corpus: Corpus) -> None:
    putting = 0.0
    for number in range(corpus.chunks // CHUNKS_PER_PAGE):
        page = make_page(number, [corpus.text() for _ in range(CHUNKS_PER_PAGE)])
        started = time.perf_counter()
        await store.put_page(page)
        putting += time.perf_counter() - started
    put = time.perf_counter()
    ids = range(1, corpus.chunks + 1)
    for first in range(0, corpus.chunks, 256):
        batch = dict(
            zip(ids[first : first + 256], corpus.vectors[first : first + 256], strict=True)
        )
        await store.put_vectors(batch, model=MODEL)
    embedded = time.perf_counter()
    print(f"put {corpus.chunks / putting:,.0f} chunks/s, ", end="")
    print(f"vectors {corpus.chunks / (embedded - put):,.0f} chunks/s")


async def _measure(name: str, run: Callable[[int], Awaitable[object]]) -> float:
    for query in range(10):
        await run(query)
    times = []
    for query in range(QUERIES):
        started = time.perf_counter()
        await run(query)
        times.append((time.perf_counter() - started) * 1000)
    median = statistics.median(times)
    print(f"{name:<36} p50 {median:7.2f} ms   p95 {sorted(times)[int(0.95 * QUERIES)]:7.2f} ms")
    return median


async def _measure_all(store: Store, corpus: Corpus) -> None:
    vectors = corpus.query_vectors()
    words = [corpus.query_words() for _ in range(QUERIES)]
    pages = corpus.chunks // CHUNKS_PER_PAGE
    exact: list[npt.NDArray[np.int64]] = [np.empty(0, np.int64)] * QUERIES
    found: list[list[Hit]] = [[] for _ in range(QUERIES)]

    async def scan(query: int) -> None:
        scores = corpus.vectors @ vectors[query]
        best = np.argpartition(-scores, 10)[:10]
        exact[query] = best[np.argsort(-scores[best])] + 1

    async def by_words(query: int, where: SearchFilter) -> None:
        await store.search_words(words[query], where=where, limit=100)

    async def by_vectors(query: int, where: SearchFilter) -> None:
        found[query] = await store.search_vectors(
            vectors[query], model=MODEL, where=where, limit=100
        )

    async def hybrid(query: int, where: SearchFilter) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(by_words, query, where)
            tasks.start_soon(by_vectors, query, where)

    started = time.perf_counter()
    await by_vectors(0, SearchFilter())
    print(f"codes loaded in {time.perf_counter() - started:.2f} s")
    baseline = await _measure("exact numpy scan, float32", scan)
    await _measure("words", lambda query: by_words(query, SearchFilter()))
    await _measure("vectors", lambda query: by_vectors(query, SearchFilter()))
    kept = [
        len({*exact[query].tolist()} & {hit.chunk_id for hit in found[query][:10]})
        for query in range(QUERIES)
    ]
    both = await _measure("hybrid", lambda query: hybrid(query, SearchFilter()))
    print(f"hybrid / exact scan {both / baseline:.2f}   recall@10 {sum(kept) / QUERIES / 10:.4f}")
    filters = {
        "hybrid, project with half the pages": SearchFilter(project="half"),
        "hybrid, tag on a tenth": SearchFilter(tags=("tenth",)),
        "hybrid, one page": SearchFilter(source_ids=(pages // 2,)),
        "hybrid, 1,000 pages": SearchFilter(source_ids=tuple(range(1, 1001))),
        "hybrid, URL prefix": SearchFilter(url_prefix="https://bench.example/1"),
    }
    for name, where in filters.items():
        await _measure(name, lambda query, where=where: hybrid(query, where))  # type: ignore[misc]  # a lambda's default has no type
    await _measure("corpus_stats", lambda query: store.corpus_stats(SearchFilter()))
    await _measure("list_pages, 100", lambda query: store.list_pages(SearchFilter(), limit=100))
    chosen = [[hit.chunk_id for hit in hits[:50]] for hits in found]
    await _measure("load_chunks, 50", lambda query: store.load_chunks(chosen[query]))


async def _run(chunks: int, keep: Path | None) -> None:
    corpus = Corpus(chunks)
    with tempfile.TemporaryDirectory() as folder:
        path = keep or Path(folder) / "bench.db"
        is_new = not path.exists()
        store = await open_store(f"sqlite://{path}", model=MODEL)
        try:
            if is_new:
                await _fill(store, corpus)
            print(f"file {path.stat().st_size / 1e6:,.0f} MB for {chunks:,} chunks")
            before = _resident_bytes()
            await _measure_all(store, corpus)
            print(f"memory taken by searching {(_resident_bytes() - before) / 1e6:,.0f} MB")
        finally:
            await store.aclose()


def _resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="build the database here once and reuse it")
    arguments = parser.parse_args()
    anyio.run(_run, arguments.chunks, arguments.keep)


if __name__ == "__main__":
    main()
