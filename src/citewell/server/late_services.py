"""The services, opened when the first tool needs them and closed when the server stops."""

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

    from citewell.core.settings import Settings
    from citewell.tools.services import Services

    OpenServices = Callable[[Settings], AbstractAsyncContextManager[Services]]

logger = logging.getLogger(__name__)


@asynccontextmanager
async def late_services(
    settings: Settings, open_services: OpenServices | None = None
) -> AsyncIterator[LateServices]:
    """Give services that open on first use; whatever was opened is closed on leaving."""
    async with anyio.create_task_group() as tasks:
        services = LateServices(settings, tasks, open_services=open_services)
        try:
            yield services
        finally:
            services.close()


class LateServices:
    """Services that open once, on first use; a failed opening is tried again by the next use."""

    def __init__(
        self, settings: Settings, tasks: TaskGroup, *, open_services: OpenServices | None
    ) -> None:
        self._settings = settings
        self._tasks = tasks
        self._open_services = open_services
        self._services: Services | None = None
        self._lock = anyio.Lock()
        self._closing = anyio.Event()

    async def get(self) -> Services:
        """Return the open services.

        Raises:
            CitewellError: something is set wrong or cannot be opened.
        """
        if self._services is not None:
            return self._services
        async with self._lock:
            if self._services is None:
                self._services = await self._tasks.start(self._hold_open)
            return self._services

    def close(self) -> None:
        """Let the services close; the task group waits until they have."""
        self._closing.set()

    # A task of its own opens and closes: the services hold task groups, which must be left by the
    # task that entered them, and the task of a tool call is gone by then.
    async def _hold_open(self, *, task_status: TaskStatus[Services]) -> None:
        open_services = self._open_services
        if open_services is None:
            open_services = await anyio.to_thread.run_sync(_import_open_services)
        started = False
        try:
            async with open_services(self._settings) as services:
                logger.info("engine started")
                task_status.started(services)
                started = True
                await self._closing.wait()
        except Exception:
            if not started:
                raise
            # Work in the background failed, or closing did: the next call opens anew.
            logger.exception("engine stopped")
        finally:
            self._services = None


def _import_open_services() -> OpenServices:
    # Imported late because it brings numpy, the models' runtime and the parsers, which a client
    # that only connects and lists the tools should not wait for.
    from citewell.tools.services import open_services

    return open_services
