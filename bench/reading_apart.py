"""What reading a page in a process of its own costs, over reading it here.

`python -m bench.reading_apart [FOLDER]` reads the HTML pages of a folder both ways, in turns, and
prints the difference per page, in the time that passes and in CPU time of all processes; without a
folder, the pages that tests/pages holds.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import anyio
from tests.process_tree import processes_below

from citewell.core.errors import CitewellError
from citewell.core.records import FetchedPage
from citewell.ingest.reading import PageReader, read_page
from citewell.web.sandbox import Sandbox

_PAGES = Path(__file__).parent.parent / "tests" / "pages"
_MOST_PAGES = 60
_ROUNDS = 9


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
    """Print the cost of both ways, page by page of a few rounds in turns."""
    sandbox = Sandbox(preload=("citewell.ingest.reading",))
    reader = PageReader(sandbox)
    started = time.perf_counter()
    await reader.read(pages[0])
    first = time.perf_counter() - started
    costs: list[tuple[Cost, Cost]] = []
    for page in pages:
        try:
            rounds = [(cost_here(page), await cost_apart(reader, page)) for _ in range(_ROUNDS)]
        except CitewellError:
            continue
        costs.append(
            (summarise([here for here, _ in rounds]), summarise([apart for _, apart in rounds]))
        )
    await sandbox.aclose()
    print(f"pages read: {len(costs)}; the first, with the start of its process: {first:.2f} s")
    for name, index in (("time", 0), ("CPU time", 1)):
        here, apart = ([pair[side][index] for pair in costs] for side in (0, 1))
        extra = sorted((b - a) * 1000 for a, b in zip(here, apart, strict=True))
        print(
            f"{name}: here {statistics.median(here) * 1000:.1f} ms, "
            f"apart {statistics.median(apart) * 1000:.1f} ms, extra median "
            f"{statistics.median(extra):.1f} ms, mean {statistics.fmean(extra):.1f} ms, "
            "95 of 100 under "
            f"{extra[int(len(extra) * 0.95)]:.1f} ms"
        )


class Cost(NamedTuple):
    """Seconds."""

    passed: float
    cpu: float


def summarise(costs: list[Cost]) -> Cost:
    """Return the shortest time, for what is more is the load of the machine, and the mean CPU time.

    The system counts the CPU time of other processes in ticks of ten milliseconds.
    """
    return Cost(min(cost.passed for cost in costs), statistics.fmean(cost.cpu for cost in costs))


def cost_here(page: FetchedPage) -> Cost:
    """Return what reading the page takes in this process."""
    started, cpu = time.perf_counter(), cpu_seconds()
    read_page(page)
    return Cost(time.perf_counter() - started, cpu_seconds() - cpu)


async def cost_apart(reader: PageReader, page: FetchedPage) -> Cost:
    """Return what reading the page takes by way of the other process."""
    started, cpu = time.perf_counter(), cpu_seconds()
    await reader.read(page)
    return Cost(time.perf_counter() - started, cpu_seconds() - cpu)


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those below it so far."""
    below = sum(cpu_of(pid) for pid in processes_below())
    return time.process_time() + below


def cpu_of(pid: int) -> float:
    """Return the CPU time of another process: user and system, in ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else _PAGES
    anyio.run(measure, pages_of(folder))
