"""Memory under mixed calls: whether what the server holds levels off.

    python -m bench.soak [--site SITE] [--cache DIR] [--minutes 20] [--pause 0] [--json FILE]

Calls every tool of `bench.call_cost` in turn on a copy of its library, each time with questions in
other words, and reports the resident memory as it goes. Every round also asks `answer` about a page
that is not stored yet and has one that changed ingested again; of such pages only the latest stay,
so that the library does not grow.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import tempfile
import time
from collections import Counter
from functools import lru_cache, partial
from pathlib import Path

import anyio
from bench.call_cost import CALLER, arguments_of, questions_on, settings_for
from bench.question_sites import DEFAULT_CACHE, PROJECT, SITES, copy_library
from bench.research_engine import served_pages

from citewell.app.open import App, open_app
from citewell.core.settings import Settings
from citewell.server.memory import share_memory_between_threads
from citewell.tools.catalog import open_registry
from citewell.tools.registry import Registry

_SAMPLES = 40
_FRESH_PAGES = 20
_SECTIONS = 60
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_CACHE = type(lru_cache(len))


def resident_megabytes() -> float:
    """Return the resident memory of this process (Linux)."""
    resident = int(Path("/proc/self/statm").read_text("utf-8").split()[1])
    return resident * _PAGE_BYTES / 1e6


class FreshPages:
    """Pages on loopback whose words are new each time, a few of them stored at a time."""

    def __init__(self, pages: dict[str, str], base: str) -> None:
        self._pages = pages
        self._base = base
        self._round = 0

    async def call(self, app: App, registry: Registry) -> int:
        """Ask about a new page, ingest an old one that changed, and return how many calls failed.

        The page that was new `_FRESH_PAGES` rounds ago is deleted.
        """
        self._round += 1
        path = f"fresh-{self._round}.html"
        self._pages[path] = _page(self._round)
        question = f"What does setting_{self._round}_7 change?"
        asked = await registry.call(
            "answer", {"url": f"{self._base}/{path}", "query": question}, app=app, caller=CALLER
        )
        earlier = f"fresh-{max(1, self._round - 1)}.html"
        self._pages[earlier] = _page(-self._round)
        again = await registry.call(
            "ingest", {"url": f"{self._base}/{earlier}", "force": True}, app=app, caller=CALLER
        )
        old = f"fresh-{self._round - _FRESH_PAGES}.html"
        if self._pages.pop(old, None) is not None:
            store = (await app.open("store")).store
            page = await store.find_page(f"{self._base}/{old}", project=PROJECT)
            if page is not None:
                await store.delete_page(page.source_id)
        return asked.is_error + again.is_error


def _page(number: int) -> str:
    sections = "".join(
        f"<h2>setting_{number}_{i}</h2><p>Setting {i} of edition {number} changes how often the "
        f"heron {number * _SECTIONS + i} is counted, and by whom; it is read again at every start."
        for i in range(_SECTIONS)
    )
    return f"<title>Edition {number}</title><h1>Edition {number}</h1>{sections}"


async def soak(
    site: str, settings: Settings, *, minutes: float, pause: float
) -> list[tuple[int, float]]:
    """Return the number of calls made so far with the memory at that time, again and again."""
    registry = open_registry(settings)
    rows, tools = questions_on(site), arguments_of(site)
    curve: list[tuple[int, float]] = []
    started, calls, failed = time.monotonic(), 0, 0
    pages: dict[str, str] = {}
    with served_pages(pages) as base:
        async with open_app(settings) as app:
            fresh = FreshPages(pages, base)
            while (passed := time.monotonic() - started) < minutes * 60:
                row = rows[calls % len(rows)]
                row = {**row, "question": f"{row['question']} ({calls})"}
                for tool, arguments in tools.items():
                    result = await registry.call(tool, arguments(row), app=app, caller=CALLER)
                    failed += result.is_error
                    calls += 1
                failed += await fresh.call(app, registry)
                calls += 2
                if passed > len(curve) * minutes * 60 / _SAMPLES:
                    curve.append((calls, round(resident_megabytes(), 1)))
                    print(
                        f"{passed / 60:5.1f} min {calls:6} calls {failed:3} failed "
                        f"{curve[-1][1]:7.1f} MB {sys.getallocatedblocks():9} blocks of Python",
                        flush=True,
                    )
                await anyio.sleep(pause)
            _explain()
    return curve


def _explain() -> None:
    """Print what most of Python's objects are, and which caches hold most."""
    gc.collect()
    print(f"after a collection {resident_megabytes():.1f} MB")
    objects = gc.get_objects()
    for kind, count in Counter(type(each).__qualname__ for each in objects).most_common(8):
        print(f"{count:9} {kind}")
    caches = [each for each in objects if isinstance(each, _CACHE)]
    for cache in sorted(caches, key=lambda cache: -cache.cache_info().currsize)[:8]:
        info = cache.cache_info()
        print(f"{info.currsize:9} of {info.maxsize} in {getattr(cache, '__qualname__', 'a cache')}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--site", default="python-django-doc", choices=list(SITES))
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--pause", type=float, default=0, help="seconds between rounds of calls")
    parser.add_argument("--json", type=Path, help="write the numbers here")
    options = parser.parse_args()
    # As a server does when it starts.
    share_memory_between_threads()
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "library.db"
        copy_library(options.cache / f"{options.site}.db", library)
        settings = settings_for(library, allowed_private_hosts=("127.0.0.1",))
        curve = anyio.run(
            partial(soak, options.site, settings, minutes=options.minutes, pause=options.pause)
        )
    half = curve[len(curve) // 2 :]
    grown, made = half[-1][1] - half[0][1], half[-1][0] - half[0][0]
    print(f"second half: {grown:+.1f} MB in {made} calls")
    if options.json is not None:
        numbers = {str(calls): {"MB": megabytes} for calls, megabytes in curve}
        options.json.write_text(json.dumps(numbers, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
