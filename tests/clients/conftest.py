"""A site to ask about, and one HTTP server with keys for all clients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from tests.e2e.processes import http_server, make_key
from tests.site import Answer, Request, Response, Site, running_site

HERON = """<html><head><title>Herons</title></head><body><main><h1>Herons</h1>
<h2>Food</h2><p>The grey heron eats fish, frogs and small mammals. It stands still at the water's
edge and waits until its prey comes near.</p></main></body></html>"""
SLOW = Response(
    body=HERON.encode(), headers={"Content-Type": "text/html; charset=utf-8"}, wait_seconds=120
)
_numbers = count(1)


def changing(request: Request) -> Response:
    """Return a page that has another text every time that it is fetched."""
    body = f"<title>Count</title><main><h1>Count</h1><p>It is {next(_numbers)} now.</p></main>"
    return Response(body=body.encode(), headers={"Content-Type": "text/html; charset=utf-8"})


PAGES: dict[str, Answer] = {"/heron": HERON, "/slow": SLOW, "/changing": changing}
SETTINGS = {
    "CITEWELL_EMBEDDER": "none",
    "CITEWELL_WEB_TIMEOUT_SECONDS": "120",
    "CITEWELL_MCP_TOOLSETS": "default,people",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """A running server, where it keeps its pages, and a key for it."""

    url: str
    folder: Path
    key: str

    @property
    def authorization(self) -> str:
        return f"Bearer {self.key}"


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    with running_site(PAGES) as running:
        yield running


@pytest.fixture(scope="session")
def company(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Company]:
    folder = tmp_path_factory.mktemp("company")
    key = make_key(folder, "clients")
    with http_server(folder, **SETTINGS) as server:
        yield Company(url=f"{server.url}/mcp", folder=folder, key=key)
