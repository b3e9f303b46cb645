"""Open the application: its parts open on first use and close together."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import anyio

from citewell.app.parts import Assembly, Parts
from citewell.core.errors import CitewellError
from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from anyio.abc import TaskGroup, TaskStatus
    from anyio.streams.memory import MemoryObjectSendStream

    from citewell.app.parts import Opener, PartName, Role
    from citewell.core.settings import Settings

logger = logging.getLogger(__name__)

PartT = TypeVar("PartT")


@asynccontextmanager
async def open_app(
    settings: Settings,
    *,
    role: Role = "server",
    replaced: Mapping[PartName, Opener] | None = None,
    later: tuple[PartName, ...] = (),
) -> AsyncIterator[App]:
    """Give an application whose parts open on first use; close them on leaving.

    `replaced` opens the parts that the caller brings along; `App.open_later` opens those in
    `later`.
    """
    failure: CitewellError | None = None
    async with anyio.create_task_group() as tasks:
        app = App(settings, tasks, role=role, replaced=replaced or {}, later=later)
        try:
            yield app
        except CitewellError as error:
            # Raised below, because a task group would wrap it in an ExceptionGroup.
            failure = error
        finally:
            app.close()
    if failure is not None:
        raise failure


def already_open(part: PartT) -> Opener:
    """Return the opener of a part that someone else opens and closes."""

    @asynccontextmanager
    async def open_part(assembly: Assembly) -> AsyncIterator[PartT]:
        yield part

    return open_part


class App:
    """A running Citewell; see `open_app`."""

    def __init__(
        self,
        settings: Settings,
        tasks: TaskGroup,
        *,
        role: Role,
        replaced: Mapping[PartName, Opener],
        later: tuple[PartName, ...],
    ) -> None:
        self.settings = settings
        self._tasks = tasks
        self._role: Role = role
        self._replaced = replaced
        self._later = later
        self._lock = anyio.Lock()
        self._holder: _Holder | None = None

    async def open(self, *names: PartName) -> Parts:
        """Return the named parts; those that are not open yet are opened first.

        A part that cannot be opened is tried again by the next call.

        Raises:
            CitewellError: a setting is wrong, or a part cannot be opened.
        """
        holder = self._holder
        if holder is not None and holder.assembly.has(*names):
            return holder.assembly.parts(*names)
        return await self._open(names)

    def open_later(self) -> None:
        """Open the parts for later in the background, if any other part is open."""
        if self._holder is not None and not self._holder.assembly.has(*self._later):
            self._tasks.start_soon(self._open_later)

    def close(self) -> None:
        """Let the parts close; the task group waits until they have."""
        if self._holder is not None:
            self._holder.requests.close()

    async def _open(self, names: tuple[PartName, ...]) -> Parts:
        async with self._lock:
            if self._holder is None:
                self._holder = await self._tasks.start(self._hold)
            return await self._holder.open(*names)

    async def _open_later(self) -> None:
        try:
            await self._open(self._later)
        except CitewellError as error:
            logger.warning("cannot open %s: %s", ", ".join(self._later), error.message)

    # One task opens and closes all parts: they hold task groups, which must be left by the task
    # that entered them, and the task of a tool call is gone by then.
    async def _hold(self, *, task_status: TaskStatus[_Holder]) -> None:
        requests, incoming = anyio.create_memory_object_stream[_Request]()
        request: _Request | None = None
        try:
            async with AsyncExitStack() as stack, incoming, requests:
                assembly = Assembly(
                    settings=self.settings,
                    stack=stack,
                    role=self._role,
                    replaced=self._replaced,
                    open_later=self.open,
                )
                task_status.started(_Holder(assembly=assembly, requests=requests))
                async for request in incoming:
                    try:
                        await assembly.open(*request.names)
                    except CitewellError as error:
                        request.failure = error
                    request.done.set()
        except Exception:
            # A part failed while it opened, ran in the background or closed.
            logger.exception("the application stopped; the next call opens it again")
        finally:
            self._holder = None
            if request is not None:
                request.done.set()


@dataclass(slots=True, kw_only=True)
class _Request:
    names: tuple[PartName, ...]
    done: anyio.Event = field(default_factory=anyio.Event)
    failure: CitewellError | None = None


@frozen
class _Holder:
    """The task that holds the parts open, as the others see it."""

    assembly: Assembly
    requests: MemoryObjectSendStream[_Request]

    async def open(self, *names: PartName) -> Parts:
        request = _Request(names=names)
        try:
            await self.requests.send(request)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            raise CitewellError("The server is stopping.") from None
        await request.done.wait()
        if request.failure is not None:
            raise request.failure
        if not self.assembly.has(*names):
            raise CitewellError("The server met an unexpected error.")
        return self.assembly.parts(*names)
