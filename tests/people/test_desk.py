"""The desk: waiting, waking, late answers and what another process writes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from citewell.core.errors import NotFound, QuestionClosed, ServerStopping
from citewell.core.people import UserQuestion
from citewell.people.desk import Desk, Party
from citewell.store.open import open_store

pytestmark = pytest.mark.anyio

ANN = Party(owner="ann", user="ann", agent="helper", key_hint="9f42")
BEN = Party(owner="ben")


@asynccontextmanager
async def open_desk(
    address: str = "sqlite://", *, timeout_seconds: float = 20
) -> AsyncIterator[Desk]:
    store = await open_store(address)
    yield Desk(store.people, answer_timeout_seconds=timeout_seconds)
    await store.aclose()


async def answered_while_waiting(desk: Desk, *, by: Desk) -> list[UserQuestion]:
    """Ask at one desk, answer `by` a desk while someone waits; return what the waiting got."""
    closed: list[UserQuestion] = []
    question = await desk.ask("Soup?", ANN)

    async def wait() -> None:
        closed.append(await desk.wait_until_closed(question))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await by.answer(question.question_id, "Yes", owner="ann")
    return closed


async def test_an_answer_wakes_whoever_waits() -> None:
    async with open_desk() as desk:
        closed = await answered_while_waiting(desk, by=desk)

    assert [(each.state, each.answer, each.is_late) for each in closed] == [
        ("answered", "Yes", False)
    ]


async def test_an_answer_written_by_another_process_is_noticed(tmp_path: Path) -> None:
    address = f"sqlite://{tmp_path}/people.db"
    async with open_desk(address) as desk, open_desk(address) as elsewhere:
        closed = await answered_while_waiting(desk, by=elsewhere)

    assert [each.answer for each in closed] == ["Yes"]


async def test_a_question_expires_and_its_late_answer_is_given_once() -> None:
    async with open_desk(timeout_seconds=0.05) as desk:
        question = await desk.ask("Soup?", ANN)
        with anyio.fail_after(60):
            expired = await desk.wait_until_closed(question)
        before = await desk.take_late_answers("ann", asker="")
        late = await desk.answer(question.question_id, "Bread", owner="ann")

        taken = [await desk.take_late_answers(owner, asker="") for owner in ("ben", "ann", "ann")]

    assert expired.state == "expired"
    assert before == []
    assert late.is_late
    assert [[each.answer for each in answers] for answers in taken] == [[], ["Bread"], []]


async def test_a_waiter_that_is_cancelled_cancels_the_question() -> None:
    async with open_desk() as desk:
        question = await desk.ask("Soup?", ANN)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.wait_until_closed, question)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()

        found = await desk.find_question(question.question_id, owner="ann")

    assert found.state == "cancelled"


async def test_a_second_answer_is_refused_and_strangers_find_nothing() -> None:
    async with open_desk() as desk:
        question = await desk.ask("Soup?", ANN)
        with pytest.raises(NotFound):
            await desk.answer(question.question_id, "Mine", owner="ben")
        await desk.answer(question.question_id, "Yes", owner="ann")

        with pytest.raises(QuestionClosed, match="answered before"):
            await desk.answer(question.question_id, "No", owner="ann")


async def test_the_same_answer_sent_twice_counts_once() -> None:
    async with open_desk() as desk:
        question = await desk.ask("Soup?", ANN)
        first = await desk.answer(question.question_id, "Yes", owner="ann")

        assert await desk.answer(question.question_id, "Yes", owner="ann") == first


async def test_a_watcher_hears_of_every_change_of_its_owner() -> None:
    seen: list[int] = []
    async with open_desk() as desk:
        changes = desk.watch("ann")
        with anyio.fail_after(60):
            seen.append(await anext(changes))
            await desk.add_directive("Not yours", BEN)
            await desk.add_directive("Ship it", ANN)
            seen.append(await anext(changes))
            await desk.take_directive("ann", task_id=None)
            seen.append(await anext(changes))

    assert seen == [0, 1, 2]


async def test_a_watcher_hears_that_the_time_of_a_question_without_an_asker_is_over() -> None:
    async with open_desk(timeout_seconds=1) as desk:
        # Whoever asked was killed: nobody waits for the answer, or notes that its time is over.
        question = await desk.ask("Soup?", ANN)
        changes = desk.watch("ann")
        with anyio.fail_after(60):
            asked = await anext(changes)
            before = await desk.find_question(question.question_id, owner="ann")
            over = await anext(changes)
        after = await desk.find_question(question.question_id, owner="ann")

    assert (asked, before.state) == (1, "pending")
    assert (over, after.state) == (2, "expired")


async def test_a_directive_that_is_not_there_cannot_be_deleted() -> None:
    async with open_desk() as desk:
        directive = await desk.add_directive("Ship it", ANN)

        with pytest.raises(NotFound):
            await desk.delete_directive(directive.directive_id, owner="ben")

        await desk.delete_directive(directive.directive_id, owner="ann")
        assert await desk.list_directives("ann") == ([], [])


async def test_a_stop_ends_the_waiting_at_once_and_leaves_the_question_open() -> None:
    async with open_desk() as desk:
        question = await desk.ask("Soup?", ANN)
        refusals: list[ServerStopping] = []

        async def wait() -> None:
            with pytest.raises(ServerStopping) as refused:
                await desk.wait_until_closed(question)
            refusals.append(refused.value)

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                await anyio.wait_all_tasks_blocked()
                desk.stop_waiting()
        pending, _ = await desk.list_questions("ann")

    assert [each.question_id for each in pending] == [question.question_id]
    assert refusals[0].details == {"request_id": question.question_id, "retryable": True}


async def test_a_question_that_is_asked_again_takes_up_the_open_one_and_its_answer() -> None:
    async with open_desk() as desk:
        first = await desk.ask("Soup?", ANN)
        again = await desk.ask("Soup?", replace(ANN, asker="other"))
        await desk.answer(first.question_id, "Bread", owner="ann")
        answered = await desk.ask("Soup?", ANN)
        await desk.deliver(answered)
        new = await desk.ask("Soup?", ANN)

    assert again.question_id == first.question_id == answered.question_id
    assert answered.answer == "Bread"
    assert new.question_id != first.question_id
