"""A small site about herons and a server that has read some of it, for tests and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from tests.e2e.processes import http_server
from tests.messages import INITIALIZE
from tests.site import Response, Site, running_site

HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>'

HANDBOOK = """<!doctype html><title>The heron handbook</title><main>
<h1>The heron handbook</h1>
<p>Herons are wading birds that hunt in shallow water. This handbook describes how they are counted,
what they eat and how a survey is set up.</p>
<h2 id="food">Food</h2>
<p>The grey heron eats fish, frogs and small mammals. It stands still for hours before it strikes.
A strike takes less than a tenth of a second. See <a href="/owls">the owls</a> for hunters of the
night.</p>
<ul><li>In spring it eats mostly <b>frogs</b>.</li><li>In winter it eats mice on open fields.</li></ul>
<h2 id="survey">Setting up a survey</h2>
<p>Call <code>open_survey</code> with the name of the marsh and a limit in hours:</p>
<pre><code class="language-python">survey = open_survey("fen", hours=4)
for heron in survey.herons():
    print(heron.weight)</code></pre>
<p>The default limit of a survey is 6 hours. It can be raised to 24.</p>
<h3 id="options">Options</h3>
<table><tr><th>Option</th><th>Default</th><th>Meaning</th></tr>
<tr><td>hours</td><td>6</td><td>How long a survey runs.</td></tr>
<tr><td>observers</td><td>2</td><td>How many people count at the same time.</td></tr></table>
<h2 id="density">Density</h2>
<p>The density follows from the count: <math><mi>d</mi><mo>=</mo><mfrac><mi>n</mi><mi>a</mi></mfrac>
<annotation encoding="application/x-tex">d = \\frac{n}{a}</annotation></math>.
<img src="/density.png" alt="A map of densities"></p>
</main>"""

PAGES: dict[str, str | Response] = {
    "/": "<title>Birds</title><main><h1>Birds</h1><p>A site about birds of the fen and the wood. "
    'Read <a href="/handbook">the heron handbook</a> or about <a href="/owls">owls</a>.</p></main>',
    "/handbook": HANDBOOK,
    "/owls": "<title>Owls</title><main><h1>Owls</h1><p>The tawny owl eats mice at night. It hears "
    'them under snow. Unlike <a href="/handbook">herons</a> it does not fish.</p></main>',
    "/hostile": f"<title>Hostile</title><main><h1>{HOSTILE.replace('<', '&lt;')}</h1>"
    "<p>The hostile page says [click](javascript:alert(1)) and &lt;script&gt;alert(1)&lt;/script&gt; "
    "about a bittern that booms at dusk.</p></main>",
    "/robots.txt": Response(
        body=b"User-agent: *\nDisallow: /private/\n", headers={"Content-Type": "text/plain"}
    ),
}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A running server and the site it has read."""

    url: str
    site: Site
    server_pid: int

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Return the structured result of a call over plain HTTP."""
        headers = {"Accept": "application/json, text/event-stream"}
        opened = httpx2.post(
            f"{self.url}/mcp",
            headers=headers,
            json=INITIALIZE,
            timeout=60,
        )
        session = opened.headers.get("mcp-session-id")
        answer = httpx2.post(
            f"{self.url}/mcp",
            headers={**headers, **({"Mcp-Session-Id": session} if session else {})},
            json={
                "jsonrpc": "2.0",
                "id": 2,
                "method": "tools/call",
                "params": {"name": tool, "arguments": arguments},
            },
            timeout=120,
        )
        return _result_of(answer.text)


def _result_of(body: str) -> dict[str, Any]:
    import json

    lines = [line[5:] for line in body.splitlines() if line.startswith("data:")] or [body]
    messages = [json.loads(line) for line in lines if line.strip()]
    result = next(message["result"] for message in messages if message.get("id") == 2)
    return dict(result["structuredContent"])


@contextmanager
def running_scene(folder: Path, *paths: str, **settings: str) -> Iterator[Scene]:
    """Serve the site, and a server that has read `paths` of it."""
    folder.mkdir(exist_ok=True)
    with (
        running_site(PAGES) as site,
        http_server(
            folder, CITEWELL_EMBEDDER="none", CITEWELL_MCP_TOOLSETS="all", **settings
        ) as server,
    ):
        scene = Scene(url=server.url, site=site, server_pid=server.process.pid)
        if paths:
            ingested = scene.call("ingest", url=[site.url(path) for path in paths])
            assert "error" not in ingested, ingested
        yield scene
