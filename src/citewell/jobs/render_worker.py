"""Renders pages for other processes of the database, until it is closed."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import anyio

from citewell.core.errors import CitewellError, RenderFailed, StoreError
from citewell.core.ids import new_nonce
from citewell.jobs.abandoned import worker_name
from citewell.jobs.render_account import outcome_of_error, outcome_of_page
from citewell.web.urls import shown_url

if TYPE_CHECKING:
    from typing import Self

    from citewell.core.renders import RenderOutcome, TakenRender
    from citewell.store.renders import RenderStore
    from citewell.web.render.protocol import Renderer

logger = logging.getLogger(__name__)

# Short, because somebody waits: after this time another worker takes over from a killed one.
_LEASE_SECONDS = 5.0
# How soon a requester that is gone is noticed.
_BEAT_SECONDS = 1.0
_ALIVE_SECONDS = 15.0
_ALIVE_BEAT_SECONDS = 5.0
_STORE_TROUBLE_SECONDS = 2.0


class RenderWorker:
    """Takes requests to render, a few at a time; use it as an async context manager.

    A request gives only the URL and what to wait for; address checks, robots and limits are those
    of `renderer`. On leaving, running renders get a moment to end, and are then handed back.
    """

    def __init__(
        self,
        renders: RenderStore,
        renderer: Renderer,
        *,
        max_pages: int,
        closing_seconds: float = 5.0,
    ) -> None:
        self._renders = renders
        self._renderer = renderer
        self._max_pages = max_pages
        self._closing_seconds = closing_seconds
        self._worker = worker_name(new_nonce())
        self._running: list[TakenRender] = []
        self._is_closing = False
        self._being_known = anyio.CancelScope()
        self._wake = anyio.Event()
        self._ended = anyio.Event()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        self._tasks = await self._stack.enter_async_context(anyio.create_task_group())
        self._tasks.start_soon(self._stay_known)
        self._tasks.start_soon(self._serve)
        self._tasks.start_soon(self._listen)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with anyio.CancelScope(shield=True):
            self._is_closing = True
            with anyio.move_on_after(self._closing_seconds if kind is None else 0):
                await self._say_goodbye()
                while self._running:
                    await self._ended.wait()
        self._tasks.cancel_scope.cancel()
        # Without the caller's error, which would come out wrapped in a group.
        await self._stack.aclose()

    async def _serve(self) -> None:
        while True:
            pause = self._renders.poll_seconds
            try:
                if await self._take_one():
                    continue
            except StoreError as error:
                logger.warning("rendering waits for the store: %s", error.message)
                pause = _STORE_TROUBLE_SECONDS
            with anyio.move_on_after(pause):
                await self._wake.wait()
            self._wake = anyio.Event()

    async def _take_one(self) -> bool:
        # Twice the number of tabs: requests that wait for their turn on a host must not keep others
        # from a tab. Requests that nobody waits for never take all places.
        if self._is_closing or len(self._running) >= 2 * self._max_pages:
            return False
        unhurried = sum(not taken.request.is_urgent for taken in self._running)
        taken = await self._renders.take_render(
            lease_seconds=_LEASE_SECONDS, urgent_only=unhurried >= self._max_pages
        )
        if taken is None:
            return False
        self._running.append(taken)
        self._tasks.start_soon(self._render, taken)
        return True

    async def _render(self, taken: TakenRender) -> None:
        outcome: RenderOutcome | None = None
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._keep_lease, taken, tasks.cancel_scope)
                outcome = await self._outcome_of(taken)
                if outcome is not None:
                    await self._hand_in(taken, outcome)
                tasks.cancel_scope.cancel()
        finally:
            if outcome is None:
                await self._hand_back(taken)
            self._running.remove(taken)
            self._ended.set()
            self._ended = anyio.Event()
            self._wake.set()

    async def _outcome_of(self, taken: TakenRender) -> RenderOutcome | None:
        """Return the outcome; None when the requester has stopped waiting."""
        url, wait_for = taken.request.url, taken.request.wait_for
        with anyio.move_on_after(taken.seconds_left):
            try:
                return outcome_of_page(await self._renderer.render(url, wait_for=wait_for))
            except CitewellError as error:
                return outcome_of_error(error)
            except Exception:
                # The outermost handler of a render: a fault in one must not end the others.
                logger.exception("rendering %s broke", shown_url(url))
                return outcome_of_error(RenderFailed("an unexpected fault; the log has it"))
        return None

    async def _keep_lease(self, taken: TakenRender, rendering: anyio.CancelScope) -> None:
        """Renew the lease, and stop rendering when it is lost."""
        render_id, is_ours = taken.request.render_id, True
        while is_ours:
            await anyio.sleep(_BEAT_SECONDS)
            try:
                is_ours = await self._renders.keep_render(
                    render_id, lease=taken.lease, lease_seconds=_LEASE_SECONDS
                )
            except StoreError as error:
                # The next beat may get through; if none does, another worker takes over.
                logger.warning("a page keeps no lease: %s", error.message)
        logger.info("nobody waits for %s any more", shown_url(taken.request.url))
        rendering.cancel()

    async def _hand_in(self, taken: TakenRender, outcome: RenderOutcome) -> None:
        try:
            await self._renders.finish_render(
                taken.request.render_id, lease=taken.lease, outcome=outcome
            )
        except StoreError as error:
            logger.warning("a rendered page was not handed in: %s", error.message)

    async def _hand_back(self, taken: TakenRender) -> None:
        with anyio.CancelScope(shield=True):
            try:
                await self._renders.release_render(taken.request.render_id, lease=taken.lease)
            except StoreError as error:
                logger.warning("a page was not handed back: %s", error.message)

    async def _stay_known(self) -> None:
        with self._being_known:
            while True:
                try:
                    await self._renders.note_worker(self._worker, seconds=_ALIVE_SECONDS)
                except StoreError as error:
                    logger.warning("askers do not see this worker: %s", error.message)
                await anyio.sleep(_ALIVE_BEAT_SECONDS)

    async def _say_goodbye(self) -> None:
        self._being_known.cancel()
        try:
            await self._renders.forget_worker(self._worker)
        except StoreError as error:
            logger.warning(
                "callers were not notified that this worker is stopping: %s", error.message
            )

    async def _listen(self) -> None:
        async for _ in self._renders.requests():
            self._wake.set()
