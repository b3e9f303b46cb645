"""Waits until a page in a tab says all that it will say, as far as that can be seen."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Protocol

import anyio

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from playwright.async_api import Request

_FOLDER = files("citewell.web.render")
_SETTLE = (_FOLDER / "settle.js").read_text(encoding="utf-8")
_SCROLL = (_FOLDER / "scroll.js").read_text(encoding="utf-8")
COUNT_PENDING = (_FOLDER / "pending.js").read_text(encoding="utf-8")
# Only a page that was painted has seen that its window changed; a tab in the background never is.
_NEXT_FRAMES = """new Promise((done) => {
  setTimeout(done, 1000);
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)));
})"""
_PENDING = "globalThis.__pending ? __pending() : {}"

# Such requests stay open for as long as the page does.
_ENDLESS = frozenset({"eventsource", "websocket", "ping"})
_QUIET_SECONDS = 0.3
_LOOK_SECONDS = 1.5
_MIN_SECONDS = 0.1
# A page that says little at first gets a moment to begin.
_FIRST_SECONDS = 0.8
# One that adds to what it said has to be silent for so long: a timer that repeats is not counted.
_GROWING_SECONDS = 1.0
# Text that grows for longer, or waits for a request or a timer, is taken as it is.
_MAX_GROWING_SECONDS = 8.0
_MAX_REQUEST_SECONDS = 6.0
_MAX_TIMER_SECONDS = 2.5
# An empty page or a placeholder that nothing more comes to.
_MAX_STALLED_SECONDS = 4.0
_MAX_BUSY_SECONDS = 8.0
_MAX_SCROLLS = 12
WINDOW_WIDTH = 1_280
# High enough for most pages to show all they have without being scrolled.
WINDOW_HEIGHT = 2_400
_SCROLLED_HEIGHT = 720


class PageScripts(Protocol):
    """Runs scripts in a tab: in a world of their own, or in that of the page."""

    async def run(self, script: str) -> object:
        """Return what the script comes to."""
        ...

    async def run_in_page(self, script: str) -> object:
        """Return what the script comes to among the page's own."""
        ...

    async def set_window_height(self, pixels: int) -> None:
        """Make the tab's window higher or lower."""
        ...


class Requests:
    """What a page has asked for and not yet received."""

    def __init__(self) -> None:
        self._open: set[Request] = set()
        self._last_arrival = 0.0

    def start(self, request: Request) -> None:
        """Note a request that was sent."""
        if request.resource_type not in _ENDLESS:
            self._open.add(request)

    def end(self, request: Request) -> None:
        """Note a request that was answered or failed."""
        self._open.discard(request)
        self._last_arrival = anyio.current_time()

    @property
    def are_quiet(self) -> bool:
        """Whether nothing is on its way; a script needs a moment to show what has just arrived."""
        return not self._open and anyio.current_time() - self._last_arrival >= _QUIET_SECONDS


@frozen
class _Pending:
    """What is to come at one moment."""

    requests: int
    timers: int
    short_timers: int


@frozen
class _Look:
    """What a document says at one moment."""

    length: int
    is_busy: bool
    is_short: bool
    is_there: bool
    has_foreign_frames: bool
    is_coming: bool
    """Whether a request or a timer was open just before."""
    is_quiet: bool
    """Whether the document stood still, with no request and no short timer before and after."""
    is_waiting_for_timer: bool
    """Whether it would be quiet but for a short timer."""


class Settling:
    """Waits for one page; `wait_for` is a text or a selector that must be there."""

    def __init__(self, scripts: PageScripts, requests: Requests, *, wait_for: str = "") -> None:
        self._scripts = scripts
        self._requests = requests
        self._wait_for = wait_for
        self._length = -1
        self._has_grown = False
        self._started = self._last_change = 0.0

    async def run(self, until: float) -> str:
        """Wait until the page stands still; return why its text may be incomplete, "" if it is not.

        Long lists are scrolled to their end as long as they grow.
        """
        missing, look = await self._wait(until)
        # A list asks for more when its end comes into view, which it never leaves in a high window.
        await self._scripts.set_window_height(_SCROLLED_HEIGHT)
        await self._scripts.run(_NEXT_FRAMES)
        for _ in range(_MAX_SCROLLS):
            if missing or anyio.current_time() >= until:
                break
            length = look.length
            if not await self._scripts.run(f"({_SCROLL})()"):
                break
            missing, look = await self._wait(until)
            if look.length <= length:
                break
        else:
            missing = missing or "the page shows more and more as it is scrolled"
        await self._scripts.set_window_height(WINDOW_HEIGHT)
        await self._scripts.run("scrollTo(0, 0)")
        if not missing and look.has_foreign_frames:
            return "what other sites show in frames of the page is left out"
        return missing

    async def _wait(self, until: float) -> tuple[str, _Look]:
        self._started = self._last_change = anyio.current_time()
        self._has_grown, is_first = False, True
        while True:
            left = until - anyio.current_time()
            look = await self._look(min(max(left, _MIN_SECONDS), _LOOK_SECONDS))
            if look.length != self._length:
                self._has_grown |= not is_first and 0 < self._length < look.length
                self._length, self._last_change = look.length, anyio.current_time()
            is_first = False
            missing = self._verdict(look)
            if missing is not None:
                return missing, look
            if anyio.current_time() >= until - _MIN_SECONDS:
                return self._at_the_end(look), look

    def _verdict(self, look: _Look) -> str | None:
        """Return None to wait on, "" for a page that is complete, or why it may not be."""
        now = anyio.current_time()
        waited, unchanged = now - self._started, now - self._last_change
        if not look.is_there:
            return None
        if look.is_busy or look.length == 0:
            # How long it goes on changing counts from when it has something to say.
            self._started = now
            is_over = not look.is_coming and unchanged >= _MAX_STALLED_SECONDS
            if is_over or (look.length and not look.is_short and unchanged >= _MAX_BUSY_SECONDS):
                return self._at_the_end(look)
            return None
        is_early = look.is_short and waited < _FIRST_SECONDS
        is_growing = self._has_grown and unchanged < _GROWING_SECONDS
        if look.is_quiet and not is_early and not is_growing:
            return ""
        if look.is_waiting_for_timer and unchanged >= _MAX_TIMER_SECONDS:
            return ""
        if unchanged >= _MAX_REQUEST_SECONDS:
            return "" if self._requests.are_quiet else "a request of the page was not answered"
        if waited >= _MAX_GROWING_SECONDS + _MAX_REQUEST_SECONDS * (not self._requests.are_quiet):
            return "the page went on changing"
        return None

    def _at_the_end(self, look: _Look) -> str:
        if not look.is_there:
            return "what was waited for did not appear"
        if look.is_busy:
            return "a part of the page was still loading"
        if look.length == 0:
            return "the page stayed empty"
        return "the page was not done when the time was up"

    async def _look(self, seconds: float) -> _Look:
        quiet, most = int(1000 * _QUIET_SECONDS), int(1000 * seconds)
        call = f"({_SETTLE})({quiet}, {most}, {json.dumps(self._wait_for)})"
        # Whoever starts one thing as another ends is seen by one of the two counts.
        before = await self._pending()
        seen = await self._scripts.run(call)
        after = await self._pending()
        assert isinstance(seen, dict), "settle.js returns an object"
        is_still = bool(seen["isStill"]) and not seen["heldBack"]
        has_requests = before.requests > 0 or after.requests > 0
        has_short_timers = before.short_timers > 0 or after.short_timers > 0
        return _Look(
            length=int(seen["length"]),
            is_busy=bool(seen["isBusy"]),
            is_short=bool(seen["isShort"]),
            is_there=bool(seen["isThere"]),
            has_foreign_frames=bool(seen["isForeign"]),
            is_coming=before.requests + before.timers > 0,
            is_quiet=is_still and not has_requests and not has_short_timers,
            is_waiting_for_timer=is_still and not has_requests and has_short_timers,
        )

    async def _pending(self) -> _Pending:
        counts = await self._scripts.run_in_page(_PENDING)
        known = counts if isinstance(counts, dict) else {}
        return _Pending(
            requests=_count(known.get("requests")) + (not self._requests.are_quiet),
            timers=_count(known.get("timers")),
            short_timers=_count(known.get("short")),
        )


def _count(value: object) -> int:
    """Return a number that a page could have made up."""
    return int(value) if isinstance(value, int | float) and 0 <= value < 1_000_000 else 0
