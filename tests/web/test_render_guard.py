"""What a rendered page can reach: every way out of a browser that we know of, tried."""

from __future__ import annotations

import socket
import threading
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial

import pytest
from tests.site import Request, Response, Site, running_site

from citewell.core.errors import AddressRefused
from citewell.web.fetcher import Fetcher
from citewell.web.render.open import open_renderer
from citewell.web.render.pool import PoolLimits, RenderPool

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

# Each tries to reach the private port, the first of them the page's own site as well.
ATTEMPTS = """
const report = (name) => { const p = document.createElement('p'); p.textContent = name; document.body.append(p) };
const add = (html) => document.body.insertAdjacentHTML('beforeend', html);
fetch('/open').then(r => r.text()).then(t => report('own site: ' + t));
for (const host of ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', 'inside.example', '2130706433'])
  fetch(`http://${host}:PORT/fetch`, {mode: 'no-cors'}).then(() => report('LEAK ' + host), () => report('closed ' + host));
fetch('/sent', {mode: 'no-cors'}).then(() => report('LEAK redirect'), () => report('closed redirect'));
const socket = new WebSocket('ws://127.0.0.1:PORT/socket');
socket.onopen = () => report('LEAK socket'); socket.onerror = () => report('closed socket');
const events = new EventSource('http://127.0.0.1:PORT/events');
events.onerror = () => { events.close(); report('closed events') };
navigator.sendBeacon('http://127.0.0.1:PORT/beacon', 'x');
new Image().src = 'http://127.0.0.1:PORT/image';
add('<iframe src="http://127.0.0.1:PORT/frame"></iframe><embed src="http://127.0.0.1:PORT/embed">');
add('<link rel=stylesheet href="http://127.0.0.1:PORT/style"><link rel=prefetch href="http://127.0.0.1:PORT/prefetch">');
add('<link rel=preconnect href="http://127.0.0.1:PORT"><link rel=dns-prefetch href="http://127.0.0.1:PORT">');
const script = document.createElement('script'); script.src = 'http://127.0.0.1:PORT/script'; document.body.append(script);
const source = `fetch('http://127.0.0.1:PORT/worker', {mode: 'no-cors'}).then(() => postMessage('LEAK worker'), () => postMessage('closed worker'))`;
new Worker(URL.createObjectURL(new Blob([source]))).onmessage = (e) => report(e.data);
navigator.serviceWorker.register('/service-worker.js');
window.open('http://127.0.0.1:PORT/popup');
try { new WebTransport('https://127.0.0.1:PORT/transport').ready.then(() => report('LEAK transport'), () => {}) } catch {}
"""
PEER = """
const peer = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:PORT'},
  {urls: 'turn:127.0.0.1:PORT?transport=udp', username: 'a', credential: 'b'}]});
const busy = setInterval(() => p.textContent += '.', 100);
setTimeout(() => clearInterval(busy), 1500);
peer.createDataChannel('x'); peer.createOffer().then(o => peer.setLocalDescription(o));
"""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@contextmanager
def private_port() -> Iterator[tuple[int, list[str]]]:
    """A port of this machine that nobody may reach, and who did: by TCP or UDP."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        port = listener.getsockname()[1]
        datagrams.bind(("127.0.0.1", port))
        reached: list[str] = []
        threading.Thread(target=_note, args=(listener.accept, "TCP", reached), daemon=True).start()
        receive = partial(datagrams.recv, 2048)
        threading.Thread(target=_note, args=(receive, "UDP", reached), daemon=True).start()
        yield port, reached
        # A thread that waits on a socket is woken by its end.
        listener.shutdown(socket.SHUT_RDWR)
        datagrams.sendto(b"end", ("127.0.0.1", port))


def _note(wait: Callable[[], object], name: str, reached: list[str]) -> None:
    try:
        if wait() != b"end":
            reached.append(name)
    except OSError:
        return


@asynccontextmanager
async def rendering(site: Site) -> AsyncIterator[RenderPool]:
    async def resolve(name: str, port: int) -> Collection[str]:
        return ["127.0.0.1"]

    async with (
        Fetcher(
            allowed_private_hosts=(site.host, f"pages.example:{site.port}"), resolve=resolve
        ) as fetcher,
        open_renderer(fetcher, PoolLimits(timeout_seconds=60.0)) as renderer,
    ):
        yield renderer


async def test_a_page_reaches_its_own_site_and_nothing_private_by_any_way() -> None:
    with private_port() as (port, reached), running_site({}) as site:
        site.pages |= {
            "/": f"<p id=p>x</p><script>{ATTEMPTS}</script>".replace("PORT", str(port)),
            "/open": "it works",
            "/sent": Response(status=302, headers={"Location": f"http://127.0.0.1:{port}/sent"}),
            "/service-worker.js": Response(body=b"", headers={"Content-Type": "text/javascript"}),
            "/peer": f"<p id=p>x</p><script>{PEER}</script>".replace("PORT", str(port)),
        }
        async with rendering(site) as renderer:
            page = await renderer.render(site.url())
            await renderer.render(site.url("/peer"))
            with pytest.raises(AddressRefused):
                await renderer.render(f"http://127.0.0.1:{port}/")
            site.pages["/go"] = f"<script>location.href = 'http://127.0.0.1:{port}/gone'</script>"
            with pytest.raises(AddressRefused):
                await renderer.render(site.url("/go"))
            named = await renderer.render(f"http://pages.example:{site.port}/open")

        assert reached == []
    assert "own site: it works" in page.text
    assert "LEAK" not in page.text
    assert page.text.count("<p>closed ") == 10
    assert "/service-worker.js" not in site.paths()
    # The name is known to our resolver alone, so the browser cannot have looked it up.
    assert "it works" in named.text


SENDING = """
const report = (name) => { const p = document.createElement('p'); p.textContent = name; document.body.append(p) };
const end = (name) => () => report('closed ' + name);
const add = (html) => document.body.insertAdjacentHTML('beforeend', html);
for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])
  fetch('/sent', {method}).then(() => report('LEAK ' + method), end(method));
fetch('/sent', {method: 'POST', keepalive: true, body: 'x'}).then(() => report('LEAK keepalive'), end('keepalive'));
const request = new XMLHttpRequest(); request.onload = () => report('LEAK xhr'); request.onloadend = end('xhr');
request.open('POST', '/sent'); request.send('x');
navigator.sendBeacon('/sent', 'x');
new Worker(URL.createObjectURL(new Blob([`fetch('ORIGIN/sent', {method: 'POST'}).then(() => postMessage('LEAK worker'), () => postMessage('closed worker'))`]))).onmessage = (e) => report(e.data);
add('<iframe name=inside></iframe><form id=f method=post action=/sent target=inside><input name=a value=b></form>');
f.submit();
add('<form id=g method=post action=/sent target=_blank><input name=a value=b></form>'); g.submit();
add('<a id=p href="/open" ping="/sent" target=inside>x</a>'); p.click();
add('<iframe srcdoc="<form id=h method=post action=/sent></form><script>h.submit()</scr' + 'ipt>"></iframe>');
const socket = new WebSocket('ws://HOST/socket'); socket.onclose = end('socket'); socket.onopen = () => report('LEAK open'); socket.onmessage = () => report('LEAK socket');
fetch('/open', {method: 'HEAD'}).then(() => report('head arrived'));
fetch('/open').then(() => report('get arrived'));
"""


async def test_a_page_sends_nothing_but_get_and_head() -> None:
    sent: list[str] = []
    policy = {
        "Content-Type": "text/html",
        "Content-Security-Policy-Report-Only": "img-src 'none'; report-uri /sent",
        "Reporting-Endpoints": 'default="/sent"',
    }

    def note(request: Request) -> Response:
        sent.append(request.method)
        return Response(body=b"noted")

    with running_site({"/open": "open", "/sent": note, "/socket": note}) as site:
        script = SENDING.replace("ORIGIN", site.url("").rstrip("/")).replace("HOST", site.host)
        html = f"<p>Herons.</p><img src=/picture.png><script>{script}</script>"
        site.pages["/"] = Response(body=html.encode(), headers=policy)
        site.pages["/posted"] = (
            "<form id=f method=post action=/sent></form><script>f.submit()</script>"
        )
        async with rendering(site) as renderer:
            page = await renderer.render(site.url())
            posted = await renderer.render(site.url("/posted"))

    assert sent == []
    assert "LEAK" not in page.text
    assert page.text.count("<p>closed ") == 9
    assert "<p>head arrived" in page.text
    assert "<p>get arrived" in page.text
    assert posted.final_url == site.url("/posted")


async def test_an_exception_for_a_private_host_is_not_for_what_another_page_calls() -> None:
    call = """<p>Herons.</p><script>fetch('OTHER', {mode: 'no-cors'}).then(
        () => document.body.append('LEAK'), () => document.body.append('closed'))</script>"""
    with running_site({"/data": "private"}) as inside, running_site({}) as site:
        site.pages["/"] = call.replace("OTHER", inside.url("/data"))
        inside.pages["/"] = call.replace("OTHER", "/data").replace("LEAK", "own")
        hosts = (site.host, inside.host)
        async with (
            Fetcher(allowed_private_hosts=hosts) as fetcher,
            open_renderer(fetcher, PoolLimits(timeout_seconds=60.0)) as renderer,
        ):
            calling = await renderer.render(site.url())
            asked_for = await renderer.render(inside.url())

    assert "closed" in calling.text
    assert "LEAK" not in calling.text
    assert "own" in asked_for.text
    assert inside.paths().count("/data") == 1
