"""Turns shared between owners."""

from __future__ import annotations

import anyio
import pytest

from citewell.core.fair_turns import FairTurns, working_for

pytestmark = pytest.mark.anyio


async def order_of_turns(turns: FairTurns, owners: str) -> str:
    """Return whose turns came when one after another asked, and all left in the order they came."""
    order = ""

    async def take(owner: str) -> None:
        nonlocal order
        with working_for(owner):
            async with turns.turn():
                order += owner
                await anyio.wait_all_tasks_blocked()

    async with anyio.create_task_group() as tasks:
        for owner in owners:
            tasks.start_soon(take, owner)
    return order


@pytest.mark.parametrize(
    ("owners", "order"), [("aaab", "abaa"), ("aabbcc", "abcabc"), ("aaa", "aaa"), ("", "")]
)
async def test_owners_take_turns_at_a_single_place(owners: str, order: str) -> None:
    assert await order_of_turns(FairTurns(1, most_of_one=1), owners) == order


async def test_one_owner_leaves_a_place_for_another() -> None:
    turns = FairTurns(2, most_of_one=1)
    came = anyio.Event()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hold, turns, "a", anyio.Event())
        tasks.start_soon(hold, turns, "a", came)
        await anyio.wait_all_tasks_blocked()
        with working_for("b"), anyio.fail_after(60):
            async with turns.turn():
                assert not came.is_set()
        tasks.cancel_scope.cancel()


async def test_who_gives_up_waiting_leaves_the_queue() -> None:
    turns = FairTurns(1, most_of_one=1)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hold, turns, "a", anyio.Event())
        await anyio.wait_all_tasks_blocked()
        with working_for("b"), anyio.move_on_after(0):
            async with turns.turn():
                pytest.fail("the place is taken")
        tasks.cancel_scope.cancel()

    assert await order_of_turns(turns, "ab") == "ab"


async def hold(turns: FairTurns, owner: str, came: anyio.Event) -> None:
    with working_for(owner):
        async with turns.turn():
            came.set()
            await anyio.sleep_forever()
