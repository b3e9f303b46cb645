"""The render pool: 100 pages, then a minute of nothing; which processes and how much memory stay.

Each page is made by scripts on a loopback site: 200 paragraphs, and a library of 200 kB.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from dataclasses import dataclass, field

import anyio
from tests.process_tree import private_bytes, processes_below
from tests.site import Response, Site, running_site

from citewell.web.fetcher import Fetcher
from citewell.web.render.open import open_renderer
from citewell.web.render.pool import PoolLimits, RenderPool

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


def count_browsers() -> int:
    commands = processes_below().values()
    return sum("--remote-debugging-pipe" in each and "--type=" not in each for each in commands)


def print_state(moment: str) -> int:
    """Print what runs and what it holds; return how many processes there are below this one."""
    below = processes_below()
    theirs, own = sum(map(private_bytes, below)), private_bytes(os.getpid())
    print(
        f"{moment:24} {count_browsers()} browsers, {len(below):2} processes below, "
        f"{theirs / 1e6:4.0f} MB theirs, {own / 1e6:3.0f} MB ours",
        flush=True,
    )
    return len(below)


@dataclass
class Run:
    renderer: RenderPool
    site: Site
    seconds: list[float] = field(default_factory=list)
    most_browsers: int = 0

    async def render(self, number: int) -> None:
        started = time.perf_counter()
        page = await self.renderer.render(self.site.url(f"/{number}"))
        self.seconds.append(time.perf_counter() - started)
        assert f"Page {number}, paragraph {PARAGRAPHS - 1}" in page.text
        if number % 10 == 0:
            self.most_browsers = max(self.most_browsers, count_browsers())

    async def render_all(self) -> float:
        started = time.perf_counter()
        for number in range(0, PAGES, AT_ONCE):
            async with anyio.create_task_group() as tasks:
                for one in range(number, min(number + AT_ONCE, PAGES)):
                    tasks.start_soon(self.render, one)
        return time.perf_counter() - started


async def main() -> int:
    script = Response(body=LIBRARY.encode(), headers={"Content-Type": "text/javascript"})
    pages = {f"/{number}": made_page(number) for number in range(PAGES)}
    with running_site({**pages, "/library.js": script}) as site:
        limits = PoolLimits(max_pages=AT_ONCE, idle_seconds=IDLE_SECONDS)
        async with (
            Fetcher(allowed_private_hosts=(site.host,)) as fetcher,
            open_renderer(fetcher, limits) as renderer,
        ):
            print_state("before")
            run = Run(renderer, site)
            took = await run.render_all()
            print_state(f"after {PAGES} pages")
            print(
                f"{PAGES / took:.2f} pages/s, {AT_ONCE} at once; a page takes "
                f"{statistics.median(run.seconds):.2f} s, the first {run.seconds[0]:.2f} s"
            )
            await anyio.sleep(WAITED_SECONDS)
            idle = print_state(f"after {WAITED_SECONDS:.0f} s of nothing")
        closed = print_state("after closing")
    reached = run.most_browsers == 1 and idle == closed == 0
    print("reached: one browser at most, and none when idle" if reached else "NOT reached")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(anyio.run(main))
