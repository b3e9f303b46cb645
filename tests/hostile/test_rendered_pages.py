"""Ways out of a rendered page that are no requests: schemes, documents of its own, workers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.site import Request, Response, running_site

from citewell.core.errors import FetchError
from citewell.web.fetcher import Fetcher
from citewell.web.render.open import open_renderer
from citewell.web.render.pool import PoolLimits

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

ATTEMPTS = """
const add = (html) => document.body.insertAdjacentHTML('beforeend', html);
const report = (text) => add('<p>' + text + '</p>');
const tell = (name) => [() => report('LEAK ' + name), () => report('closed ' + name)];
for (const url of ['FILE', 'view-source:FILE', 'view-source:PRIVATE/source', 'chrome://version', 'filesystem:PRIVATE/x'])
  add(`<iframe src="${url}" width=500 height=300></iframe><object data="${url}"></object><embed src="${url}">`);
fetch('FILE').then(r => r.text()).then(t => report('LEAK ' + t), () => report('closed file'));
const inner = `<p>inside</p><script>fetch('PRIVATE/blob', {mode: 'no-cors'}).then(() => document.body.append('LEAK blob'))</scr` + 'ipt>';
add(`<iframe src="${URL.createObjectURL(new Blob([inner], {type: 'text/html'}))}"></iframe>`);
add(`<iframe src="data:text/html,${encodeURIComponent(inner)}"></iframe>`);
import('PRIVATE/module.js').then(...tell('module'));
add('<style>@import url("PRIVATE/import.css"); p { background: url("PRIVATE/picture") }</style>');
add('<link rel=modulepreload href="PRIVATE/preload.js"><link rel=manifest href="PRIVATE/manifest">');
add('<script type=speculationrules>{"prerender": [{"source": "list", "urls": ["PRIVATE/speculated"]}]}</scr' + 'ipt>');
const work = `const ask = (post) => { fetch('PRIVATE/shared', {mode: 'no-cors'}).then(() => post('LEAK shared'), () => post('closed shared'));
  fetch('ORIGIN/sent', {method: 'POST'}).then(() => post('LEAK post'), () => post('closed post'));
  const s = new WebSocket('ws://HOST/socket'); s.onopen = () => post('LEAK socket'); s.onerror = () => post('closed socket') };
  onconnect = (e) => ask((t) => e.ports[0].postMessage(t))`;
const frame = document.createElement('iframe'); document.body.append(frame);
for (const [name, own] of [['page', window], ['frame', frame.contentWindow]]) try {
  const shared = new own.SharedWorker(URL.createObjectURL(new Blob([work], {type: 'text/javascript'})), name);
  shared.port.onmessage = (e) => report(e.data);
} catch { report('closed worker') }
add('<a id=file download href="/saved.bin">x</a>'); document.getElementById('file').click();
window.open('view-source:PRIVATE/opened'); window.open('FILE');
for (const leave of ['pagehide', 'visibilitychange', 'unload'])
  addEventListener(leave, () => {
    navigator.sendBeacon('ORIGIN/sent', leave);
    fetch('ORIGIN/sent', {method: 'POST', body: leave, keepalive: true});
  });
if (window.fetchLater) fetchLater('ORIGIN/sent', {method: 'POST', body: 'later', activateAfter: 0});
"""


async def test_no_scheme_document_or_worker_leads_out_of_a_page(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret of this machine", encoding="utf-8")
    sent: list[str] = []

    def note(request: Request) -> Response:
        sent.append(request.path)
        return Response(body=b"noted")

    saved = Response(body=b"\0" * 99, headers={"Content-Disposition": "attachment; filename=x"})
    with running_site({}) as private, running_site({"/saved.bin": saved}) as site:
        private.default = note
        site.pages |= {"/sent": note, "/socket": note}
        script = (
            ATTEMPTS.replace("FILE", secret.as_uri())
            .replace("PRIVATE", private.url("").rstrip("/"))
            .replace("ORIGIN", site.url("").rstrip("/"))
            .replace("HOST", site.host)
        )
        site.pages["/"] = f"<p>Herons.</p><script>{script}</script>"
        site.pages["/go"] = f"<p>x</p><script>location.href = '{secret.as_uri()}'</script>"
        site.pages["/leave"] = (
            "<p>x</p><script>addEventListener('pagehide', () => navigator.sendBeacon('/sent', 'x'));"
            "location.href = '/next'</script>"
        )
        site.pages["/next"] = "<p>The next page.</p>"
        async with (
            Fetcher(allowed_private_hosts=(site.host,)) as fetcher,
            open_renderer(fetcher, PoolLimits(timeout_seconds=15.0)) as renderer,
        ):
            page = await renderer.render(site.url())
            gone = await renderer.render(site.url("/go"))
            left = await renderer.render(site.url("/leave"))
            with pytest.raises(FetchError):
                await renderer.render(site.url("/saved.bin"))

    assert sent == []
    assert "LEAK" not in page.text
    assert "next page" in left.text
    assert "secret of" not in page.text + gone.text
    assert page.text.count("<p>closed ") == 4
