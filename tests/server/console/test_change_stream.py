"""The stream of changes: what it sends, and that it ends in good order."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from starlette.requests import Request
from starlette.types import Message

from citewell.app.open import open_app
from citewell.core.settings import Settings
from citewell.people.desk import Desk, Party
from citewell.server.console.change_stream import ChangeStream
from citewell.server.console.door import Door
from citewell.server.draining import Draining
from citewell.store.open import open_store

pytestmark = pytest.mark.anyio

ANN = Party(owner="ann")


class OpenPage:
    """A page that listens, as a server sees it."""

    def __init__(self, desk: Desk, *, heartbeat_seconds: float) -> None:
        self.desk = desk
        self.heartbeat_seconds = heartbeat_seconds
        self.draining = Draining()
        self.gone = anyio.Event()
        self.is_let_in = True
        self._sending, self._sent = anyio.create_memory_object_stream[Message](100)

    async def listen(self) -> None:
        """Be served until the stream ends."""
        stream = ChangeStream(
            self.desk.watch("ann"),
            self.draining,
            is_let_in=self._look_at_key,
            heartbeat_seconds=self.heartbeat_seconds,
        )
        with self._sending:
            await stream({"type": "http", "method": "GET"}, self._receive, self._sending.send)

    async def received(self) -> Message:
        """Return the next message of the server."""
        with anyio.fail_after(60):
            return await self._sent.receive()

    async def rest(self) -> list[Message]:
        """Return what the server sends until the stream ends."""
        with anyio.fail_after(60):
            return [message async for message in self._sent]

    def close(self) -> None:
        self._sent.close()

    async def _look_at_key(self) -> bool:
        return self.is_let_in

    async def _receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}


@asynccontextmanager
async def open_page(*, heartbeat_seconds: float = 15) -> AsyncIterator[OpenPage]:
    store = await open_store("sqlite://")
    desk = Desk(store.people, answer_timeout_seconds=20)
    page = OpenPage(desk, heartbeat_seconds=heartbeat_seconds)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(page.listen)
        yield page
        tasks.cancel_scope.cancel()
    page.close()
    await store.aclose()


async def test_an_event_is_sent_at_once_and_at_every_change() -> None:
    async with open_page() as page:
        start = await page.received()
        first = await page.received()
        await page.desk.add_directive("Ship it", ANN)
        second = await page.received()

    headers = dict(start["headers"])
    assert headers[b"content-type"].startswith(b"text/event-stream")
    assert b"content-length" not in headers
    assert first["body"] == b"event: changed\ndata: 0\n\n"
    assert second["body"] == b"event: changed\ndata: 1\n\n"


@pytest.mark.parametrize("end", ["server", "client"])
async def test_the_stream_ends_with_the_server_and_with_the_client(end: str) -> None:
    async with open_page() as page:
        await page.received()
        await page.received()
        if end == "server":
            await page.draining.drain()
        else:
            page.gone.set()
        rest = await page.rest()

    assert rest == [{"type": "http.response.body", "body": b"", "more_body": False}]


async def test_the_stream_lives_while_its_key_does_and_ends_with_it() -> None:
    async with open_page(heartbeat_seconds=0.05) as page:
        await page.received()
        await page.received()
        beats = [await page.received() for _ in range(2)]
        page.is_let_in = False
        rest = await page.rest()

    assert {beat["body"] for beat in beats} == {b": still here\n\n"}
    assert rest[-1] == {"type": "http.response.body", "body": b"", "more_body": False}


@pytest.mark.parametrize(("token", "is_good"), [("sk-right-0000", True), ("sk-gone-00000", False)])
async def test_the_door_tells_whether_the_key_of_an_open_page_is_still_good(
    token: str, is_good: bool
) -> None:
    settings = Settings(database_url="sqlite://", mcp_auth_token="sk-right-0000")
    headers = [(b"authorization", f"Bearer {token}".encode())]
    async with open_app(settings) as app:
        door = Door(app, settings=settings)

        assert await door.lets_in(Request({"type": "http", "headers": headers})) == is_good
