"""How a search grows with the library: from ten thousand to a million chunks.

    python -m bench.growth [--sizes 10000,100000,300000,1000000] [--store sqlite|postgres]
                           [--cache DIR] [--json FILE]

Chunks are sentences of the sites of `bench.question_sites`, recombined, each with a name that no
other has, so that the vocabulary grows as that of real text does; vectors lie around those that the
model made. One library grows; at each size a process of its own opens it and searches, so that its
peak memory is that of searching alone. CPU milliseconds, the median of 40 queries; those of
PostgreSQL's processes count too.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio
import numpy as np
import numpy.typing as npt
import psycopg
from bench.cpu_time import cpu_seconds
from bench.question_sites import DEFAULT_CACHE
from bench.search_speed import make_page
from tests.postgres import empty_library

from citewell.core.records import PageDraft, SearchFilter
from citewell.core.words import words
from citewell.store.open import open_store
from citewell.store.protocol import Store

_MODEL = "bench"
_PROJECT = "default"
_PER_PAGE = 50
_PAGES_PER_EDITION = 200
_CHUNK_CHARACTERS = 560
_LEAST_SENTENCE = 25
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_NOISE = 0.5
_QUERIES = 40
_HITS = 100
_EVERYTHING = SearchFilter(project=_PROJECT)
_QUESTIONS = Path(__file__).parent / "other_sites.jsonl"

Vectors = npt.NDArray[np.float32]


class Material:
    """Sentences of real sites and vectors of real chunks, from the cache of `question_sites`."""

    def __init__(self, cache: Path) -> None:
        self.chance = random.Random(20261117)
        self._rng = np.random.default_rng(20261117)
        self.sites: dict[str, list[str]] = {}
        found: list[bytes] = []
        for file in sorted(cache.glob("*.ingested")):
            with closing(sqlite3.connect(file.with_suffix(".db"))) as library:
                texts = [text for (text,) in library.execute("SELECT text FROM chunk")]
                stored = "SELECT vector FROM chunk WHERE vector IS NOT NULL"
                found += [vector for (vector,) in library.execute(stored)]
            self.sites[file.stem] = [
                sentence
                for text in texts
                for sentence in _SENTENCE_END.split(text)
                if len(sentence) >= _LEAST_SENTENCE
            ]
        if not found:
            raise SystemExit(
                f"no vectors in {cache}; make them with: python -m bench.question_sites"
            )
        self._vectors = np.frombuffer(b"".join(found), "<f2").reshape(len(found), -1)

    def page(self, number: int) -> PageDraft:
        """Return page `number`, which belongs to an edition of one of the sites."""
        edition = number // _PAGES_PER_EDITION
        site = list(self.sites)[edition % len(self.sites)]
        texts = [self._chunk(site, f"n{number}x{place}") for place in range(_PER_PAGE)]
        page = make_page(number, texts, url=f"https://{site}.example/{edition}/{number}.html")
        return replace(page, project=_PROJECT)

    def vectors(self, count: int) -> Vectors:
        """Return unit vectors, each near the mean of two real ones."""
        pairs = self._rng.integers(0, len(self._vectors), (2, count))
        mean = (self._vectors[pairs[0]] + self._vectors[pairs[1]]).astype(np.float32) / 2
        scale = _NOISE / np.sqrt(mean.shape[1])
        made = mean + scale * self._rng.standard_normal(mean.shape, np.float32)
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)

    def _chunk(self, site: str, name: str) -> str:
        sentences = self.sites[site]
        chosen = [self.chance.choice(sentences), name]
        while sum(map(len, chosen)) < _CHUNK_CHARACTERS:
            chosen.append(self.chance.choice(sentences))
        return " ".join(chosen)


async def fill(address: str, material: Material, chunks: int, *, after: int) -> float:
    """Let a library grow from `after` to so many chunks; return the CPU µs a chunk."""
    store = await open_store(address, model=_MODEL)
    spent = 0.0
    for number in range(after // _PER_PAGE, chunks // _PER_PAGE):
        page, vectors = material.page(number), material.vectors(_PER_PAGE)
        started = time.process_time()
        await store.put_page(page)
        waiting = await store.chunks_to_embed(model=_MODEL, limit=_PER_PAGE)
        ids = [chunk_id for chunk_id, _ in waiting]
        await store.put_vectors(dict(zip(ids, vectors, strict=True)), model=_MODEL)
        spent += time.process_time() - started
    await store.aclose()
    return 1e6 * spent / max(1, chunks - after)


def peak_megabytes() -> float:
    """Return the most memory that this process has had; getrusage() counts its parent's too."""
    [line] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    return int(line) / 1024


class Clock:
    """The CPU time of this process and, with PostgreSQL, of the server's."""

    def __init__(self, address: str) -> None:
        self._server: int | None = None
        if address.startswith("postgres"):
            with psycopg.connect(address) as connection:
                row = connection.execute("SHOW data_directory").fetchone()
            assert row is not None, "SHOW has a row"
            self._server = int((Path(row[0]) / "postmaster.pid").read_text("utf-8").split()[0])

    def seconds(self) -> float:
        """Return the CPU time so far."""
        servers = 0.0 if self._server is None else cpu_seconds(self._server)
        return time.process_time() + servers


async def measure(address: str, queries: list[tuple[list[str], Vectors]]) -> dict[str, float]:
    """Return what searches cost in the library at `address`, from the start of a process on."""
    clock = Clock(address)
    before, started = peak_megabytes(), clock.seconds()
    store = await open_store(address, model=_MODEL)
    await store.vectors_ready(model=_MODEL)
    await store.search_words(queries[0][0], where=_EVERYTHING, limit=_HITS)
    found = {"first search after a start": 1000 * (clock.seconds() - started)}
    started = clock.seconds()
    await store.search_vectors(queries[0][1], model=_MODEL, where=_EVERYTHING, limit=_HITS)
    found["loading the vectors"] = 1000 * (clock.seconds() - started)

    async def hybrid(query: int, where: SearchFilter) -> None:
        terms, vector = queries[query]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(store.search_words, terms, where=where, limit=_HITS))
            tasks.start_soon(
                partial(store.search_vectors, vector, model=_MODEL, where=where, limit=_HITS)
            )

    pages = await store.list_pages(_EVERYTHING, limit=1)
    site = pages[0].url.partition("/0/")[0] + "/"
    runs: dict[str, Callable[[int], Awaitable[object]]] = {
        "words": lambda n: store.search_words(queries[n][0], where=_EVERYTHING, limit=_HITS),
        "vectors": lambda n: store.search_vectors(
            queries[n][1], model=_MODEL, where=_EVERYTHING, limit=_HITS
        ),
        "words and vectors": lambda n: hybrid(n, _EVERYTHING),
        "the same, URL prefix of 10,000 chunks": lambda n: hybrid(
            n, replace(_EVERYTHING, url_prefix=f"{site}0/")
        ),
        "the same, URL prefix of a site": lambda n: hybrid(
            n, replace(_EVERYTHING, url_prefix=site)
        ),
        "corpus statistics": lambda n: store.corpus_stats(_EVERYTHING),
    }
    for name, run in runs.items():
        found[name] = await _median(run, clock)
    found |= await _after_a_deletion(store, hybrid, clock)
    found["memory taken, MB"] = peak_megabytes() - before
    await store.aclose()
    return {name: round(value, 1) for name, value in found.items()}


async def _median(run: Callable[[int], Awaitable[object]], clock: Clock) -> float:
    """Return the median over all queries; every one is asked once before."""
    times: list[float] = []
    for query in (*range(_QUERIES), *range(_QUERIES)):
        started = clock.seconds()
        await run(query)
        times.append(1000 * (clock.seconds() - started))
    return statistics.median(times[_QUERIES:])


async def _after_a_deletion(
    store: Store, hybrid: Callable[[int, SearchFilter], Awaitable[None]], clock: Clock
) -> dict[str, float]:
    pages = await store.list_pages(_EVERYTHING, limit=5)
    deleting: list[float] = []
    searching: list[float] = []
    for query, page in enumerate(pages):
        started = clock.seconds()
        await store.delete_page(page.source_id)
        deleted = clock.seconds()
        await hybrid(query, _EVERYTHING)
        deleting.append(1000 * (deleted - started))
        searching.append(1000 * (clock.seconds() - deleted))
    return {
        "deleting a page": statistics.median(deleting),
        "the next search": statistics.median(searching),
    }


def make_queries(material: Material) -> list[tuple[list[str], Vectors]]:
    """Return the words of developers' questions, each with a vector."""
    lines = [json.loads(line) for line in _QUESTIONS.read_text("utf-8").splitlines()]
    chosen = random.Random(1).sample(lines, _QUERIES)
    return [
        (words(line["question"]), vector)
        for line, vector in zip(chosen, material.vectors(_QUERIES), strict=True)
    ]


def _measure_apart(address: str, queries: Path) -> dict[str, float]:
    command = [
        sys.executable,
        "-m",
        "bench.growth",
        "--measure",
        address,
        "--queries",
        str(queries),
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    shown = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment).stdout
    numbers: dict[str, float] = json.loads(shown)
    return numbers


def run(options: argparse.Namespace) -> None:
    """Print the numbers of each size, and write them as far as they are known."""
    material = Material(options.cache)
    found: dict[str, dict[str, float]] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=options.folder)))
        address = f"sqlite:///{folder}/growth.db"
        if options.store == "postgres":
            address = stack.enter_context(empty_library())
        queries = folder / "queries.json"
        made = [(terms, vector.tolist()) for terms, vector in make_queries(material)]
        queries.write_text(json.dumps(made), "utf-8")
        size = 0
        for chunks in map(int, options.sizes.split(",")):
            # The pages that `_after_a_deletion` takes away are not replaced.
            spent = anyio.run(partial(fill, address, material, chunks, after=size))
            size = chunks
            found[str(chunks)] = _measure_apart(address, queries)
            found[str(chunks)]["storing a chunk with its vector"] = round(spent / 1000, 2)
            print(f"{chunks:,} chunks", flush=True)
            for name, value in found[str(chunks)].items():
                print(f"  {name:40} {value:10}", flush=True)
            if options.json is not None:
                options.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", default="10000,100000,300000,1000000")
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--folder", type=Path, help="build the library in this folder")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--queries", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        made = json.loads(options.queries.read_text("utf-8"))
        queries = [(terms, np.array(vector, np.float32)) for terms, vector in made]
        print(json.dumps(anyio.run(measure, options.measure, queries)))
        return
    run(options)


if __name__ == "__main__":
    main()
