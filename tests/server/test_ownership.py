"""Two keys on one server: each has its own scratch, usage and, where told, its own project."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.messages import INITIALIZE
from tests.server.shelf import Shelf
from tests.server.test_http_access import ACCEPT, bearer, call, make_keys
from tests.server.tiny import Aviary, serving

from citewell.access.keys import KeyTerms
from citewell.core.settings import Settings

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def two_callers(
    tmp_path: Path, ann: KeyTerms, bob: KeyTerms
) -> AsyncIterator[tuple[Caller, Caller]]:
    shelf = Shelf(database_url=f"sqlite://{tmp_path}/pages.db")
    tokens = await make_keys(shelf.settings, ann=ann, bob=bob)
    async with (
        serving(shelf, shelf.settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        yield Caller(http, tokens["ann"]), Caller(http, tokens["bob"])


class Caller:
    """One key of the server."""

    def __init__(self, http: httpx2.AsyncClient, token: str) -> None:
        self._http = http
        self._headers = bearer(token)

    async def call(self, name: str, **arguments: object) -> dict[str, Any]:
        answer = await self._http.post("/mcp", json=call(name, **arguments), headers=self._headers)
        structured: dict[str, Any] = answer.json()["result"]["structuredContent"]
        return structured

    async def read(self, uri: str) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": {"uri": uri}}
        answer = await self._http.post("/mcp", json=message, headers=self._headers)
        body: dict[str, Any] = answer.json()
        return body


async def test_what_one_key_found_another_cannot_read(tmp_path: Path) -> None:
    async with two_callers(tmp_path, KeyTerms(), KeyTerms()) as (ann, bob):
        found = (await ann.call("kb_search", query="heron"))["results"][0]
        own = await ann.call("kb_read_excerpt", passage_id=found["passage_id"])
        stolen = await bob.call("kb_read_excerpt", passage_id=found["passage_id"])
        read = await ann.read(found["scratch_uri"])
        stolen_by_uri = await bob.read(found["scratch_uri"])

    assert "error" not in own
    assert own["passage_id"] == found["passage_id"]
    assert stolen["error"]["code"] == "NOT_FOUND"
    assert "result" in read
    assert "error" in stolen_by_uri


async def test_a_key_of_a_project_sees_nothing_of_another(tmp_path: Path) -> None:
    async with two_callers(tmp_path, KeyTerms(), KeyTerms(project="other")) as (ann, bob):
        pages = [
            [page["url"] for page in (await who.call("status"))["pages"]] for who in (ann, bob)
        ]
        herons = (await ann.call("kb_search", query="heron"))["results"][0]
        found = await bob.call("kb_search", query="grey heron eats fish")
        tries = [
            await bob.call("kb_search", query="heron", scope={"project_id": "default"}),
            await bob.call("kb_verify_quote", quote="The grey heron", source_id=1),
            await bob.call("kb_read_excerpt", passage_id=herons["passage_id"]),
            await bob.call("fetch", id="1"),
            await bob.call("status", source_url="https://birds.example/herons"),
            await bob.call("graph_children", node_id="page:1"),
        ]

    assert pages == [
        ["https://birds.example/herons", "https://night.example/owls"],
        ["https://birds.example/secret"],
    ]
    assert {result["title"] for result in found["results"]} <= {"Secret"}
    assert ["error" in answer for answer in tries] == [True] * len(tries)


async def test_an_event_id_of_another_session_is_unknown(tmp_path: Path) -> None:
    settings = Settings(database_url=f"sqlite://{tmp_path}/pages.db")
    tokens = await make_keys(settings, ann=KeyTerms(), bob=KeyTerms())
    ann, bob = ({**bearer(token), **ACCEPT} for token in (tokens["ann"], tokens["bob"]))
    async with (
        serving(Aviary(), settings) as base,
        httpx2.AsyncClient(base_url=base, timeout=60) as http,
    ):
        own = await open_session(http, ann)
        called = await http.post("/mcp", json=call("bird_count"), headers=own)
        (event_id,) = re.findall(r"(?m)^id: (.+?)\r?$", called.text)
        others = [
            await http.get("/mcp", headers={**session, "Last-Event-ID": event_id})
            for session in (await open_session(http, ann), await open_session(http, bob))
        ]

    assert [(other.status_code, other.text) for other in others] == [(200, "")] * 2


async def open_session(http: httpx2.AsyncClient, headers: dict[str, str]) -> dict[str, str]:
    opened = await http.post("/mcp", json=INITIALIZE, headers=headers)
    session = {**headers, "Mcp-Session-Id": opened.headers["mcp-session-id"]}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    await http.post("/mcp", json=ready, headers=session)
    return session
