"""First paint of every page of the web app, in headless Chromium on loopback.

    python -m bench.first_paint [--rounds 5]

Each round opens every page in a new session of a running browser: a bare page of one line, which
shows what the browser alone takes at the load of the moment; the page with an empty cache; and the
page again. CPU time does not depend on the load: of the server (with the processes it reads pages
in) it is the mean of 20 requests, of the browser that of the page's main thread, later visit.
All in milliseconds; cells of paint are the least and the median of the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
from bench.cpu_time import cpu_seconds
from tests.e2e.browser import running_browser
from tests.e2e.web_app.pictures import addresses
from tests.e2e.web_app.scene import running_scene
from tests.site import running_site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Page

BARE = "<!doctype html><title>Bare</title><h1>Bare</h1>"
FIRST_PAINT = (
    "new Promise((painted) => { const look = () => { "
    "const entry = performance.getEntriesByName('first-contentful-paint')[0]; "
    "entry ? painted(entry.startTime) : requestAnimationFrame(look); }; look(); })"
)
REQUESTS = 20


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with (
        tempfile.TemporaryDirectory() as home,
        running_scene(Path(home), "/handbook", "/owls", "/hostile") as scene,
        running_site({"/": BARE}) as bare,
        running_browser() as browser,
        httpx2.Client(timeout=60) as client,
    ):
        print("| page | server CPU | browser CPU | bare page | first visit | later visit |")
        print("| --- | --- | --- | --- | --- | --- |")
        for name, address in addresses(scene).items():
            url = f"{scene.url}{address}"
            before = cpu_seconds(scene.server_pid)
            for _ in range(REQUESTS):
                client.get(url.partition("#")[0])
            server = 1000 * (cpu_seconds(scene.server_pid) - before) / REQUESTS
            times = [paint(browser, url, bare=bare.url("/")) for _ in range(rounds)]
            browser_cpu, *painted = zip(*times, strict=True)
            cells = (f"{min(each):.0f} / {statistics.median(each):.0f}" for each in painted)
            cpu = f"{server:.0f} | {statistics.median(browser_cpu):.0f}"
            print(f"| {name} | {cpu} | {' | '.join(cells)} |", flush=True)


def paint(browser: Browser, url: str, *, bare: str) -> tuple[float, float, float, float]:
    """Return the browser's CPU time and the times to first paint: bare, first and later visit."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    inside = context.new_cdp_session(tab)
    inside.send("Performance.enable")
    _, first, bare_page, later = (milliseconds_to_paint(tab, at) for at in (bare, url, bare, url))
    cpu = thread_milliseconds(inside)
    context.close()
    return cpu, bare_page, first, later


def milliseconds_to_paint(tab: Page, url: str) -> float:
    """Return the time from the start of the navigation to the first text or picture."""
    tab.goto(url)
    return float(tab.evaluate(FIRST_PAINT))


def thread_milliseconds(inside: CDPSession) -> float:
    """Return the CPU time that the main thread of the page has taken since it was opened."""
    metrics = inside.send("Performance.getMetrics")["metrics"]
    seconds = next(each["value"] for each in metrics if each["name"] == "ThreadTime")
    return float(seconds) * 1000


if __name__ == "__main__":
    main()
