"""Rendering in processes of its own, with a real Chromium: used, killed, stopped and attacked."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent
from tests.e2e.processes import environment, http_server, run_citewell
from tests.postgres import empty_library
from tests.process_tree import is_alive, processes_below
from tests.site import Request, Response, Site, running_site

from citewell.jobs.remote_renderer import RemoteRenderer
from citewell.store.open import open_store

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

WORKER = [sys.executable, "-m", "citewell", "worker"]
HTML = {"Content-Type": "text/html; charset=utf-8"}
SHELL = """<title>Herons</title><div id=root></div><script>
root.innerHTML = '<p>The grey heron eats fish, frogs and small mammals, made by a script.</p>'
</script>"""
STATIC = """<title>Egrets</title><p>Egrets are white herons.</p><div id=root></div>
<script>root.innerHTML = '<p>This is made by a script.</p>'</script>"""
HOSTILE = """<title>Hostile</title><p id=p>Hostile</p><script>
for (const url of ['http://127.0.0.1:PORT/', 'http://localhost:PORT/', 'file:///etc/passwd'])
  fetch(url, {mode: 'no-cors'}).then(() => p.append(' LEAK'), () => p.append(' closed'));
window.open('http://127.0.0.1:PORT/'); new Image().src = 'http://127.0.0.1:PORT/';
</script>"""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where server and workers meet."""

    folder: Path
    address: str


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("place")
    with ExitStack() as stack:
        address = f"sqlite:///{folder}/pages.db"
        if request.param == "postgres":
            address = stack.enter_context(empty_library())
        yield Place(folder=folder, address=address)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    robots = Response(
        body=b"User-agent: *\nDisallow: /private", headers={"Content-Type": "text/plain"}
    )
    with running_site({"/robots.txt": robots, "/heron": SHELL, "/egret": STATIC}) as running:
        yield running


@contextmanager
def render_worker(place: Place, site: Site) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker that renders until leaving, when it is asked to stop."""
    settings = {
        "CITEWELL_DATABASE_URL": place.address,
        "CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS": site.host,
    }
    with subprocess.Popen(
        [*WORKER, "--kinds", "render"],
        env=environment(place.folder, **settings),
        cwd=place.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()


@asynccontextmanager
async def asking(place: Place) -> AsyncIterator[RemoteRenderer]:
    store = await open_store(place.address)
    try:
        async with RemoteRenderer(store.renders, wait_seconds=600) as renderer:
            yield renderer
    finally:
        await store.aclose()


async def until_counted(place: Place, **wanted: int) -> None:
    store = await open_store(place.address)
    try:
        with anyio.fail_after(300):
            while True:
                counts = await store.renders.count_renders()
                if all(getattr(counts, name) == number for name, number in wanted.items()):
                    return
                with anyio.move_on_after(0.05):
                    await anyio.Event().wait()
    finally:
        await store.aclose()


def browsers_below(pid: int) -> list[int]:
    return [at for at, command in processes_below(pid).items() if "chrom" in command]


async def fetch(client: Client, url: str, render: str = "always") -> str:
    """Call web_fetch and return what the model reads of its result, be it an error."""
    result = await client.call_tool("web_fetch", {"url": url, "render": render})
    return "".join(part.text for part in result.content if isinstance(part, TextContent))


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
async def test_a_server_has_its_pages_shown_by_a_worker_with_rules_of_its_own(
    place: Place, site: Site
) -> None:
    settings = {
        "CITEWELL_DATABASE_URL": place.address,
        "CITEWELL_RENDER_IN": "workers",
        "CITEWELL_EMBEDDER": "none",
        "CITEWELL_MCP_TOOLSETS": "web",
    }
    with running_site({"/": SHELL}) as private, http_server(place.folder, **settings) as server:
        site.pages["/hostile"] = HOSTILE.replace("PORT", str(private.port))
        async with Client(streamable_http_client(f"{server.url}/mcp")) as client:
            before = await fetch(client, site.url("/heron"))
            static = await fetch(client, site.url("/egret"), "auto")
            with render_worker(place, site) as worker:
                await until_counted(place, workers=1)
                shown = await fetch(client, site.url("/heron"), "auto")
                hostile = await fetch(client, site.url("/hostile"))
                refused = await fetch(client, private.url())
                browsers = browsers_below(worker.pid)
                own_browsers = browsers_below(server.process.pid)
            after = await fetch(client, site.url("/heron"))

    for told in (before, after):
        assert "no worker that renders is running" in told
        assert "citewell worker --kinds render" in told
    assert "Egrets are white herons" in static
    assert "made by a script" in shown
    assert (hostile.count("closed"), hostile.count("LEAK")) == (3, 0)
    # The server may fetch there; the worker, whose settings do not name it, may not.
    assert "CITEWELL_WEB_ALLOWED_PRIVATE_HOSTS" in refused
    assert [request.path for request in private.requests] == ["/robots.txt", "/"]
    assert browsers
    assert own_browsers == []
    assert worker.returncode == 0
    assert not any(map(is_alive, browsers))


async def show(place: Place, url: str, texts: list[str]) -> None:
    """Add the text of a page, once it is rendered, to `texts`."""
    async with asking(place) as renderer:
        texts.append((await renderer.render(url)).text)


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
async def test_a_page_of_a_killed_worker_is_shown_by_another(place: Place, site: Site) -> None:
    asked = threading.Event()

    def answer(request: Request) -> Response:
        is_first = not asked.is_set()
        asked.set()
        return Response(body=SHELL.encode(), headers=HTML, wait_seconds=600 if is_first else 0)

    site.pages["/held"] = answer
    texts: list[str] = []

    with render_worker(place, site) as first:
        await until_counted(place, workers=1)
        with anyio.fail_after(300):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(show, place, site.url("/held"), texts)
                await to_thread.run_sync(asked.wait, 120)
                first.kill()
                with render_worker(place, site):
                    await until_counted(place, waiting=0, held=0)

    assert "made by a script" in texts[0]


async def test_a_worker_that_is_told_to_stop_ends_its_page_first(
    tmp_path: Path, site: Site
) -> None:
    asked, may_answer = threading.Event(), threading.Event()

    def answer(request: Request) -> Response:
        asked.set()
        may_answer.wait(300)
        return Response(body=SHELL.encode(), headers=HTML)

    site.pages["/slow"] = answer
    place = Place(folder=tmp_path, address=f"sqlite:///{tmp_path}/pages.db")
    texts: list[str] = []

    with render_worker(place, site) as worker:
        await until_counted(place, workers=1)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(show, place, site.url("/slow"), texts)
            await to_thread.run_sync(asked.wait, 120)
            worker.terminate()
            await until_counted(place, workers=0)
            may_answer.set()
        code = await to_thread.run_sync(worker.wait, 120)

    assert "made by a script" in texts[0]
    assert code == 0


def test_a_worker_that_is_to_render_does_not_start_without_a_browser(tmp_path: Path) -> None:
    ended = run_citewell(tmp_path, "worker", "--kinds", "render", PATH="/nowhere")

    assert ended.returncode == 2
    assert "Chromium" in ended.stderr


def test_a_worker_refuses_kinds_of_work_that_do_not_exist(tmp_path: Path) -> None:
    ended = run_citewell(tmp_path, "worker", "--kinds", "ingest,paint")

    assert ended.returncode == 2
    assert "'paint'" in ended.stderr
