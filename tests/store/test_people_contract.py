"""Every promise of PeopleStore, run once per backend."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import anyio
import pytest

from citewell.core.people import Directive, UserQuestion
from citewell.store.open import open_store
from citewell.store.protocol import Store

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ME, OTHER = "owner-me", "owner-other"


def later(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


IN_FIVE_MINUTES = later(5)


def question(name: str, *, owner: str = ME, expires_at: datetime = IN_FIVE_MINUTES) -> UserQuestion:
    return UserQuestion(
        question_id=name,
        owner=owner,
        text=f"{name}? 鷺",
        user="ann",
        agent="helper",
        key_hint="9f42",
        asked_at=NOON,
        expires_at=expires_at,
    )


def directive(name: str, *, owner: str = ME, task_id: str = "default") -> Directive:
    return Directive(
        directive_id=name,
        owner=owner,
        content=f"do {name}",
        task_id=task_id,
        user="ann",
        key_hint="9f42",
        created_at=NOON,
    )


async def open_questions(store: Store, owner: str = ME, now: datetime = NOON) -> list[str]:
    found = await store.people.list_questions(owner, pending=True, limit=10, now=now)
    return [each.question_id for each in found]


async def closed_questions(store: Store, now: datetime = NOON) -> list[str]:
    found = await store.people.list_questions(ME, pending=False, limit=10, now=now)
    return [each.question_id for each in found]


async def late_answers(store: Store, owner: str = ME, now: datetime = NOON) -> list[str]:
    found = await store.people.take_late_answers(
        owner, asker="", now=now, answered_before=now - timedelta(seconds=5), limit=3
    )
    return [each.answer or "" for each in found]


async def waiting(store: Store, owner: str = ME) -> list[str]:
    found = await store.people.list_directives(owner, pending=True, limit=10)
    return [each.directive_id for each in found]


# ── questions ─────────────────────────────────────────────────────────────────


async def test_a_question_comes_back_as_it_was_asked(store: Store) -> None:
    await store.people.add_question(question("lunch"))

    assert await store.people.get_question("lunch", owner=ME) == question("lunch")


async def test_open_questions_are_listed_oldest_first_and_closed_ones_newest_first(
    store: Store,
) -> None:
    for name in ("a", "b", "c", "d"):
        await store.people.add_question(question(name))
    await store.people.answer_question("b", owner=ME, answer="yes", now=NOON)
    await store.people.close_question("c", owner=ME, state="cancelled")

    assert await open_questions(store) == ["a", "d"]
    assert await closed_questions(store) == ["c", "b"]


async def test_the_whole_history_is_searched_and_paged(store: Store) -> None:
    for name in ("Deploy", "Rename", "Deploy again", "Open"):
        await store.people.add_question(question(name))
    await store.people.add_question(question("Deploy theirs", owner=OTHER))
    for name in ("Deploy", "Rename", "Deploy again"):
        await store.people.answer_question(name, owner=ME, answer="50 % of IT", now=NOON)

    async def found(matching: str, before: str | None = None, limit: int = 9) -> list[str]:
        history = await store.people.search_history(
            ME, matching=matching, before=before, limit=limit
        )
        return [each.question_id for each in history]

    assert await found("") == ["Deploy again", "Rename", "Deploy"]
    assert await found("dEPLOY") == ["Deploy again", "Deploy"]
    assert await found("50 % of it", limit=1) == ["Deploy again"]
    assert await found("50 % of it", before="Deploy again") == ["Rename", "Deploy"]
    assert await found("helper", before="Deploy theirs") == []
    assert await found("%") != await found("_") == []


async def test_an_answer_closes_an_open_question(store: Store) -> None:
    await store.people.add_question(question("lunch"))

    answered = await store.people.answer_question("lunch", owner=ME, answer="soup", now=later(1))

    assert answered is not None
    assert (answered.state, answered.answer, answered.answered_at, answered.is_late) == (
        "answered",
        "soup",
        later(1),
        False,
    )


async def test_the_first_answer_stays(store: Store) -> None:
    await store.people.add_question(question("lunch"))
    await store.people.answer_question("lunch", owner=ME, answer="soup", now=later(1))

    second = await store.people.answer_question("lunch", owner=ME, answer="bread", now=later(2))

    assert second is not None
    assert (second.answer, second.answered_at) == ("soup", later(1))


@pytest.mark.parametrize("state", ["expired", "cancelled"])
async def test_an_answer_to_a_closed_question_is_late(
    store: Store, state: Literal["expired", "cancelled"]
) -> None:
    await store.people.add_question(question("lunch"))
    await store.people.close_question("lunch", owner=ME, state=state)

    answered = await store.people.answer_question("lunch", owner=ME, answer="soup", now=later(9))

    assert answered is not None
    assert (answered.state, answered.answer, answered.is_late) == (state, "soup", True)


async def test_a_question_that_is_answered_can_not_be_closed(store: Store) -> None:
    await store.people.add_question(question("lunch"))
    await store.people.answer_question("lunch", owner=ME, answer="soup", now=NOON)

    left = await store.people.close_question("lunch", owner=ME, state="expired")

    assert left is not None
    assert left.state == "answered"


async def test_a_question_expires_though_nobody_waits_for_it(store: Store) -> None:
    await store.people.add_question(question("short", expires_at=later(1)))
    await store.people.add_question(question("long", expires_at=later(9)))

    assert await open_questions(store, now=later(2)) == ["long"]
    assert await closed_questions(store, now=later(2)) == ["short"]


async def test_an_answer_after_the_time_is_late_though_nobody_noted_the_end(store: Store) -> None:
    await store.people.add_question(question("short", expires_at=later(1)))

    answered = await store.people.answer_question("short", owner=ME, answer="soup", now=later(2))

    assert answered is not None
    assert (answered.state, answered.is_late) == ("expired", True)


# ── delivery ──────────────────────────────────────────────────────────────────


async def test_an_answer_is_delivered_once(store: Store) -> None:
    await store.people.add_question(question("lunch"))
    early = await store.people.deliver_answer("lunch", owner=ME, now=NOON)
    await store.people.answer_question("lunch", owner=ME, answer="soup", now=NOON)

    first = await store.people.deliver_answer("lunch", owner=ME, now=later(1))
    second = await store.people.deliver_answer("lunch", owner=ME, now=later(2))

    assert (early, first, second) == (False, True, False)
    assert await late_answers(store, now=later(9)) == []


async def test_late_answers_are_taken_once_oldest_first_and_a_few_at_a_time(store: Store) -> None:
    for name in ("a", "b", "c", "d"):
        await store.people.add_question(question(name))
        await store.people.close_question(name, owner=ME, state="expired")
        await store.people.answer_question(name, owner=ME, answer=name.upper(), now=NOON)

    taken = [await late_answers(store) for _ in range(3)]

    assert taken == [["A", "B", "C"], ["D"], []]
    kept = await store.people.get_question("a", owner=ME)
    assert kept is not None
    assert kept.delivered_at == NOON


async def test_a_fresh_answer_is_left_to_whoever_waits_for_it(store: Store) -> None:
    await store.people.add_question(question("lunch"))
    await store.people.answer_question("lunch", owner=ME, answer="soup", now=NOON)

    at_once = await late_answers(store, now=NOON + timedelta(seconds=1))
    when_nobody_came = await late_answers(store, now=NOON + timedelta(seconds=10))

    assert (at_once, when_nobody_came) == ([], ["soup"])


async def test_of_many_that_want_a_late_answer_one_gets_it(store: Store) -> None:
    await store.people.add_question(question("lunch"))
    await store.people.close_question("lunch", owner=ME, state="expired")
    await store.people.answer_question("lunch", owner=ME, answer="soup", now=NOON)
    taken: list[str] = []

    async def take() -> None:
        taken.extend(await late_answers(store))

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(take)

    assert taken == ["soup"]


# ── directives ────────────────────────────────────────────────────────────────


async def test_a_directive_comes_back_as_it_was_given(store: Store) -> None:
    await store.people.add_directive(directive("ship"))

    listed = await store.people.list_directives(ME, pending=True, limit=10)

    assert listed == [directive("ship")]


async def test_the_newest_directive_is_taken_first_and_noted(store: Store) -> None:
    for name in ("old", "new"):
        await store.people.add_directive(directive(name))

    taken = await store.people.take_directive(ME, task_id=None, now=later(1))

    assert taken is not None
    assert (taken.directive_id, taken.state, taken.consumed_at) == ("new", "consumed", later(1))
    assert await waiting(store) == ["old"]
    delivered = await store.people.list_directives(ME, pending=False, limit=10)
    assert delivered == [taken]


async def test_a_task_sees_its_own_directives_only(store: Store) -> None:
    await store.people.add_directive(directive("ship", task_id="release"))
    await store.people.add_directive(directive("tidy"))

    release = await store.people.take_directive(ME, task_id="release", now=NOON)
    again = await store.people.take_directive(ME, task_id="release", now=NOON)

    assert release is not None
    assert (release.directive_id, again) == ("ship", None)
    assert await waiting(store) == ["tidy"]


async def test_no_directive_is_taken_twice_and_none_is_lost(store: Store) -> None:
    names = [f"d{number}" for number in range(60)]
    for name in names:
        await store.people.add_directive(directive(name))
    taken: list[str] = []

    async def consume() -> None:
        while (got := await store.people.take_directive(ME, task_id=None, now=NOON)) is not None:
            taken.append(got.directive_id)

    async with anyio.create_task_group() as tasks:
        for _ in range(12):
            tasks.start_soon(consume)

    assert sorted(taken) == sorted(names)


async def test_directives_change_places_and_words_until_they_are_taken(store: Store) -> None:
    for name in ("c", "b", "a"):
        await store.people.add_directive(directive(name))

    assert await store.people.move_directive("c", owner=ME, earlier=True)
    assert await store.people.move_directive("a", owner=ME, earlier=False)
    assert await store.people.move_directive("c", owner=ME, earlier=True)
    assert await waiting(store) == ["c", "a", "b"]
    assert await store.people.edit_directive("a", owner=ME, content="new", task_id="t")
    await store.people.add_directive(directive("d"))
    taken = [await store.people.take_directive(ME, task_id=None, now=NOON) for _ in range(4)]

    assert [each and each.directive_id for each in taken] == ["d", "c", "a", "b"]
    assert taken[2] is not None
    assert (taken[2].content, taken[2].task_id) == ("new", "t")
    assert not await store.people.edit_directive("a", owner=ME, content="late", task_id="t")
    assert not await store.people.move_directive("a", owner=ME, earlier=True)


async def test_a_template_is_kept_once_and_only_its_owner_has_it(store: Store) -> None:
    for content in ("Ship", "Ship", "Tidy"):
        await store.people.add_template(ME, content=content, task_id="default")
    ship = (await store.people.list_templates(ME, limit=10))[1]

    assert not await store.people.delete_template(ship.number, owner=OTHER)
    assert await store.people.list_templates(OTHER, limit=10) == []
    assert await store.people.delete_template(ship.number, owner=ME)
    assert [kept.content for kept in await store.people.list_templates(ME, limit=10)] == ["Tidy"]


async def test_one_directive_or_all_of_them_can_be_deleted(store: Store) -> None:
    for name in ("a", "b", "c"):
        await store.people.add_directive(directive(name))
    await store.people.take_directive(ME, task_id=None, now=NOON)

    assert await store.people.delete_directive("a", owner=ME)
    assert not await store.people.delete_directive("a", owner=ME)
    assert await waiting(store) == ["b"]
    assert await store.people.delete_directives(ME) == 2
    assert await waiting(store) == []


# ── owners, revisions, restarts ───────────────────────────────────────────────


async def test_nobody_can_reach_what_belongs_to_another(store: Store) -> None:
    await store.people.add_question(question("lunch"))
    await store.people.add_directive(directive("ship"))

    assert await store.people.get_question("lunch", owner=OTHER) is None
    assert await open_questions(store, OTHER) == []
    stolen = await store.people.answer_question("lunch", owner=OTHER, answer="no", now=NOON)
    assert stolen is None
    assert await store.people.close_question("lunch", owner=OTHER, state="cancelled") is None
    assert await waiting(store, OTHER) == []
    assert await store.people.take_directive(OTHER, task_id=None, now=NOON) is None
    assert not await store.people.delete_directive("ship", owner=OTHER)
    assert await store.people.delete_directives(OTHER) == 0
    await store.people.answer_question("lunch", owner=ME, answer="soup", now=later(9))
    assert not await store.people.deliver_answer("lunch", owner=OTHER, now=NOON)
    assert await late_answers(store, OTHER, now=later(20)) == []
    assert await waiting(store) == ["ship"]
    assert await late_answers(store, now=later(20)) == ["soup"]


async def test_the_revision_grows_with_every_change_of_the_owner_alone(store: Store) -> None:
    seen = [await store.people.revision(ME)]
    await store.people.add_question(question("lunch"))
    seen.append(await store.people.revision(ME))
    await store.people.answer_question("lunch", owner=ME, answer="soup", now=NOON)
    seen.append(await store.people.revision(ME))
    await store.people.add_directive(directive("ship"))
    seen.append(await store.people.revision(ME))
    await store.people.take_directive(ME, task_id=None, now=NOON)
    seen.append(await store.people.revision(ME))

    assert len(set(seen)) == 5
    assert seen == sorted(seen)
    await store.people.take_directive(ME, task_id=None, now=NOON)
    await store.people.add_question(question("other", owner=OTHER))
    assert await store.people.revision(ME) == seen[-1]


async def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    address = f"sqlite://{tmp_path}/people.db"
    first = await open_store(address)
    await first.people.add_question(question("open"))
    await first.people.add_question(question("closed"))
    await first.people.close_question("closed", owner=ME, state="expired")
    await first.people.answer_question("closed", owner=ME, answer="soup", now=NOON)
    await first.people.add_directive(directive("ship"))
    await first.aclose()

    second = await open_store(address)

    assert await open_questions(second) == ["open"]
    assert await late_answers(second) == ["soup"]
    assert await waiting(second) == ["ship"]
    await second.aclose()
