"""What the first search by vectors costs after a start: memory, time, and who waits for it.

    python -m bench.vector_load [--chunks 300000] [--keep FILE] [--json FILE]

The library has short made-up texts and vectors that lie as real ones do (`bench.search_speed`). A
process of its own opens it, so that its peak memory is that of the search alone; then a page and a
fifth of all pages are deleted, and the next search is timed. CPU time.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio
from bench.search_speed import DIMENSIONS, MODEL, Corpus, make_page

from citewell.core.records import SearchFilter
from citewell.store.open import open_store

_PER_PAGE = 200
_WORDS = 12
_EVERYTHING = SearchFilter()


async def build(path: Path, chunks: int) -> None:
    """Fill a library with so many chunks and their vectors."""
    corpus = Corpus(chunks)
    store = await open_store(f"sqlite://{path}", model=MODEL)
    for number in range(chunks // _PER_PAGE):
        texts = [" ".join(corpus.text().split()[:_WORDS]) for _ in range(_PER_PAGE)]
        await store.put_page(make_page(number, texts))
        waiting = await store.chunks_to_embed(model=MODEL, limit=_PER_PAGE)
        first = number * _PER_PAGE
        made = corpus.vectors[first : first + len(waiting)]
        ids = [chunk_id for chunk_id, _ in waiting]
        await store.put_vectors(dict(zip(ids, made, strict=True)), model=MODEL)
    await store.aclose()


def peak_megabytes() -> float:
    """Return the most memory that this process has had; getrusage() counts its parent's too."""
    [line] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    return int(line) / 1024


async def measure(path: Path) -> dict[str, float]:
    """Return what a start costs on the library at `path`."""
    import numpy as np

    query = np.random.default_rng(1).standard_normal(DIMENSIONS).astype(np.float32)
    store = await open_store(f"sqlite://{path}", model=MODEL)
    await store.search_words(["qe"], where=_EVERYTHING, limit=10)
    before = peak_megabytes()
    found: dict[str, float] = {"memory before, MB": round(before)}

    started = time.perf_counter()
    is_ready = await store.vectors_ready(model=MODEL)
    found["first search waits, ms"] = round((time.perf_counter() - started) * 1000, 1)
    found["loaded in the background"] = float(not is_ready)
    cpu = time.process_time()
    await store.search_vectors(query, model=MODEL, where=_EVERYTHING, limit=100)
    found["load, CPU s"] = round(time.process_time() - cpu, 2)
    found["peak memory, MB"] = round(peak_megabytes())

    async def search_ms() -> float:
        cpu = time.process_time()
        await store.search_vectors(query, model=MODEL, where=_EVERYTHING, limit=100)
        return round((time.process_time() - cpu) * 1000, 1)

    found["search, CPU ms"] = min([await search_ms() for _ in range(5)])
    pages = await store.list_pages(_EVERYTHING, limit=1_000_000)
    await store.delete_page(pages[0].source_id)
    found["search after one page was deleted, CPU ms"] = await search_ms()
    for page in pages[1 : len(pages) // 5]:
        await store.delete_page(page.source_id)
    found["search after a fifth was deleted, CPU ms"] = await search_ms()
    await store.aclose()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--chunks", type=int, default=300_000)
    parser.add_argument("--keep", type=Path, help="keep the library here; deletes are made in it")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        print(json.dumps(anyio.run(measure, options.measure)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = (options.keep or Path(folder) / "vectors.db").absolute()
        if not path.exists():
            anyio.run(build, path, options.chunks)
        command = [sys.executable, "-m", "bench.vector_load", "--measure", str(path)]
        found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    for name, value in found.items():
        print(f"{name:45} {value:8}")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
