"""Pages in a real Chromium: what its reader would see comes back as HTML."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Container, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio import to_thread
from tests.process_tree import is_alive, processes_below
from tests.site import Request, Response, Site, running_site, wait_until

from citewell import __version__
from citewell.core.errors import (
    FetchError,
    FetchTimeout,
    HostUnreachable,
    PageTooLarge,
    RenderFailed,
    RobotsDisallowed,
    UnsupportedContent,
)
from citewell.web.fetcher import Fetcher
from citewell.web.render.open import open_renderer
from citewell.web.render.pool import PoolLimits, RenderPool

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
HTML = {"Content-Type": "text/html; charset=utf-8"}
KILLED_PROGRAM = """
import sys
import anyio
from citewell.web.fetcher import Fetcher
from citewell.web.render.open import open_renderer
from citewell.web.render.pool import PoolLimits

async def main(host, url):
    async with (
        Fetcher(allowed_private_hosts=(host,)) as fetcher,
        open_renderer(fetcher, PoolLimits()) as renderer,
    ):
        await renderer.render(url)
        print("shown", flush=True)
        await anyio.sleep_forever()

anyio.run(main, *sys.argv[1:])
"""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    robots = Response(
        body=b"User-agent: *\nDisallow: /private", headers={"Content-Type": "text/plain"}
    )
    with running_site({"/robots.txt": robots}) as site:
        yield site


@pytest.fixture(scope="module")
async def renderer(site: Site) -> AsyncIterator[RenderPool]:
    async with rendering(site, max_pages=3) as renderer:
        yield renderer


@asynccontextmanager
async def rendering(
    site: Site,
    *,
    max_memory_mb: int = 1_000,
    **limits: Any,
) -> AsyncIterator[RenderPool]:
    async with (
        Fetcher(allowed_private_hosts=(site.host,)) as fetcher,
        open_renderer(
            fetcher, PoolLimits(**{"timeout_seconds": 20.0, **limits}), max_memory_mb=max_memory_mb
        ) as renderer,
    ):
        yield renderer


def browsers(others: Container[int] = ()) -> list[int]:
    """The browser processes below this one but for `others`, without the processes of their pages."""
    return [
        pid
        for pid, command in processes_below().items()
        if pid not in others and "--remote-debugging-pipe" in command and "--type=" not in command
    ]


async def show_all(
    renderer: RenderPool, site: Site, *paths: str
) -> dict[str, str | type[FetchError]]:
    """Render pages at once; of those that fail, tell how."""
    shown: dict[str, str | type[FetchError]] = {}

    async def show(path: str) -> None:
        try:
            shown[path] = (await renderer.render(site.url(path))).text
        except FetchError as error:
            shown[path] = type(error)

    async with anyio.create_task_group() as tasks:
        for path in paths:
            tasks.start_soon(show, path)
    return shown


def body_of(html: str) -> str:
    return html.partition("<body>")[2].partition("</body>")[0]


async def test_text_that_a_script_writes_is_found_and_hidden_text_is_not(
    site: Site, renderer: RenderPool
) -> None:
    site.pages[
        "/script"
    ] = """<title>Birds</title><style>.x { display: none }</style><div id=root></div>
        <script>setTimeout(() => root.innerHTML =
            '<h1>Herons</h1><p class=x>secret</p><p style="visibility:hidden">unseen <b>this</b></p>', 100)
        </script>"""

    page = await renderer.render(site.url("/script"))

    assert (page.url, page.final_url, page.status) == (site.url("/script"),) * 2 + (200,)
    assert (page.kind, page.rendered, page.etag) == ("html", True, None)
    assert "<title>Birds</title>" in page.text
    assert "<h1>Herons</h1>" in body_of(page.text)
    assert not {"secret", "unseen", "this", "script"} & set(page.text.replace("<", " ").split())
    assert page.body.decode() == page.text


async def test_what_comes_late_is_waited_for(site: Site, renderer: RenderPool) -> None:
    site.pages["/late"] = """<p id=p>loading</p><script>
        fetch('/data').then(r => r.text()).then(t => setTimeout(() => p.textContent = t, 200))</script>"""
    site.pages["/data"] = Response(body=b"the heron has come", wait_seconds=0.8)

    page = await renderer.render(site.url("/late"))

    assert "the heron has come" in page.text


async def test_a_hash_route_is_shown_with_its_fragment(site: Site, renderer: RenderPool) -> None:
    site.pages["/app"] = "<main id=m></main><script>m.textContent = 'at ' + location.hash</script>"

    page = await renderer.render(site.url("/app#/birds/heron"))

    assert "at #/birds/heron" in page.text
    assert page.final_url == site.url("/app#/birds/heron")
    assert site.paths()[-1] == "/app"


async def test_shadow_trees_and_frames_of_the_site_stand_where_they_are_shown(
    site: Site, renderer: RenderPool
) -> None:
    site.pages["/inner"] = "<p>In the frame.</p>"
    site.pages[
        "/shadow"
    ] = """<bird-card><b slot=name>Heron</b>not slotted</bird-card><iframe src=/inner></iframe>
        <script>customElements.define('bird-card', class extends HTMLElement { connectedCallback() {
            this.attachShadow({mode: 'open'}).innerHTML =
                '<p>The <slot name=name>bird</slot> eats <slot name=food>fish</slot>.</p>' } })</script>"""

    page = await renderer.render(site.url("/shadow"))

    shown = body_of(page.text)
    assert '<p>The <span name="name"><b slot="name">Heron</b></span> eats' in shown
    assert "fish" in shown
    assert "not slotted" not in shown
    assert "In the frame." in shown


async def test_a_page_that_takes_too_much_is_read_as_it_is_or_given_up(site: Site) -> None:
    site.pages |= {
        "/endless": "<p>Herons wait.</p><script src=/never></script>",
        "/never": Response(body=b"", wait_seconds=600),
        "/restless": """<p>Egrets run.</p><p id=n></p>
            <script>setInterval(() => n.textContent += '.', 50)</script>""",
        "/stuck": "<p>x</p><script>while (true) {}</script>",
        "/large": "<p>x</p><script src=/large.js></script>",
        "/large.js": Response(body=b"//" + b"x" * 400_000),
        "/grown": "<p id=p></p><script>p.textContent = 'x'.repeat(500_000)</script>",
        "/greedy": """<p>x</p><script>const held = [];
            setInterval(() => held.push(new Uint8Array(30_000_000).fill(1)), 20)</script>""",
        "/modest": "<p>modest</p>",
    }
    limits = {"timeout_seconds": 15.0, "max_pages": 4, "max_page_bytes": 200_000}

    async with rendering(site, max_memory_mb=200, **limits) as renderer:
        with anyio.fail_after(180):
            slow = await show_all(renderer, site, "/endless", "/restless", "/stuck")
            large = await show_all(renderer, site, "/large", "/grown", "/greedy")
            after = await show_all(renderer, site, "/modest")

    assert "Herons wait." in str(slow["/endless"])
    assert "Egrets run." in str(slow["/restless"])
    assert slow["/stuck"] is FetchTimeout
    assert large == {"/large": PageTooLarge, "/grown": PageTooLarge, "/greedy": RenderFailed}
    assert "modest" in str(after["/modest"])


async def test_downloads_images_and_fonts_are_not_loaded(site: Site, renderer: RenderPool) -> None:
    attachment = {"Content-Type": "application/zip", "Content-Disposition": "attachment"}
    site.pages["/file"] = Response(body=b"PK", headers=attachment)
    site.pages[
        "/rich"
    ] = """<style>@font-face { font-family: f; src: url(/font.woff2) } p { font-family: f }</style>
        <p>Text</p><img src=/picture.png><video src=/film.mp4></video>"""

    shown = await show_all(renderer, site, "/file", "/rich")

    assert shown["/file"] is UnsupportedContent
    assert '<img src="/picture.png">' in str(shown["/rich"])
    assert not {"/picture.png", "/font.woff2", "/film.mp4"} & set(site.paths())


async def test_pages_share_no_cookies_and_say_who_asks(site: Site, renderer: RenderPool) -> None:
    seen: list[Request] = []

    def greet(request: Request) -> Response:
        seen.append(request)
        return Response(body=b"<p>hello", headers=HTML | {"Set-Cookie": "bird=heron"})

    site.pages["/cookie"] = greet
    await renderer.render(site.url("/cookie"))
    await renderer.render(site.url("/cookie"))

    assert len(seen) == 2
    assert "Cookie" not in seen[1].headers
    assert seen[1].headers["User-Agent"].startswith("Mozilla/5.0")
    assert seen[1].headers["User-Agent"].endswith(f"Citewell/{__version__}")
    assert "Headless" not in seen[1].headers["User-Agent"]


async def test_robots_hold_for_wherever_the_page_goes(site: Site, renderer: RenderPool) -> None:
    site.pages["/private"] = "<p>heron</p>"
    site.pages["/go"] = "<p>x</p><script>location.href = '/private'</script>"
    site.pages["/sent"] = Response(status=302, headers={"Location": "/private"})
    site.pages["/nowhere"] = "<script>location.href = 'http://nowhere.invalid/'</script>"

    shown = await show_all(renderer, site, "/private", "/go", "/sent", "/nowhere")

    assert shown == {
        "/private": RobotsDisallowed,
        "/go": RobotsDisallowed,
        "/sent": RobotsDisallowed,
        "/nowhere": HostUnreachable,
    }


async def test_a_worn_out_or_dead_browser_is_replaced_and_none_is_left_behind(site: Site) -> None:
    others = set(processes_below())
    killed: list[int] = []

    def kill_browser(request: Request) -> Response:
        if not killed:
            killed.extend(browsers(others))
            os.kill(killed[0], signal.SIGKILL)
        return Response(body=b"<p>survived", headers=HTML)

    site.pages |= {"/calm": "<p>calm</p>", "/deadly": kill_browser}
    async with rendering(site, pages_per_browser=1) as renderer:
        await renderer.render(site.url("/calm"))
        worn_out = browsers(others)
        page = await renderer.render(site.url("/deadly"))
        last = browsers(others)
        started = set(processes_below()) - others

    assert "survived" in page.text
    assert (len(worn_out), len(killed), len(last)) == (1, 1, 1)
    assert len({*worn_out, *killed, *last}) == 3
    wait_until(lambda: not any(map(is_alive, started)))


async def test_an_idle_browser_ends_by_itself(site: Site) -> None:
    others = set(processes_below())
    site.pages["/calm"] = "<p>calm</p>"

    async with rendering(site, idle_seconds=0.1) as renderer:
        await renderer.render(site.url("/calm"))
        started = set(processes_below()) - others
        await to_thread.run_sync(wait_until, lambda: not any(map(is_alive, started)))

    assert started


async def test_no_more_pages_are_shown_at_once_than_allowed(
    site: Site, renderer: RenderPool
) -> None:
    shown: set[int] = set()
    most = 0
    all_tabs_busy = threading.Event()

    def hold(request: Request) -> Response:
        nonlocal most
        shown.add(threading.get_ident())
        most = max(most, len(shown))
        if len(shown) == 3:
            all_tabs_busy.set()
        all_tabs_busy.wait(60)
        threading.Event().wait(0.3)  # one too many would come now
        shown.discard(threading.get_ident())
        return Response(body=b"<p>one of many", headers=HTML)

    site.pages |= {f"/many{number}": hold for number in range(5)}
    await show_all(renderer, site, *(f"/many{number}" for number in range(5)))

    assert most == 3


async def test_a_killed_process_leaves_no_browser_behind(site: Site) -> None:
    site.pages["/calm"] = "<p>calm</p>"
    program = (sys.executable, "-c", KILLED_PROGRAM, site.host, site.url("/calm"))

    async with await anyio.open_process(program, stderr=None) as process:
        assert process.stdout is not None
        with anyio.fail_after(60):
            assert b"shown" in await process.stdout.receive()
        started = set(processes_below(process.pid))
        process.kill()

    assert len(started) > 3
    wait_until(lambda: not any(map(is_alive, started)))
