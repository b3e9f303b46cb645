"""Every promise of RenderStore, run once per backend."""

from __future__ import annotations

from contextlib import aclosing

import anyio
import pytest
from tests.postgres import empty_library

from citewell.core.renders import RenderCounts, RenderOutcome, RenderRequest, TakenRender
from citewell.store.open import open_store
from citewell.store.protocol import Store
from citewell.store.renders import MOST_LEASES, RenderStore

pytestmark = pytest.mark.anyio

SECONDS = 60.0
OVER = 0.0
"""A lease or a life of so many seconds has ended when the next statement looks."""


@pytest.fixture
def renders(store: Store) -> RenderStore:
    return store.renders


async def ask(
    renders: RenderStore, name: str, *, is_urgent: bool = True, seconds: float = SECONDS
) -> RenderRequest:
    request = RenderRequest(render_id=name, url=f"https://example.org/{name}", is_urgent=is_urgent)
    await renders.add_render(request, wait_seconds=seconds)
    return request


async def take(renders: RenderStore, *, lease_seconds: float = SECONDS) -> TakenRender:
    taken = await renders.take_render(lease_seconds=lease_seconds)
    assert taken is not None
    return taken


async def test_a_request_goes_to_one_worker_as_it_was_asked(renders: RenderStore) -> None:
    request = await ask(renders, "heron", is_urgent=False)

    taken = await take(renders)

    assert (taken.request, taken.lease) == (request, 1)
    assert 0 < taken.seconds_left <= SECONDS
    assert await renders.take_render(lease_seconds=SECONDS) is None
    assert await renders.render_state("heron") == "held"


async def test_what_somebody_waits_for_goes_first_then_the_oldest(renders: RenderStore) -> None:
    for name, is_urgent in (("crawl 1", False), ("crawl 2", False), ("a", True), ("b", True)):
        await ask(renders, name, is_urgent=is_urgent)

    taken = [(await take(renders)).request.render_id for _ in range(4)]

    assert taken == ["a", "b", "crawl 1", "crawl 2"]


async def test_a_worker_may_leave_what_nobody_waits_for(renders: RenderStore) -> None:
    await ask(renders, "crawl", is_urgent=False)

    assert await renders.take_render(lease_seconds=SECONDS, urgent_only=True) is None


async def test_an_outcome_is_read_once_and_only_by_its_id(renders: RenderStore) -> None:
    await ask(renders, "heron")
    taken = await take(renders)
    outcome = RenderOutcome(account='{"status": 200}', html="<p>\0 鷺</p>".encode())

    assert await renders.finish_render("heron", lease=taken.lease, outcome=outcome)

    assert await renders.render_state("heron") == "done"
    assert await renders.collect_render("egret") is None
    assert await renders.collect_render("heron") == outcome
    assert await renders.collect_render("heron") is None
    assert await renders.render_state("heron") == "expired"


async def test_an_outcome_may_be_as_large_as_a_page(renders: RenderStore) -> None:
    await ask(renders, "heron")
    taken = await take(renders)
    outcome = RenderOutcome(account="{}", html=b"x" * 20_000_000)

    await renders.finish_render("heron", lease=taken.lease, outcome=outcome)

    assert await renders.collect_render("heron") == outcome


async def test_an_unfinished_request_has_no_outcome(renders: RenderStore) -> None:
    await ask(renders, "heron")

    assert await renders.collect_render("heron") is None


async def test_a_request_of_a_worker_that_is_gone_is_taken_over(renders: RenderStore) -> None:
    await ask(renders, "heron")
    first = await take(renders, lease_seconds=OVER)

    second = await take(renders)

    late = RenderOutcome(account='"late"')
    assert second.lease == first.lease + 1
    assert not await renders.keep_render("heron", lease=first.lease, lease_seconds=SECONDS)
    assert not await renders.finish_render("heron", lease=first.lease, outcome=late)
    assert await renders.keep_render("heron", lease=second.lease, lease_seconds=SECONDS)


async def test_a_page_that_workers_die_of_is_given_up(renders: RenderStore) -> None:
    await renders.note_worker("w", seconds=SECONDS)
    await ask(renders, "poison")
    for _ in range(MOST_LEASES):
        await take(renders, lease_seconds=OVER)

    assert await renders.take_render(lease_seconds=SECONDS) is None
    assert await renders.render_state("poison") == "abandoned"


async def test_a_request_that_is_handed_back_is_taken_at_once(renders: RenderStore) -> None:
    await ask(renders, "heron")
    first = await take(renders)

    await renders.release_render("heron", lease=first.lease)

    assert (await take(renders)).lease == first.lease + 1


async def test_a_withdrawn_request_is_lost_to_its_worker(renders: RenderStore) -> None:
    await ask(renders, "heron")
    taken = await take(renders)

    await renders.withdraw_render("heron")

    outcome = RenderOutcome(account="{}")
    assert not await renders.keep_render("heron", lease=taken.lease, lease_seconds=SECONDS)
    assert not await renders.finish_render("heron", lease=taken.lease, outcome=outcome)
    assert await renders.render_state("heron") == "expired"


async def test_nobody_renders_for_an_asker_whose_time_is_over(renders: RenderStore) -> None:
    await ask(renders, "heron", seconds=OVER)

    assert await renders.render_state("heron") == "expired"
    assert await renders.take_render(lease_seconds=SECONDS) is None


async def test_a_request_knows_whether_a_worker_lives(renders: RenderStore) -> None:
    await ask(renders, "heron")
    states = [await renders.render_state("heron")]
    await renders.note_worker("w", seconds=OVER)
    states.append(await renders.render_state("heron"))
    await renders.note_worker("w", seconds=SECONDS)
    states.append(await renders.render_state("heron"))
    await renders.forget_worker("w")
    states.append(await renders.render_state("heron"))

    assert states == ["unattended", "unattended", "waiting", "unattended"]


async def test_outcomes_that_nobody_read_are_forgotten(renders: RenderStore) -> None:
    await ask(renders, "old", seconds=0.5)
    taken = await take(renders)
    await renders.finish_render("old", lease=taken.lease, outcome=RenderOutcome(account="{}"))
    await ask(renders, "new")

    with anyio.fail_after(60):
        while await renders.render_state("old") == "done":
            await renders.note_worker("w", seconds=SECONDS)

    assert await renders.render_state("new") == "waiting"


async def test_requests_and_workers_are_counted(renders: RenderStore) -> None:
    for name in ("a", "b", "c"):
        await ask(renders, name)
    await take(renders)
    await renders.note_worker("w", seconds=SECONDS)
    await renders.note_worker("gone", seconds=OVER)

    assert await renders.count_renders() == RenderCounts(waiting=2, held=1, workers=1)


async def test_on_postgresql_workers_and_askers_are_told() -> None:
    with empty_library() as address:
        asker, worker = await open_store(address), await open_store(address)
        try:
            async with (
                aclosing(worker.renders.requests()) as requests,
                aclosing(asker.renders.outcomes()) as outcomes,
            ):
                with anyio.fail_after(60):
                    await anext(requests)
                    assert await anext(outcomes) == ""
                    await ask(asker.renders, "heron")
                    await anext(requests)
                    taken = await take(worker.renders)
                    await worker.renders.finish_render(
                        "heron", lease=taken.lease, outcome=RenderOutcome(account="{}")
                    )
                    assert await anext(outcomes) == "heron"
        finally:
            await asker.aclose()
            await worker.aclose()
