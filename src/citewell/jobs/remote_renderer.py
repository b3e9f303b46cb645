"""A renderer without a browser, which has the workers of its database render."""

from __future__ import annotations

import logging
import secrets
from contextlib import AsyncExitStack, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import anyio

from citewell.core.errors import (
    FetchTimeout,
    PageTooLarge,
    RenderFailed,
    RenderingUnavailable,
    StoreError,
)
from citewell.core.renders import RenderRequest
from citewell.jobs.render_account import page_of_outcome
from citewell.web.urls import canonical_url, shown_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from citewell.core.records import FetchedPage
    from citewell.core.renders import RenderOutcome
    from citewell.store.renders import RenderStore

logger = logging.getLogger(__name__)

_is_urgent: ContextVar[bool] = ContextVar("is_urgent", default=True)


@contextmanager
def nobody_waits() -> Iterator[None]:
    """Give renders that are requested inside a lower priority than those that callers wait for."""
    token = _is_urgent.set(False)
    try:
        yield
    finally:
        _is_urgent.reset(token)


class RemoteRenderer:
    """Has pages rendered by whichever worker is free; use it as an async context manager."""

    def __init__(
        self, renders: RenderStore, *, wait_seconds: float, max_page_bytes: int = 20_000_000
    ) -> None:
        self._renders = renders
        self._wait_seconds = wait_seconds
        self._max_page_bytes = max_page_bytes
        self._notified: dict[str, anyio.Event] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        tasks = await self._stack.enter_async_context(anyio.create_task_group())
        self._stack.callback(tasks.cancel_scope.cancel)
        tasks.start_soon(self._listen)
        return self

    async def __aexit__(self, *_: object) -> None:
        # Without the caller's error, which would come out wrapped in a group.
        await self._stack.aclose()

    async def render(self, url: str, *, wait_for: str = "") -> FetchedPage:
        """Return the page as its reader sees it, as HTML, after its scripts have run.

        `wait_for` is a text or a CSS selector that must be on the page before it is read. A
        caller that is cancelled, or whose time is over, withdraws its request.

        Raises:
            NotAUrl: `url` is not an http or https URL.
            RenderingUnavailable: no worker that renders is running.
            FetchError: the page could not be fetched or rendered; each subclass says why.
            StoreError: the workers cannot be asked.
        """
        start = canonical_url(url)
        request = RenderRequest(
            render_id=secrets.token_urlsafe(24),
            url=start,
            wait_for=wait_for,
            is_urgent=_is_urgent.get(),
        )
        outcome: RenderOutcome | None = None
        try:
            with anyio.move_on_after(self._wait_seconds):
                await self._renders.add_render(request, wait_seconds=self._wait_seconds)
                outcome = await self._wait_for(request)
        finally:
            self._notified.pop(request.render_id, None)
            if outcome is None:
                await self._withdraw(request)
        if outcome is None:
            raise FetchTimeout(
                f"no worker has rendered {shown_url(start)} within {self._wait_seconds:.0f} s",
                suggestion="Try again later, or start more workers with --kinds render.",
            )
        if len(outcome.html) > self._max_page_bytes:
            raise PageTooLarge(f"{shown_url(start)} is larger than {self._max_page_bytes} bytes")
        return page_of_outcome(outcome, start)

    async def _wait_for(self, request: RenderRequest) -> RenderOutcome | None:
        """Return the outcome; None when the request has expired by the database's clock."""
        while True:
            # Created before the first check, so that no notification in between is missed.
            notified = self._notified[request.render_id] = anyio.Event()
            state = await self._renders.render_state(request.render_id)
            if state == "done":
                outcome = await self._renders.collect_render(request.render_id)
                if outcome is not None:
                    return outcome
            if state == "unattended":
                raise RenderingUnavailable(
                    "no worker that renders is running",
                    suggestion="Start one on a machine with Chromium: citewell worker "
                    "--kinds render; or set CITEWELL_RENDER_IN=here.",
                )
            if state == "expired":
                return None
            if state == "abandoned":
                where = shown_url(request.url)
                raise RenderFailed(f"{where} was not rendered: every worker that tried it stopped")
            with anyio.move_on_after(self._renders.poll_seconds):
                await notified.wait()

    async def _withdraw(self, request: RenderRequest) -> None:
        with anyio.CancelScope(shield=True):
            try:
                await self._renders.withdraw_render(request.render_id)
            except StoreError as error:
                # It expires soon anyway.
                logger.warning("a request to render was not withdrawn: %s", error.message)

    async def _listen(self) -> None:
        async for render_id in self._renders.outcomes():
            waiting = (
                [self._notified.get(render_id)] if render_id else list(self._notified.values())
            )
            for event in waiting:
                if event is not None:
                    event.set()
