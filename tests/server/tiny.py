"""A server of tiny tools, on the real transport stack and a real port."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import anyio
import uvicorn
from starlette.types import ASGIApp

from citewell.app.corpus import open_store_part
from citewell.app.open import App, open_app
from citewell.app.parts import Assembly, Opener, PartName
from citewell.core.errors import NotFound, StoreError
from citewell.core.progress import Progress
from citewell.core.records import Caller
from citewell.core.settings import Settings
from citewell.server.http_app import build_http_app
from citewell.server.jsonrpc import MAX_REQUEST_BYTES
from citewell.server.listener import bind
from citewell.server.mcp_server import build_server
from citewell.server.metrics import Metrics
from citewell.server.paced_connections import PacedHttp
from citewell.server.paced_web_socket import PacedWebSocket
from citewell.store.protocol import Store
from citewell.tools.registry import Registry
from citewell.tools.tool import Annotations, Call, Tool, ToolInput, ToolOutput


class Served(Protocol):
    """Tools and the application behind them."""

    def registry(self) -> Registry: ...

    def open_app(self, settings: Settings) -> AbstractAsyncContextManager[App]: ...


class Words(ToolInput):
    words: str = "heron"


class Said(ToolOutput):
    said: str


@dataclass
class Aviary:
    """The tiny tools, and what they have seen."""

    callers: list[Caller] = field(default_factory=list)
    started: anyio.Event = field(default_factory=anyio.Event)
    stopped: anyio.Event = field(default_factory=anyio.Event)
    opened: int = 0
    closed: int = 0
    fail_opening: bool = False
    replaced: dict[PartName, Opener] = field(default_factory=dict)
    storm: anyio.Event = field(default_factory=anyio.Event)

    def registry(self) -> Registry:
        tools = [
            _tool("say", self._say, read_only=True),
            _tool("bird.count", self._count, read_only=True),
            _tool("lose", self._lose, read_only=False),
            _tool("wait", self._wait, read_only=True),
        ]
        return Registry(tools, timeout_seconds=60, max_response_bytes=100_000)

    def open_app(self, settings: Settings) -> AbstractAsyncContextManager[App]:
        return open_app(in_memory(settings), replaced={"store": self._open_store, **self.replaced})

    @asynccontextmanager
    async def _open_store(self, assembly: Assembly) -> AsyncIterator[Store]:
        if self.fail_opening:
            raise StoreError("The nest is closed.")
        self.opened += 1
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._work_in_background)
            async with open_store_part(assembly) as store:
                yield store
            tasks.cancel_scope.cancel()
        self.closed += 1

    async def _work_in_background(self) -> None:
        await self.storm.wait()
        raise OSError("The nest was blown away.")

    async def _say(self, given: Words, call: Call) -> Said:
        self.callers.append(call.caller)
        return Said(said=given.words)

    async def _count(self, given: Words, call: Call) -> Said:
        for number in range(1, 4):
            message = f"Counting {number}…"
            await call.on_progress(Progress(phase="ingest", message=message, done=0, total=3))
        return Said(said="3")

    async def _lose(self, given: Words, call: Call) -> Said:
        raise NotFound("It flew away.", suggestion="Look up.")

    async def _wait(self, given: Words, call: Call) -> Said:
        self.started.set()
        try:
            await anyio.sleep_forever()
            return Said(said="never")
        finally:
            self.stopped.set()


def _tool(
    name: str, run: Callable[[Words, Call], Awaitable[Said]], *, read_only: bool
) -> Tool[Any, Any]:
    return Tool(
        name=name,
        toolset="research",
        title=name.capitalize(),
        description=f"Tool {name}.",
        annotations=Annotations(read_only=read_only),
        needs=(),
        run=run,
        render=lambda said, call: f"It said {said.said}.",
        example={},
    )


def in_memory(settings: Settings) -> Settings:
    """Return the settings of a server without models, in memory unless they name a database."""
    return replace(settings, embedder="none", database_url=settings.database_url or "sqlite://")


@asynccontextmanager
async def serving(
    served: Served,
    settings: Settings | None = None,
    *,
    http: type[PacedHttp] = PacedHttp,
    ws: type[PacedWebSocket] = PacedWebSocket,
) -> AsyncIterator[str]:
    """Serve tools on loopback; gives the base URL."""
    settings = settings or Settings()
    async with served.open_app(settings) as app:
        registry, metrics = served.registry(), Metrics()
        server = build_server(registry, app, settings=settings, metrics=metrics)
        asgi_app = build_http_app(server, registry, app, settings=settings, metrics=metrics)
        async with listening(asgi_app, http=http, ws=ws) as url:
            yield url


@asynccontextmanager
async def listening(
    asgi_app: ASGIApp,
    *,
    http: type[PacedHttp] = PacedHttp,
    ws: type[PacedWebSocket] = PacedWebSocket,
) -> AsyncIterator[str]:
    """Serve an application on a free port of loopback; gives the base URL."""
    listener = bind("127.0.0.1", 0)
    config = uvicorn.Config(
        asgi_app,
        log_config=None,
        timeout_graceful_shutdown=1,
        http=http,
        ws=ws,
        ws_max_size=MAX_REQUEST_BYTES,
    )
    server = uvicorn.Server(config)
    with closing(listener):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listener])
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            server.should_exit = True
