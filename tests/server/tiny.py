"""A server of tiny tools, on the real transport stack and a real port."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

import anyio
import uvicorn

from citewell.access.gate import Gate
from citewell.access.meter import Meter
from citewell.access.open import open_access
from citewell.access.rates import Rates
from citewell.core.errors import NotFound, StoreError
from citewell.core.records import Caller
from citewell.core.results import Progress
from citewell.core.settings import Settings
from citewell.server.http_app import build_http_app
from citewell.server.late_services import late_services
from citewell.server.listener import bind
from citewell.server.mcp_endpoint import MAX_REQUEST_BYTES
from citewell.server.mcp_server import build_server
from citewell.server.metrics import Metrics
from citewell.store.open import open_store
from citewell.store.protocol import Store
from citewell.tools.registry import Annotations, Call, Registry, Tool, ToolInput, ToolOutput, as_is
from citewell.tools.scratch import ScratchStore
from citewell.tools.services import access_terms

if TYPE_CHECKING:
    from citewell.tools.services import Services


class Served(Protocol):
    """Tools and the services behind them."""

    def registry(self) -> Registry: ...

    def open_services(self, settings: Settings) -> AbstractAsyncContextManager[Services]: ...


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
    storm: anyio.Event = field(default_factory=anyio.Event)

    def registry(self) -> Registry:
        tools = [
            _tool("say", self._say, read_only=True),
            _tool("bird.count", self._count, read_only=True),
            _tool("lose", self._lose, read_only=False),
            _tool("wait", self._wait, read_only=True),
        ]
        return Registry(tools, timeout_seconds=20, max_response_bytes=100_000)

    @asynccontextmanager
    async def open_services(self, settings: Settings) -> AsyncIterator[Services]:
        if self.fail_opening:
            raise StoreError("The nest is closed.")
        self.opened += 1
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._work_in_background)
            async with open_tiny_services(settings) as services:
                yield services
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
) -> Tool[Any, Any, Any]:
    return Tool(
        name=name,
        toolset="research",
        title=name.capitalize(),
        description=f"Tool {name}.",
        input_model=Words,
        output_model=Said,
        annotations=Annotations(read_only=read_only),
        run=run,
        shape=as_is,
        render=lambda said, call: f"It said {said.said}.",
        example={},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TinyServices:
    """What a server needs of the services to let callers in and to keep account of them."""

    store: Store
    gate: Gate
    meter: Meter
    rates: Rates
    scratch: ScratchStore
    web_search: None = None


@asynccontextmanager
async def open_tiny_services(settings: Settings) -> AsyncIterator[Services]:
    """Open the access part of the services alone, on the store that the settings name."""
    store = await open_store(settings.database_url or "sqlite://")
    try:
        async with open_access(store.access, access_terms(settings)) as access:
            yield cast(
                "Services",
                TinyServices(
                    store=store,
                    gate=access.gate,
                    meter=access.meter,
                    rates=access.rates,
                    scratch=ScratchStore(ttl_seconds=60, max_bytes=1_000_000),
                ),
            )
    finally:
        await store.aclose()


@asynccontextmanager
async def serving(served: Served, settings: Settings | None = None) -> AsyncIterator[str]:
    """Serve tools on loopback; gives the base URL."""
    settings = settings or Settings()
    listener = bind("127.0.0.1", 0)
    async with late_services(settings, served.open_services) as services:
        registry, metrics = served.registry(), Metrics()
        server = build_server(registry, services, settings=settings, metrics=metrics)
        app = build_http_app(server, registry, services, settings=settings, metrics=metrics)
        config = uvicorn.Config(
            app,
            log_config=None,
            timeout_graceful_shutdown=1,
            ws="websockets-sansio",
            ws_max_size=MAX_REQUEST_BYTES,
        )
        uvicorn_server = uvicorn.Server(config)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(uvicorn_server.serve, [listener])
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            uvicorn_server.should_exit = True
