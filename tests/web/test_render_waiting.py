"""How long a rendered page is waited for: until it has said what it has to say."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import anyio
import pytest
from tests.site import Request, Response, Site, running_site

from citewell.core.records import FetchedPage
from citewell.web.fetcher import Fetcher
from citewell.web.render.open import open_renderer
from citewell.web.render.pool import PoolLimits, RenderPool

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

REPEATS = 1
BATCHES = 6
# So few that the end of the list stays in a high window.
ROWS = 20
MOUNT = "<div id=root></div><script>setTimeout(() => root.innerHTML = '<p>The heron has come.</p>', DELAY)</script>"
FRAMING = f"<header><p>{'A page about the birds of the coast. ' * 20}</p></header>"
DATA = "fetch('/data').then(r => r.text()).then(t => list.innerHTML = `<li>${t}</li>`)"
PAGES = {
    "/mounts-0.5": MOUNT.replace("DELAY", "500"),
    "/mounts-2": MOUNT.replace("DELAY", "2000"),
    "/mounts-7": MOUNT.replace("DELAY", "7000"),
    "/loading-7": MOUNT.replace("DELAY", "7000").replace("root></div>", "root>Loading...</div>"),
    "/data-after-mount": f"""<div id=root></div><script>setTimeout(() => {{
        root.innerHTML = '<h1>Birds</h1><ul id=list></ul>';
        setTimeout(() => {DATA}, 700) }}, 600)</script>""",
    "/placeholder-among-text": f"""{FRAMING}<div id=list><p>Loading birds…</p></div><script>
        setTimeout(() => {DATA}, 4000)</script>""",
    "/busy": f"""{FRAMING}<div id=list aria-busy=true style=height:9px></div><script>setTimeout(() => {{
        list.removeAttribute('aria-busy'); {DATA} }}, 3500)</script>""",
    "/chain": f"""{FRAMING}<ul id=list></ul><script>
        fetch('/index').then(() => setTimeout(() => fetch('/index').then(() => {DATA}), 900))</script>""",
    "/part-by-part": """<h1>Birds</h1><div id=list></div><script>let part = 0; const timer = setInterval(() => {
        list.insertAdjacentHTML('beforeend', ++part < 4 ? '<p>Wait.</p>' : '<p>The heron has come.</p>');
        if (part === 4) clearInterval(timer) }, 450)</script>""",
    "/elsewhere": "<script>setTimeout(() => location.replace('/mounts-0.5'), 1200)</script>",
    "/frame": "<h1>Birds</h1><iframe src=/mounts-2 width=600 height=400></iframe>",
    "/shadow": """<bird-card></bird-card><script>const tree = document.querySelector('bird-card').attachShadow({mode: 'open'});
        setTimeout(() => tree.innerHTML = '<p>The heron has come.</p>', 1500)</script>""",
    "/closed-shadow": """<bird-card></bird-card><script>const tree = document.querySelector('bird-card').attachShadow({mode: 'closed'});
        setTimeout(() => tree.innerHTML = '<p>The heron has come.</p>', 1500)</script>""",
    "/declared-shadow": """<bird-card><template shadowrootmode=open><p>The heron has come.</p>
        </template></bird-card>""",
    "/computed": """<div id=root></div><script>setTimeout(() => { const end = Date.now() + 1500;
        while (Date.now() < end); root.textContent = 'The heron has come.' }, 300)</script>""",
}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    slow = {"Content-Type": "text/plain"}
    answers = {
        "/data": Response(body=b"The heron has come.", headers=slow, wait_seconds=0.8),
        "/index": Response(body=b"[]", headers=slow, wait_seconds=0.5),
    }
    with running_site({**PAGES, **answers}) as site:
        yield site


@pytest.fixture(scope="module")
async def renderer(site: Site) -> AsyncIterator[RenderPool]:
    async with (
        Fetcher(allowed_private_hosts=(site.host,), host_concurrency=6) as fetcher,
        open_renderer(fetcher, PoolLimits(max_pages=6, timeout_seconds=40.0)) as renderer,
    ):
        yield renderer


async def render_together(renderer: RenderPool, *asked: tuple[str, str]) -> list[FetchedPage]:
    """Render pages by their URLs and what is waited for on each, side by side."""
    pages: dict[int, FetchedPage] = {}

    async def show(place: int, url: str, wait_for: str) -> None:
        pages[place] = await renderer.render(url, wait_for=wait_for)

    async with anyio.create_task_group() as tasks:
        for place, (url, wait_for) in enumerate(asked):
            tasks.start_soon(show, place, url, wait_for)
    return [pages[place] for place in range(len(asked))]


async def test_whatever_comes_late_is_waited_for_every_time(
    site: Site, renderer: RenderPool
) -> None:
    urls = [site.url(path) for path in [*PAGES] * REPEATS]

    pages = await render_together(renderer, *((url, "") for url in urls))

    assert [page.url for page in pages if "The heron has come." not in page.text] == []
    assert [(page.url, page.incomplete) for page in pages if page.incomplete] == []


async def test_a_list_that_grows_as_it_is_scrolled_is_read_to_its_end(
    site: Site, renderer: RenderPool
) -> None:
    def batch(request: Request) -> Response:
        number = int(request.path.partition("=")[2])
        rows = "".join(f"<li style=height:90px>Bird {number}.{i}</li>" for i in range(ROWS))
        return Response(body=(rows if number < BATCHES else "").encode(), wait_seconds=0.2)

    site.pages["/batch"] = batch
    site.pages["/endless"] = """<h1>Birds</h1><ul id=list></ul><p id=end>&nbsp;</p><script>
        let next = 0, busy = false;
        new IntersectionObserver(async ([seen]) => { if (!seen.isIntersecting || busy) return; busy = true;
          list.insertAdjacentHTML('beforeend', await (await fetch('/batch?n=' + next++)).text()); busy = false
        }).observe(end)</script>"""

    page = await renderer.render(site.url("/endless"))

    assert page.text.count("<li") == ROWS * BATCHES
    assert page.incomplete == ""


async def test_what_is_missing_is_said(site: Site, renderer: RenderPool) -> None:
    site.pages["/stalled"] = "<h1>Birds</h1><p>Loading...</p>"
    site.pages["/growing"] = """<h1>Birds</h1><ul id=list></ul><script>
        setInterval(() => list.insertAdjacentHTML('beforeend', '<li>one more bird</li>'), 100)</script>"""

    stalled, growing = await render_together(
        renderer, (site.url("/stalled"), ""), (site.url("/growing"), "")
    )

    assert stalled.incomplete == "a part of the page was still loading"
    assert growing.incomplete == "the page went on changing"
    assert "one more bird" in growing.text


async def test_a_text_or_an_element_can_be_waited_for(site: Site, renderer: RenderPool) -> None:
    site.pages["/news"] = f"""{FRAMING}<p id=news></p><script>setTimeout(() => {{
        news.innerHTML = 'Herons <b class=fresh>came back</b> today.' }}, 6000)</script>"""

    at_once, text, selector = await render_together(
        renderer,
        (site.url("/news"), ""),
        (site.url("/news"), "Herons came back"),
        (site.url("/news"), "p > b.fresh"),
    )

    assert "came back" not in at_once.text
    assert "came back" in text.text
    assert "came back" in selector.text
    assert (text.incomplete, selector.incomplete) == ("", "")


async def test_what_never_appears_is_waited_for_until_the_time_is_up(site: Site) -> None:
    async with (
        Fetcher(allowed_private_hosts=(site.host,)) as fetcher,
        open_renderer(fetcher, PoolLimits(timeout_seconds=10.0)) as renderer,
    ):
        page = await renderer.render(site.url("/mounts-0.5"), wait_for="egrets")

    assert page.incomplete == "what was waited for did not appear"
