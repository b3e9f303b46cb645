"""Tabs of a real browser on a server that asks for keys, which real MCP clients call too."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.sync_api import (
    Browser,
    Page,
    ViewportSize,
)
from tests.e2e.browser import PATIENCE_MILLISECONDS, note_problems, running_browser
from tests.e2e.processes import http_server
from tests.site import running_site

from citewell.access.keys import OPERATOR, KeyTerms, create_key, revoke_key
from citewell.store.open import open_store

Result = TypeVar("Result")

THREADS = ThreadPoolExecutor(max_workers=8)

QUESTIONS = "/mcp/tools/ask_user"
DIRECTIVES = "/mcp/tools/get_user_requests"
NARROW: ViewportSize = {"width": 360, "height": 740}
HOSTILE = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
SITE = {
    "/herons": f"<title>Herons</title><main><h1>{HOSTILE.replace('<', '&lt;')}</h1><p>The grey "
    'heron eats fish and stands still for hours. See <a href="/owls">owls</a>.</p></main>',
    "/owls": "<title>Owls</title><main><h1>Owls</h1><p>The tawny owl eats mice at night. "
    'Unlike <a href="/herons">herons</a>.</p></main>',
}


@dataclass(frozen=True, kw_only=True)
class Served:
    """A running server and the keys of two people."""

    url: str
    hasty_url: str
    """Another server on the same database, where agents do not wait long for an answer."""
    ann: str
    ben: str
    guest: str
    """A key that one test revokes."""
    root: str
    """A key with the scope admin."""
    database: str

    def call(self, tool: str, arguments: dict[str, object], *, key: str) -> dict[str, Any]:
        """Return the structured result of a call by a real client."""
        return self.start(tool, arguments, key=key).result(30)

    def start(self, tool: str, arguments: dict[str, object], *, key: str) -> Future[dict[str, Any]]:
        """Call in the background, as an agent that waits does."""
        return run_apart(self._call, tool, arguments, key)

    async def revoke(self, name: str) -> None:
        """Revoke a key, as `citewell keys` does."""
        store = await open_store(self.database)
        await revoke_key(store.access, name, by=OPERATOR)
        await store.aclose()

    async def _call(self, tool: str, arguments: dict[str, object], key: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            Client(streamable_http_client(f"{self.url}/mcp", http_client=http)) as client,
        ):
            result = await client.call_tool(tool, arguments)
        return dict(result.structured_content or {})


def run_apart(work: Callable[..., Awaitable[Result]], *arguments: object) -> Future[Result]:
    """Run `work` in a thread of its own: the browser has an event loop in this one."""
    return THREADS.submit(anyio.run, work, *arguments)


@dataclass(kw_only=True)
class Tab:
    """A tab of the browser, and what it complained of."""

    page: Page
    served: Served
    problems: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def forgive(self) -> None:
        """Forget the complaints so far: the test refused something, or called another server."""
        self.problems.clear()
        self.outside.clear()

    def open(self, path: str, *, key: str | None = None) -> Page:
        """Go to a page, with a key if there is none in the browser yet."""
        self.page.goto(f"{self.served.url}{path}")
        if key is not None:
            self.page.locator("main [name=key]").fill(key)
            self.page.locator("main").get_by_role("button", name="Use this key").click()
        return self.page


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("consoles")
    database = f"sqlite:///{folder}/pages.db"

    async def make_keys() -> list[str]:
        store = await open_store(database)
        names = ("ann", "ben", "guest")
        made = [await create_key(store.access, name, KeyTerms(), by=OPERATOR) for name in names]
        made.append(await create_key(store.access, "root", KeyTerms(scope="admin"), by=OPERATOR))
        await store.aclose()
        return [key.token for key in made]

    ann, ben, guest, root = run_apart(make_keys).result(30)
    with (
        running_site(SITE) as site,
        http_server(
            folder,
            CITEWELL_EMBEDDER="none",
            CITEWELL_MCP_TOOLSETS="default,people",
            CITEWELL_PEOPLE_ANSWER_TIMEOUT_SECONDS="60",
        ) as server,
        http_server(
            folder, CITEWELL_EMBEDDER="none", CITEWELL_PEOPLE_ANSWER_TIMEOUT_SECONDS="0.3"
        ) as hasty,
    ):
        running = Served(
            url=server.url,
            hasty_url=hasty.url,
            ann=ann,
            ben=ben,
            guest=guest,
            root=root,
            database=database,
        )
        urls = [site.url("/herons"), site.url("/owls")]
        assert "error" not in running.call("ingest", {"url": urls}, key=ann)
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with running_browser() as running:
        yield running


@pytest.fixture
def tab(browser: Browser, served: Served) -> Iterator[Tab]:
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    opened = Tab(page=context.new_page(), served=served)
    note_problems(opened.page, opened.problems)
    opened.page.on(
        "request",
        lambda request: (
            None if request.url.startswith(served.url) else opened.outside.append(request.url)
        ),
    )
    yield opened
    context.close()
    # Before a key is known a page may be refused; the browser reports that as an error of ours.
    told = [problem for problem in opened.problems if "401 (Unauthorized)" not in problem]
    assert (told, opened.outside) == ([], [])


def picture(page: Page, name: str) -> None:
    """Keep a picture of the page for someone to look at, where CITEWELL_PICTURES says."""
    if folder := os.environ.get("CITEWELL_PICTURES"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
