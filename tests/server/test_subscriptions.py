"""Subscriptions to pages and websites that change, through real clients of both eras."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated
from tests.drafts import draft
from tests.server.shelf import HERONS, Shelf
from tests.server.test_http_access import bearer, make_keys
from tests.server.tiny import serving
from typing_extensions import override

from citewell.access.keys import KeyTerms
from citewell.app.open import App
from citewell.core.library import WebsiteDraft
from citewell.core.settings import Settings
from citewell.server.subscriptions import MAX_STREAMS_OF_CALLER
from citewell.store.protocol import Store

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    # What the other era replaced is what the handshake era has.
    pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning"),
]

PAGE = "citewell://page/1"
NOW = datetime(2026, 3, 14, tzinfo=UTC)


class WatchedShelf(Shelf):
    """A shelf whose store a test can write to while it is served."""

    store: Store

    @override
    @asynccontextmanager
    async def open_app(self, settings: Settings) -> AsyncIterator[App]:
        async with super().open_app(settings) as app:
            self.store = (await app.open("store")).store
            yield app

    async def change_herons(self, text: str) -> None:
        await self.store.put_page(draft(HERONS.url, text, title="Herons", heading="Grey heron"))


@dataclass
class Notices:
    """The URIs that a client of the handshake era is notified of, oldest first."""

    uris: list[str] = field(default_factory=list)
    arrived: anyio.Event = field(default_factory=anyio.Event)

    async def take(self, message: object) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            self.uris.append(str(message.params.uri))
            self.arrived.set()

    async def next(self) -> str:
        with anyio.fail_after(60):
            await self.arrived.wait()
        self.arrived = anyio.Event()
        return self.uris.pop(0)


async def test_a_session_is_notified_of_a_page_until_it_unsubscribes() -> None:
    shelf, notices = WatchedShelf(), Notices()
    async with (
        serving(shelf, shelf.settings) as base,
        Client(f"{base}/mcp", mode="legacy", message_handler=notices.take) as client,
    ):
        await client.subscribe_resource(PAGE)
        await client.subscribe_resource("citewell://page/2")
        await shelf.change_herons("The heron eats frogs.")
        first = await notices.next()
        await client.unsubscribe_resource(PAGE)
        await shelf.change_herons("The heron eats eels.")
        await shelf.store.delete_page(2)
        second = await notices.next()

    assert (first, second) == (PAGE, "citewell://page/2")


async def test_a_stream_brings_the_changes_of_a_site() -> None:
    shelf = WatchedShelf()
    async with (
        serving(shelf, shelf.settings) as base,
        Client(f"{base}/mcp", mode="2026-07-28") as client,
    ):
        site = WebsiteDraft(url="https://birds.example/", kind="site")
        website, _ = await shelf.store.library.add_website(site, now=NOW)
        await shelf.store.library.join_page(website.source_id, 1)
        uri = f"citewell://website/{website.source_id}"
        with anyio.fail_after(60):
            async with client.listen(resource_subscriptions=[uri, "citewell://page/3"]) as changes:
                await shelf.change_herons("The heron eats frogs.")
                event = await anext(changes)
                honoured = changes.honored.resource_subscriptions
        shown = await client.read_resource(uri)

    assert event == ResourceUpdated(uri=uri)
    # Page 3 belongs to another project.
    assert honoured == [uri]
    assert isinstance(shown.contents[0], types.TextResourceContents)
    assert "https://birds.example/herons (citewell://page/1" in shown.contents[0].text


async def test_a_key_that_listens_to_many_streams_leaves_places_to_others(tmp_path: Path) -> None:
    shelf = WatchedShelf(database_url=f"sqlite://{tmp_path}/pages.db")
    tokens = await make_keys(shelf.settings, ann=KeyTerms(), bob=KeyTerms())
    async with serving(shelf, shelf.settings) as base, AsyncExitStack() as stack:
        clients = []
        for name in ("ann", "bob"):
            http = httpx2.AsyncClient(
                headers=bearer(tokens[name]), timeout=60, limits=httpx2.Limits(max_connections=None)
            )
            await stack.enter_async_context(http)
            transport = streamable_http_client(f"{base}/mcp", http_client=http)
            clients.append(await stack.enter_async_context(Client(transport, mode="2026-07-28")))
        ann, bob = clients
        for _ in range(MAX_STREAMS_OF_CALLER):
            await stack.enter_async_context(ann.listen(resource_subscriptions=[PAGE]))

        with pytest.raises(MCPError) as refused:
            await stack.enter_async_context(ann.listen(resource_subscriptions=[PAGE]))
        others = await stack.enter_async_context(bob.listen(resource_subscriptions=[PAGE]))

    assert "close some" in refused.value.error.message
    assert others.honored.resource_subscriptions == [PAGE]


@pytest.mark.parametrize("uri", ["citewell://page/3", "citewell://page/99", "https://a.example/"])
async def test_only_pages_and_websites_that_the_caller_sees_can_be_subscribed_to(uri: str) -> None:
    shelf = WatchedShelf()
    async with (
        serving(shelf, shelf.settings) as base,
        Client(f"{base}/mcp", mode="legacy") as client,
    ):
        with pytest.raises(MCPError) as refused:
            await client.subscribe_resource(uri)

    assert refused.value.error.code == -32002
    assert refused.value.error.data == {"uri": uri}


async def test_subscribing_needs_a_session() -> None:
    shelf = WatchedShelf()
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "resources/subscribe",
        "params": {"uri": PAGE},
    }
    async with serving(shelf, shelf.settings) as base, httpx2.AsyncClient(timeout=60) as http:
        answered = await http.post(f"{base}/mcp", json=message)

    assert "needs a session" in answered.text
