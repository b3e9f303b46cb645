"""Asking workers for rendered pages: what becomes of requests, with a worker in the same process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from tests.store.backends import empty_store

from citewell.core.errors import (
    AddressRefused,
    CitewellError,
    FetchTimeout,
    HttpStatusError,
    NotAUrl,
    PageTooLarge,
    RenderFailed,
    RenderingUnavailable,
)
from citewell.core.records import FetchedPage
from citewell.core.renders import RenderRequest
from citewell.jobs.remote_renderer import RemoteRenderer, nobody_waits
from citewell.jobs.render_account import page_of_outcome
from citewell.jobs.render_worker import RenderWorker
from citewell.store.renders import RenderStore
from citewell.web.fetcher import Fetcher
from citewell.web.render.open import open_renderer
from citewell.web.render.pool import PoolLimits

pytestmark = pytest.mark.anyio

URL = "https://example.org/heron"
PAGE = FetchedPage(
    url=URL,
    final_url="https://example.org/grey-heron",
    status=203,
    kind="html",
    body="<p>\0The grey heron 鷺 eats fish.</p>".encode(),
    text="<p>\0The grey heron 鷺 eats fish.</p>",
    fetched_at=datetime(2026, 3, 14, 15, 9, 26, tzinfo=UTC),
    redirects=("https://example.org/grey-heron",),
    rendered=True,
)


class Browser:
    """Stands where a browser would, and does what the test says."""

    def __init__(self, show: Callable[[str], Awaitable[FetchedPage]]) -> None:
        self._show = show
        self.asked: list[str] = []
        self.waited_for: list[str] = []
        self.begun = anyio.Event()
        self.broken_off = anyio.Event()

    async def render(self, url: str, *, wait_for: str = "") -> FetchedPage:
        self.asked.append(url)
        self.waited_for.append(wait_for)
        self.begun.set()
        try:
            return await self._show(url)
        except anyio.get_cancelled_exc_class():
            self.broken_off.set()
            raise


async def show_page(url: str) -> FetchedPage:
    return replace(PAGE, url=url)


async def show_for_ever(url: str) -> FetchedPage:
    await anyio.sleep_forever()
    raise AssertionError("for ever ends by cancellation")


def failing(error: Exception) -> Callable[[str], Awaitable[FetchedPage]]:
    async def show(url: str) -> FetchedPage:
        raise error

    return show


@pytest.fixture(params=["sqlite-file", "postgres"])
async def renders(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RenderStore]:
    async with empty_store(request.param, tmp_path) as opened:
        yield opened.renders


async def ask(
    renders: RenderStore, *, wait_seconds: float = 10.0, max_page_bytes: int = 1_000
) -> FetchedPage:
    async with RemoteRenderer(
        renders, wait_seconds=wait_seconds, max_page_bytes=max_page_bytes
    ) as renderer:
        return await renderer.render(URL)


async def ask_worker(
    renders: RenderStore, browser: Browser, **limits: float
) -> FetchedPage | CitewellError:
    """Return the page or the error that an asker gets while one worker runs."""
    async with RenderWorker(renders, browser, max_pages=1, closing_seconds=0.5):
        await until(renders, workers=1)
        try:
            return await ask(renders, **limits)  # type: ignore[arg-type]  # the limits of `ask`
        except CitewellError as error:
            return error


async def until(renders: RenderStore, **wanted: int) -> None:
    """Wait until the store counts so many."""
    with anyio.fail_after(60):
        while True:
            counts = await renders.count_renders()
            if all(getattr(counts, name) == number for name, number in wanted.items()):
                return
            with anyio.move_on_after(0.01):
                await anyio.Event().wait()


async def test_a_page_comes_back_as_the_worker_saw_it(renders: RenderStore) -> None:
    assert await ask_worker(renders, Browser(show_page)) == PAGE
    await until(renders, waiting=0, held=0, workers=0)


async def test_the_worker_waits_for_what_the_asker_waits_for(renders: RenderStore) -> None:
    browser = Browser(show_page)

    async with RenderWorker(renders, browser, max_pages=1, closing_seconds=0.5):
        await until(renders, workers=1)
        async with RemoteRenderer(renders, wait_seconds=10.0) as renderer:
            await renderer.render(URL, wait_for="p > b.fresh")
            await renderer.render(URL)

    assert browser.waited_for == ["p > b.fresh", ""]


async def test_an_error_comes_back_as_the_worker_met_it(renders: RenderStore) -> None:
    error = HttpStatusError("503 from the site", suggestion="Wait.", status=503, retry_after=7.5)

    met = await ask_worker(renders, Browser(failing(error)))

    assert isinstance(met, HttpStatusError)
    assert (met.message, met.suggestion, met.details) == (
        "503 from the site",
        "Wait.",
        {"status": 503, "retry_after": 7.5},
    )


async def test_a_fault_of_the_worker_is_told_without_its_words(renders: RenderStore) -> None:
    browser = Browser(failing(KeyError("a secret")))

    met = await ask_worker(renders, browser)

    assert isinstance(met, RenderFailed)
    assert "secret" not in met.message


async def test_a_page_beyond_the_askers_own_limit_is_refused(renders: RenderStore) -> None:
    met = await ask_worker(renders, Browser(show_page), max_page_bytes=10)

    assert isinstance(met, PageTooLarge)


async def test_without_a_worker_the_asker_is_told_at_once_how_to_start_one(
    renders: RenderStore,
) -> None:
    with anyio.fail_after(60), pytest.raises(RenderingUnavailable) as raised:
        await ask(renders, wait_seconds=600)

    assert "citewell worker --kinds render" in raised.value.suggestion
    await until(renders, waiting=0)


async def test_what_is_no_url_is_not_asked_for(renders: RenderStore) -> None:
    async with RemoteRenderer(renders, wait_seconds=600) as renderer:
        with pytest.raises(NotAUrl):
            await renderer.render("file:///etc/passwd")


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("file:///etc/passwd", NotAUrl),
        ("http://169.254.169.254/latest/meta-data/", AddressRefused),
        ("http://127.0.0.1:5432/", AddressRefused),
        ("javascript:alert(1)", NotAUrl),
    ],
    ids=["file", "metadata", "loopback", "script"],
)
async def test_a_worker_trusts_no_url_that_it_is_given(
    renders: RenderStore, url: str, kind: type[CitewellError]
) -> None:
    """As if somebody had written the request past the asker's own checks."""
    await renders.add_render(RenderRequest(render_id="x", url=url), wait_seconds=600)

    async with (
        Fetcher() as fetcher,
        open_renderer(fetcher, PoolLimits()) as pool,
        RenderWorker(renders, pool, max_pages=1),
    ):
        with anyio.fail_after(60):
            while (outcome := await renders.collect_render("x")) is None:
                with anyio.move_on_after(0.01):
                    await anyio.Event().wait()

    with pytest.raises(kind):
        page_of_outcome(outcome, url)


async def test_an_asker_whose_time_is_over_leaves_nothing_behind(renders: RenderStore) -> None:
    browser = Browser(show_for_ever)

    async with RenderWorker(renders, browser, max_pages=1, closing_seconds=0):
        await until(renders, workers=1)
        with pytest.raises(FetchTimeout):
            await ask(renders, wait_seconds=0.7)
        with anyio.fail_after(60):
            await browser.broken_off.wait()
        await until(renders, waiting=0, held=0)

    assert browser.asked == [URL]


async def test_a_request_that_the_database_has_dropped_is_out_of_time(renders: RenderStore) -> None:
    await renders.note_worker("w", seconds=60)

    with anyio.fail_after(60), pytest.RaisesGroup(FetchTimeout):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, renders)
            await until(renders, waiting=1)
            taken = await renders.take_render(lease_seconds=60)
            assert taken is not None
            await renders.withdraw_render(taken.request.render_id)


async def test_a_cancelled_asker_withdraws_its_page(renders: RenderStore) -> None:
    browser = Browser(show_for_ever)

    async with RenderWorker(renders, browser, max_pages=1, closing_seconds=0):
        await until(renders, workers=1)
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ask, renders)
                await browser.begun.wait()
                tasks.cancel_scope.cancel()
            await browser.broken_off.wait()
        await until(renders, waiting=0, held=0)

    assert browser.asked == [URL]


async def test_a_worker_that_ends_lets_its_pages_end(renders: RenderStore) -> None:
    may_end = anyio.Event()
    pages: list[FetchedPage] = []

    async def show(url: str) -> FetchedPage:
        await may_end.wait()
        return PAGE

    async def keep() -> None:
        pages.append(await ask(renders))

    browser = Browser(show)
    with anyio.fail_after(60):
        async with (
            anyio.create_task_group() as tasks,
            RenderWorker(renders, browser, max_pages=1),
        ):
            await until(renders, workers=1)
            tasks.start_soon(keep)
            await browser.begun.wait()
            tasks.start_soon(_when_closing, renders, may_end)

    assert pages == [PAGE]


async def _when_closing(renders: RenderStore, may_end: anyio.Event) -> None:
    await until(renders, workers=0)
    may_end.set()


async def test_a_page_that_does_not_end_in_time_goes_to_the_next_worker(
    renders: RenderStore,
) -> None:
    slow, quick = Browser(show_for_ever), Browser(show_page)
    pages: list[FetchedPage] = []

    async def keep() -> None:
        pages.append(await ask(renders))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            async with RenderWorker(renders, slow, max_pages=1, closing_seconds=0):
                await until(renders, workers=1)
                tasks.start_soon(keep)
                await slow.begun.wait()
                second = RenderWorker(renders, quick, max_pages=1)
                # Known before the first one leaves, so that the asker does not give up.
                await renders.note_worker("second", seconds=10)
            async with second:
                await quick.begun.wait()
                await until(renders, waiting=0, held=0)

    assert pages == [PAGE]


async def test_pages_that_nobody_waits_for_come_last(renders: RenderStore) -> None:
    await renders.note_worker("w", seconds=60)

    async def crawl() -> None:
        with nobody_waits():
            await ask(renders)

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(crawl)
            await until(renders, waiting=1)
            tasks.start_soon(ask, renders)
            await until(renders, waiting=2)
            taken = [await renders.take_render(lease_seconds=60) for _ in range(2)]
            tasks.cancel_scope.cancel()

    assert [one is not None and one.request.is_urgent for one in taken] == [True, False]


async def test_pages_that_nobody_waits_for_never_take_all_places(renders: RenderStore) -> None:
    browser = Browser(show_for_ever)

    async def crawl() -> None:
        with nobody_waits():
            await ask(renders)

    async with RenderWorker(renders, browser, max_pages=1, closing_seconds=0):
        await until(renders, workers=1)
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for _ in range(3):
                    tasks.start_soon(crawl)
                await until(renders, waiting=2, held=1)
                tasks.start_soon(ask, renders)
                await until(renders, waiting=2, held=2)
                left = await renders.count_renders()
                tasks.cancel_scope.cancel()

    # The caller was served before the crawls' other pages, which still wait.
    assert (left.waiting, left.held) == (2, 2)
