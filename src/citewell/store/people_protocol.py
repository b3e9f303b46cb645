"""PeopleStore: what a database must promise of questions to users and directives from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from citewell.core.people import Directive, UserQuestion


class PeopleStore(Protocol):
    """Questions and directives, each belonging to one owner and invisible to all others.

    Every method may raise StoreError. What belongs to another owner is as if it did not exist.
    Each method is one transaction; of two processes that want the same thing, one gets it.
    """

    async def add_question(self, question: UserQuestion) -> None:
        """Store a new question."""

    async def get_question(self, question_id: str, *, owner: str) -> UserQuestion | None:
        """Return the question as it is now."""

    async def list_questions(
        self, owner: str, *, pending: bool, limit: int, now: datetime
    ) -> list[UserQuestion]:
        """Return open questions, oldest first, or closed ones, newest first.

        An open question whose time is over at `now` has expired, whoever was waiting for it.
        """

    async def answer_question(
        self, question_id: str, *, owner: str, answer: str, now: datetime
    ) -> UserQuestion | None:
        """Store the answer, unless there is one already; return the question as it is then.

        An open question becomes answered. One that has expired or was cancelled stays so, and its
        answer is a late one.
        """

    async def close_question(
        self, question_id: str, *, owner: str, state: Literal["expired", "cancelled"]
    ) -> UserQuestion | None:
        """Close the question if it is still open; return it as it is then."""

    async def deliver_answer(self, question_id: str, *, owner: str, now: datetime) -> bool:
        """Note that the agent was given the answer; False when it had been given before."""

    async def take_late_answers(
        self, owner: str, *, now: datetime, answered_before: datetime, limit: int
    ) -> list[UserQuestion]:
        """Return answers that no agent was given, oldest first, and note that one is given them.

        Those of questions that were still open are left to whoever waits for them, unless they
        came before `answered_before`: then nobody does.
        """

    async def add_directive(self, directive: Directive) -> None:
        """Store a new directive; it is the newest of its owner."""

    async def list_directives(self, owner: str, *, pending: bool, limit: int) -> list[Directive]:
        """Return waiting directives, newest first, or delivered ones, last delivered first."""

    async def take_directive(
        self, owner: str, *, task_id: str | None, now: datetime
    ) -> Directive | None:
        """Return the newest waiting directive, of `task_id` if given, and note its delivery."""

    async def delete_directive(self, directive_id: str, *, owner: str) -> bool:
        """Remove a directive; return whether it was there."""

    async def delete_directives(self, owner: str) -> int:
        """Remove every directive of the owner; return how many there were."""

    async def revision(self, owner: str) -> int:
        """Return a number that grows with every change to what the owner has."""
