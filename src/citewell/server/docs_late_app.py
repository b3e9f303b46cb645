"""The full MCP application of a docs server, loaded in the background."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from anyio.abc import TaskGroup, TaskStatus

    from citewell.server.docs_whole_app import WholeApp

    OpenWholeApp = Callable[[], AbstractAsyncContextManager[WholeApp]]

logger = logging.getLogger(__name__)


class LateApp:
    """The application, opened when it is first needed; a failed opening is tried again.

    A task of its own holds it open: the task groups in it have to be left by the task that
    entered them, and the task of a request is gone by then.
    """

    def __init__(self, load: Callable[[], OpenWholeApp]) -> None:
        self._load = load
        self._tasks: TaskGroup | None = None
        self._app: WholeApp | None = None
        self._lock = anyio.Lock()
        self._closing = anyio.Event()
        self._has_time = anyio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Let it be opened while inside; what was opened is closed on leaving."""
        async with anyio.create_task_group() as self._tasks:
            try:
                yield
            finally:
                self._closing.set()

    def load_soon(self) -> None:
        """Say that the server has time to load it now."""
        self._has_time.set()

    async def until_there_is_time(self, *, seconds: float) -> None:
        """Wait until `load_soon` is called, but no longer than `seconds`."""
        with anyio.move_on_after(seconds):
            await self._has_time.wait()

    async def get(self) -> WholeApp:
        """Return the open application.

        Raises:
            CitewellError: something is set wrong or cannot be opened.
        """
        assert self._tasks is not None, "it is running"
        async with self._lock:
            if self._app is None:
                self._app = await self._tasks.start(self._hold_open)
            return self._app

    async def _hold_open(self, *, task_status: TaskStatus[WholeApp]) -> None:
        open_app = await anyio.to_thread.run_sync(self._load)
        is_open = False
        try:
            async with open_app() as app:
                task_status.started(app)
                is_open = True
                await self._closing.wait()
        except Exception:
            if not is_open:
                raise
            # Work in the background failed, or closing did: the next request reopens it.
            logger.exception("the MCP application stopped")
        finally:
            self._app = None
