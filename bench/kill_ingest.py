"""Kill -9 a process that puts pages, again and again at random moments, and look at what is left.

    python bench/kill_ingest.py [--kills 20] [--seed 1]

After each kill the store must open, be sound, hold every page whose write had returned, and show
no page in part.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import anyio
import numpy as np

from citewell.core.records import SearchFilter
from citewell.store.open import open_store
from citewell.store.protocol import Store

ROOT = Path(__file__).parents[1]
MODEL = "bench"
PAGES = 40
"""Few, so that most writes replace a page."""

CHECKS = {
    "the file is sound": "SELECT integrity_check <> 'ok' FROM pragma_integrity_check",
    "every row has its page": "SELECT count(*) FROM pragma_foreign_key_check",
    "every page has its chunks": (
        "SELECT count(*) FROM page WHERE chunks <> "
        "(SELECT count(*) FROM chunk WHERE chunk.rows_id = page.rows_id)"
    ),
    "every page has its text": (
        "SELECT count(*) FROM page WHERE source_id NOT IN (SELECT source_id FROM page_body)"
    ),
    "every chunk has its words": (
        "SELECT (SELECT count(*) FROM chunk) - (SELECT count(*) FROM chunk_words)"
    ),
    "the totals are right": (
        "SELECT (SELECT chunks FROM corpus) - (SELECT count(*) FROM chunk) "
        "OR (SELECT words FROM corpus) - (SELECT coalesce(sum(words), 0) FROM chunk)"
    ),
}


async def put_pages(path: str, seed: int) -> None:
    """Put pages until killed; print each page's number and version before and after its write."""
    sys.path.insert(0, str(ROOT))
    from tests.drafts import draft

    rng = random.Random(seed)
    store = await open_store(f"sqlite://{path}", model=MODEL)
    while True:
        number, version = rng.randrange(PAGES), rng.randrange(10**9)
        texts = [f"heron {version} {part} " * 20 for part in range(rng.randrange(1, 120))]
        print("begun", number, version, flush=True)
        put = await store.put_page(draft(f"https://{number}.org/", *texts, title=str(version)))
        print("done", number, version, flush=True)
        waiting = await store.chunks_to_embed(model=MODEL, limit=30, source_ids=[put.source_id])
        vectors = {chunk_id: np.ones(384, np.float32) for chunk_id, _ in waiting}
        await store.put_vectors(vectors, model=MODEL)


def kill_once(path: Path, seed: int) -> list[tuple[str, int, int]]:
    """Start a writer, kill it after a while and return what it had said, in order."""
    command = [sys.executable, __file__, "--writer", str(path), "--seed", str(seed)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8")
    assert writer.stdout is not None
    first = writer.stdout.readline()
    time.sleep(random.Random(seed).uniform(0.0, 1.0))
    writer.kill()
    rest, _ = writer.communicate()
    lines = [line.split() for line in (first + rest).splitlines()]
    return [(event, int(number), int(version)) for event, number, version in lines]


async def lost_pages(
    store: Store, finished: dict[int, int], begun: tuple[int, int] | None
) -> list[int]:
    """Return the pages that do not hold what was last written to them.

    The write that had begun when the kill came may be there or not; `finished` learns of it.
    """
    lost = []
    for number, version in [*finished.items()]:
        page = await store.find_page(f"https://{number}.org/", project="default")
        if page is not None and begun == (number, int(page.title)):
            finished[number] = int(page.title)
        elif page is None or page.title != str(version):
            lost.append(number)
    return lost


async def check(path: Path, finished: dict[int, int], begun: tuple[int, int] | None) -> list[str]:
    """Return what is wrong with the store."""
    store = await open_store(f"sqlite://{path}", model=MODEL)
    faults = [f"page {number} is lost" for number in await lost_pages(store, finished, begun)]
    for page in await store.list_pages(SearchFilter(), limit=10 * PAGES):
        whole = await store.get_page(page.source_id)
        faults += [
            f"chunk {chunk.chunk_id} is no slice of its page"
            for chunk in await store.chunks_of_page(page.source_id)
            if whole is None or whole.text[chunk.start : chunk.end] != chunk.text
        ]
    await store.aclose()
    with closing(sqlite3.connect(path)) as database:
        for claim, fault in CHECKS.items():
            if any(row[0] for row in database.execute(fault)):
                faults.append(f"not true: {claim}")
        database.execute("INSERT INTO chunk_words (chunk_words) VALUES ('integrity-check')")
    return faults


async def run(kills: int, seed: int) -> int:
    finished: dict[int, int] = {}
    written = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pages.db"
        for kill in range(kills):
            log = kill_once(path, seed + kill)
            done = [(number, version) for event, number, version in log if event == "done"]
            finished.update(done)
            written += len(done)
            begun = log[-1][1:] if log and log[-1][0] == "begun" else None
            faults = await check(path, finished, begun)
            interrupted = "in a write" if begun else "between writes"
            print(f"kill {kill + 1:>2}, {interrupted}: {len(done):>4} pages, {len(faults)} faults")
            for fault in faults:
                print(f"  {fault}")
            if faults:
                return 1
    print(f"{kills} kills, {written} pages written, none lost, none in part")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--writer", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.writer:
        anyio.run(put_pages, arguments.writer, arguments.seed)
    return anyio.run(run, arguments.kills, arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
