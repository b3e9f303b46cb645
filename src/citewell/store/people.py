"""Questions to users and directives from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from citewell.core.people import Directive, DirectiveTemplate, UserQuestion
from citewell.store.rows import read_record, record_values

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from citewell.store.session import Database, Row, Session, Values

# As many as a page lists; those beyond keep their places below.
_MOST_ORDERED = 200


class PeopleStore:
    """Questions and directives, each belonging to one owner and invisible to all others.

    Every method may raise StoreError. What belongs to another owner is as if it did not exist.
    Each method is one transaction; of two processes that want the same thing, one gets it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_question(self, question: UserQuestion) -> None:
        """Store a new question."""
        await self._change("add_question", record_values(question))

    async def take_up_question(
        self,
        owner: str,
        *,
        text: str,
        replies: Sequence[str] = (),
        asker: str,
        now: datetime,
        expires_at: datetime,
    ) -> UserQuestion | None:
        """Return a question of these words that is open or has an answer that nobody was given.

        From now on it is this asker's, with these replies, and open until `expires_at`.
        """
        values = {
            "owner": owner,
            "text": text,
            "replies": list(replies),
            "asker": asker,
            "now": now,
            "expires_at": expires_at,
        }
        rows = await self._change_returning("take_up_question", values)
        return _question(rows[0]) if rows else None

    async def get_question(self, question_id: str, *, owner: str) -> UserQuestion | None:
        """Return the question as it is now."""
        values = {"question_id": question_id, "owner": owner}
        row = await self._database.fetch_one("get_question", values)
        return _question(row) if row else None

    async def list_questions(
        self, owner: str, *, pending: bool, limit: int, now: datetime
    ) -> list[UserQuestion]:
        """Return open questions, oldest first, or closed ones, newest first.

        An open question whose time is over at `now` has expired, whoever was waiting for it.
        """
        values = {"owner": owner, "limit": limit, "now": now}
        statement = "list_open_questions" if pending else "list_closed_questions"
        # Reading first: it is far cheaper than writing, and overdue questions are rare.
        if await self._exists("has_overdue_questions", values):
            await self._change("expire_questions", values)
        return [_question(row) for row in await self._database.fetch_all(statement, values)]

    async def search_history(
        self, owner: str, *, matching: str, before: str | None, limit: int
    ) -> list[UserQuestion]:
        """Return closed questions that hold `matching`, newest first.

        Upper and lower case are the same. `before` is the id of a question: older ones follow.
        """
        values = {
            "owner": owner,
            "matching": matching.lower(),
            "before": before,
            "limit": limit,
        }
        rows = await self._database.fetch_all("search_closed_questions", values)
        return [_question(row) for row in rows]

    async def answer_question(
        self, question_id: str, *, owner: str, answer: str, now: datetime
    ) -> UserQuestion | None:
        """Store the answer unless there is one already; return the updated question.

        An open question becomes answered. One that has expired or was cancelled stays so, and its
        answer is a late one.
        """
        values = {"question_id": question_id, "owner": owner, "answer": answer, "now": now}
        return await self._change_question("answer_question", values)

    async def close_question(
        self, question_id: str, *, owner: str, state: Literal["expired", "cancelled"]
    ) -> UserQuestion | None:
        """Close the question if it is still open; return the updated question."""
        values = {"question_id": question_id, "owner": owner, "state": state}
        return await self._change_question("close_question", values)

    async def deliver_answer(self, question_id: str, *, owner: str, now: datetime) -> bool:
        """Note that the agent was given the answer; False when it had been given before."""
        values = {"question_id": question_id, "owner": owner, "now": now}
        return await self._change("deliver_answer", values) > 0

    async def take_late_answers(
        self, owner: str, *, asker: str, now: datetime, answered_before: datetime, limit: int
    ) -> list[UserQuestion]:
        """Return the answers that the asker has not received, oldest first; note their delivery.

        Those of questions that were still open are left to whoever waits for them, unless they
        came before `answered_before`: then nobody does.
        """
        values = {
            "owner": owner,
            "asker": asker,
            "now": now,
            "answered_before": answered_before,
            "limit": limit,
        }
        if not await self._exists("has_late_answers", values):
            return []
        rows = await self._change_returning("take_late_answers", values)
        return [_question(row) for row in sorted(rows, key=lambda row: int(row["number"]))]

    async def add_directive(self, directive: Directive, *, place: int = 0) -> None:
        """Store a new directive; `place` others of its owner are delivered before it."""

        async def work(session: Session) -> None:
            await session.execute("add_directive", record_values(directive))
            await session.execute("bump_people_revision", {"owner": directive.owner})
            if place:
                rows = await _waiting_rows(session, directive.owner)
                await _put_at(session, rows, directive.directive_id, place)

        await self._database.transaction(work)

    async def edit_directive(
        self, directive_id: str, *, owner: str, content: str, task_id: str
    ) -> bool:
        """Rewrite a waiting directive; return whether it was there."""
        values = {
            "directive_id": directive_id,
            "owner": owner,
            "content": content,
            "task_id": task_id,
        }
        return await self._change("edit_directive", values) > 0

    async def move_directive(self, directive_id: str, *, owner: str, earlier: bool) -> bool:
        """Let a waiting directive change places with its neighbour; return whether it was there."""

        async def work(session: Session) -> bool:
            rows = await _waiting_rows(session, owner)
            order = [str(row["directive_id"]) for row in rows]
            if directive_id not in order:
                return False
            place = max(0, order.index(directive_id) + (-1 if earlier else 1))
            await _put_at(session, rows, directive_id, place)
            await session.execute("bump_people_revision", {"owner": owner})
            return True

        return await self._database.transaction(work)

    async def add_template(self, owner: str, *, content: str, task_id: str) -> None:
        """Keep a directive to be used again; one that is kept already stays as it is."""
        values = {"owner": owner, "content": content, "task_id": task_id}
        await self._change("add_directive_template", values)

    async def list_templates(self, owner: str, *, limit: int) -> list[DirectiveTemplate]:
        """Return the directives that are kept to be used again, newest first."""
        values = {"owner": owner, "limit": limit}
        return [
            read_record(DirectiveTemplate, row)
            for row in await self._database.fetch_all("list_directive_templates", values)
        ]

    async def delete_template(self, number: int, *, owner: str) -> bool:
        """Remove a template; return whether it was there."""
        values = {"number": number, "owner": owner}
        return await self._change("delete_directive_template", values) > 0

    async def list_directives(self, owner: str, *, pending: bool, limit: int) -> list[Directive]:
        """Return waiting directives, next first, or delivered ones, last delivered first."""
        statement = "list_waiting_directives" if pending else "list_delivered_directives"
        rows = await self._database.fetch_all(statement, {"owner": owner, "limit": limit})
        return [_directive(row) for row in rows]

    async def take_directive(
        self, owner: str, *, task_id: str | None, now: datetime
    ) -> Directive | None:
        """Return the next waiting directive, of `task_id` if given, and note its delivery."""
        values = {"owner": owner, "task_id": task_id, "now": now}
        rows = await self._change_returning("take_directive", values)
        return _directive(rows[0]) if rows else None

    async def delete_directive(self, directive_id: str, *, owner: str) -> bool:
        """Remove a directive; return whether it was there."""
        values = {"directive_id": directive_id, "owner": owner}
        return await self._change("delete_directive", values) > 0

    async def delete_directives(self, owner: str) -> int:
        """Remove every directive of the owner; return how many there were."""
        return await self._change("delete_directives", {"owner": owner})

    async def revision(self, owner: str) -> int:
        """Return a number that grows with every change to what the owner has."""
        row = await self._database.fetch_one("people_revision", {"owner": owner})
        assert row is not None, "an aggregate has a row"
        return int(row["revision"])

    async def _exists(self, statement: str, values: Values) -> bool:
        row = await self._database.fetch_one(statement, values)
        return row is not None and bool(row["is_any"])

    async def _change(self, statement: str, values: Values) -> int:
        """Run a statement; return how many rows it changed."""

        async def work(session: Session) -> int:
            changed = await session.execute(statement, values)
            if changed:
                await session.execute("bump_people_revision", values)
            return changed

        return await self._database.transaction(work)

    async def _change_returning(self, statement: str, values: Values) -> list[Row]:
        """Run a statement; return the rows it changed."""

        async def work(session: Session) -> list[Row]:
            rows = await session.fetch_all(statement, values)
            if rows:
                await session.execute("bump_people_revision", values)
            return rows

        return await self._database.transaction(work)

    async def _change_question(self, statement: str, values: Values) -> UserQuestion | None:
        """Run a statement on one question; return the updated question."""

        async def work(session: Session) -> UserQuestion | None:
            if await session.execute(statement, values):
                await session.execute("bump_people_revision", values)
            row = await session.fetch_one("get_question", values)
            return _question(row) if row else None

        return await self._database.transaction(work)


def _question(row: Row) -> UserQuestion:
    return read_record(UserQuestion, row, user=row["user_name"])


async def _waiting_rows(session: Session, owner: str) -> Sequence[Row]:
    return await session.fetch_all(
        "list_waiting_directives", {"owner": owner, "limit": _MOST_ORDERED}
    )


async def _put_at(session: Session, rows: Sequence[Row], directive_id: str, place: int) -> None:
    """Give one of the waiting directives another place among them."""
    order = [str(row["directive_id"]) for row in rows]
    order.remove(directive_id)
    order.insert(place, directive_id)
    lowest = min(int(row["position"]) for row in rows)
    places = [
        {"directive_id": moved_id, "owner": rows[0]["owner"], "position": lowest + below}
        for below, moved_id in enumerate(reversed(order))
    ]
    await session.execute_many("place_directive", places)


def _directive(row: Row) -> Directive:
    return read_record(Directive, row, user=row["user_name"])
