"""What reading a page in a process of its own costs, over reading it here.

`python -m bench.reading_apart [FOLDER]` reads the HTML pages of a folder both ways and prints the
difference per page; without a folder, the pages that tests/pages holds.
"""

from __future__ import annotations

import statistics
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import anyio

from citewell.core.errors import CitewellError
from citewell.core.records import FetchedPage
from citewell.ingest.reading import PageReader, read_page
from citewell.web.sandbox import Sandbox

_PAGES = Path(__file__).parent.parent / "tests" / "pages"
_MOST_PAGES = 60
_ROUNDS = 5


def pages_of(folder: Path) -> list[FetchedPage]:
    """Return some pages of a folder as they would have been fetched."""
    paths = sorted(path for path in folder.rglob("*.html") if path.is_file())
    step = max(len(paths) // _MOST_PAGES, 1)
    pages = []
    for path in paths[::step][:_MOST_PAGES]:
        url, body = f"https://site.example/{path.name}", path.read_bytes()
        text = body.decode("utf-8", "replace")
        page = FetchedPage(
            url=url,
            final_url=url,
            status=200,
            kind="html",
            body=body,
            text=text,
            fetched_at=datetime.now(UTC),
        )
        pages.append(page)
    return pages


async def measure(pages: list[FetchedPage]) -> None:
    """Print the time of both ways, page by page the best of a few rounds."""
    sandbox = Sandbox(preload=("citewell.ingest.reading",))
    reader = PageReader(sandbox)
    started = time.perf_counter()
    await reader.read(pages[0])
    first = time.perf_counter() - started
    here, apart = [], []
    for page in pages:
        try:
            here.append(min(time_here(page) for _ in range(_ROUNDS)))
        except CitewellError:
            continue
        apart.append(min([await time_apart(reader, page) for _ in range(_ROUNDS)]))
    await sandbox.aclose()
    extra = [(b - a) * 1000 for a, b in zip(here, apart, strict=True)]
    print(f"pages read: {len(extra)}; the first, with the start of its process: {first:.2f} s")
    print(f"here:  median {statistics.median(here) * 1000:.1f} ms")
    print(f"apart: median {statistics.median(apart) * 1000:.1f} ms")
    worst = sorted(extra)[int(len(extra) * 0.95)]
    print(f"extra: median {statistics.median(extra):.1f} ms, 95 of 100 under {worst:.1f} ms")


def time_here(page: FetchedPage) -> float:
    """Return the seconds that reading the page takes in this process."""
    started = time.perf_counter()
    read_page(page)
    return time.perf_counter() - started


async def time_apart(reader: PageReader, page: FetchedPage) -> float:
    """Return the seconds that reading the page takes in the other process."""
    started = time.perf_counter()
    await reader.read(page)
    return time.perf_counter() - started


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else _PAGES
    anyio.run(measure, pages_of(folder))
