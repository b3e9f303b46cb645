"""The render pool: 100 pages, then a minute of nothing; which processes and how much memory stay.

Each page is made by scripts on a loopback site: 200 paragraphs, and a library of 200 kB. The same
run is made twice: in the pool of this process, and by a `citewell worker --kinds render` that is
asked through the database (`--in here` or `--in worker` makes one of them alone).
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
from tests.process_tree import private_bytes, processes_below
from tests.site import Response, Site, running_site

from citewell.jobs.remote_renderer import RemoteRenderer
from citewell.store.open import open_store
from citewell.store.renders import RenderStore
from citewell.web.fetcher import Fetcher
from citewell.web.render.open import open_renderer
from citewell.web.render.pool import PoolLimits
from citewell.web.render.protocol import Renderer

PAGES = 100
AT_ONCE = 2
IDLE_SECONDS = 60.0
# The minute after which an idle browser ends, and what ending it takes.
WAITED_SECONDS = IDLE_SECONDS + 8.0
PARAGRAPHS = 200
LIBRARY = f"/* {'x' * 200_000} */ const birds = ['heron', 'egret', 'stork'];"


def made_page(number: int) -> str:
    return f"""<title>Page {number}</title><div id=root></div>
        <script src=/library.js></script><script>
        for (let i = 0; i < {PARAGRAPHS}; i++) {{
          const p = document.createElement('p');
          p.textContent = `Page {number}, paragraph ${{i}}: the ${{birds[i % 3]}} eats fish.`;
          root.append(p);
        }}</script>"""


def count_browsers(pid: int) -> int:
    commands = processes_below(pid).values()
    return sum("--remote-debugging-pipe" in each and "--type=" not in each for each in commands)


def print_state(moment: str, pid: int) -> int:
    """Print what runs below the process that renders, and what both hold; return how many run."""
    below = processes_below(pid)
    theirs, own = sum(map(private_bytes, below)), private_bytes(pid)
    print(
        f"{moment:24} {count_browsers(pid)} browsers, {len(below):2} processes below, "
        f"{theirs / 1e6:4.0f} MB theirs, {own / 1e6:3.0f} MB its own",
        flush=True,
    )
    return len(below)


@dataclass
class Run:
    renderer: Renderer
    site: Site
    pid: int
    """Of the process that has the browser."""
    seconds: list[float] = field(default_factory=list)
    most_browsers: int = 0

    async def render(self, number: int) -> None:
        started = time.perf_counter()
        page = await self.renderer.render(self.site.url(f"/{number}"))
        self.seconds.append(time.perf_counter() - started)
        assert f"Page {number}, paragraph {PARAGRAPHS - 1}" in page.text
        if number % 10 == 0:
            self.most_browsers = max(self.most_browsers, count_browsers(self.pid))

    async def render_all(self) -> float:
        started = time.perf_counter()
        for number in range(0, PAGES, AT_ONCE):
            async with anyio.create_task_group() as tasks:
                for one in range(number, min(number + AT_ONCE, PAGES)):
                    tasks.start_soon(self.render, one)
        return time.perf_counter() - started


@asynccontextmanager
async def pool_here(site: Site) -> AsyncIterator[Run]:
    limits = PoolLimits(max_pages=AT_ONCE, idle_seconds=IDLE_SECONDS)
    async with (
        Fetcher(allowed_private_hosts=(site.host,)) as fetcher,
        open_renderer(fetcher, limits) as renderer,
    ):
        yield Run(renderer, site, os.getpid())


@asynccontextmanager
async def pool_of_worker(site: Site) -> AsyncIterator[Run]:
    with tempfile.TemporaryDirectory() as folder:
        address = f"sqlite:///{folder}/renders.db"
        settings = {
            "CITEWELL_DATABASE_URL": address,
            "CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS": site.host,
            "CITEWELL_RENDER_MAX_PAGES": str(AT_ONCE),
            "CITEWELL_MCP_LOG_LEVEL": "WARNING",
        }
        store = await open_store(address)
        command = [sys.executable, "-m", "citewell", "worker", "--kinds", "render"]
        async with await anyio.open_process(
            command, env={**os.environ, **settings}, cwd=folder, stdout=None, stderr=None
        ) as worker:
            try:
                await until_known(store.renders)
                async with RemoteRenderer(store.renders, wait_seconds=60) as renderer:
                    yield Run(renderer, site, worker.pid)
                counts = await store.renders.count_renders()
                assert (counts.waiting, counts.held) == (0, 0), "a request was left behind"
            finally:
                worker.terminate()
                await worker.wait()
                await store.aclose()


async def until_known(renders: RenderStore) -> None:
    with anyio.fail_after(60):
        while not (await renders.count_renders()).workers:
            with anyio.move_on_after(0.1):
                await anyio.Event().wait()


async def measure(where: str, site: Site) -> bool:
    """Make one run, print it, and return whether it reached its aim."""
    print(f"── rendered {'here' if where == 'here' else 'by a worker'}")
    async with pool_here(site) if where == "here" else pool_of_worker(site) as run:
        print_state("before", run.pid)
        took = await run.render_all()
        print_state(f"after {PAGES} pages", run.pid)
        print(
            f"{PAGES / took:.2f} pages/s, {AT_ONCE} at once; a page takes "
            f"{statistics.median(run.seconds):.2f} s, the first {run.seconds[0]:.2f} s"
        )
        await anyio.sleep(WAITED_SECONDS)
        idle = print_state(f"after {WAITED_SECONDS:.0f} s of nothing", run.pid)
    closed = print_state("after closing", run.pid)
    reached = run.most_browsers == 1 and idle == closed == 0
    print("reached: one browser at most, and none when idle" if reached else "NOT reached")
    return reached


async def main(places: list[str]) -> int:
    script = Response(body=LIBRARY.encode(), headers={"Content-Type": "text/javascript"})
    pages = {f"/{number}": made_page(number) for number in range(PAGES)}
    with running_site({**pages, "/library.js": script}) as site:
        return 0 if all([await measure(where, site) for where in places]) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--in", dest="places", choices=["here", "worker"], action="append")
    chosen = parser.parse_args().places
    sys.exit(anyio.run(main, chosen or ["here", "worker"]))
