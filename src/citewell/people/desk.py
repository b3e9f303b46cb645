"""The desk between agents and their users: questions one way, directives the other."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import anyio

from citewell.core.errors import NotFound, QuestionClosed, ServerStopping
from citewell.core.frozen import frozen
from citewell.core.people import DEFAULT_TASK, Directive, DirectiveTemplate, UserQuestion
from citewell.people.changes import Changes
from citewell.people.plain_text import plain_text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from citewell.store.people import PeopleStore

MOST_LISTED = 200
"""Most questions, or directives, of one state in a list."""
# A change by another process is noticed within this time.
POLL_SECONDS = 0.2
# A waiting call takes an answer within a poll; an older answer has no one waiting for it.
_GRACE_SECONDS = 5.0
_LATE_ANSWERS_AT_ONCE = 3
_AFTER_ALL = 1_000_000_000


@frozen
class Party:
    """The owner of questions and directives, and the names of both sides."""

    owner: str
    user: str | None = None
    agent: str | None = None
    key_hint: str | None = None
    asker: str = ""
    """The conversation that asks; late answers go to no other."""


class Desk:
    """Stores questions and directives, and wakes those who wait for them.

    Changes in this process are noticed immediately, those of others within POLL_SECONDS.
    """

    def __init__(self, store: PeopleStore, *, answer_timeout_seconds: float) -> None:
        self._store = store
        self._answer_timeout_seconds = answer_timeout_seconds
        self._changes = Changes()
        self._nothing_late_until: dict[str, dict[str, float]] = {}
        self._is_stopping = False

    def stop_waiting(self) -> None:
        """End all present and future waits for answers, because the server stops."""
        self._is_stopping = True
        self._changes.notify_all()

    async def ask(self, text: str, party: Party, *, replies: Sequence[str] = ()) -> UserQuestion:
        """Ask a question and return it.

        If the same question is open, or was answered without delivery, that one is returned.
        """
        now = _now()
        offered = tuple(dict.fromkeys(plain_text(reply) for reply in replies))
        repeated = await self._store.take_up_question(
            party.owner,
            text=plain_text(text),
            replies=offered,
            asker=party.asker,
            now=now,
            expires_at=now + timedelta(seconds=self._answer_timeout_seconds),
        )
        if repeated is not None:
            self._notify(party.owner)
            return repeated
        question = UserQuestion(
            question_id=str(uuid.uuid4()),
            owner=party.owner,
            text=plain_text(text),
            replies=offered,
            user=party.user,
            agent=party.agent,
            key_hint=party.key_hint,
            asker=party.asker,
            asked_at=now,
            expires_at=now + timedelta(seconds=self._answer_timeout_seconds),
        )
        await self._store.add_question(question)
        self._notify(party.owner)
        return question

    async def wait_until_closed(self, question: UserQuestion) -> UserQuestion:
        """Return the question once it is answered, expired or cancelled by someone else.

        A caller that is cancelled meanwhile cancels the question.

        Raises:
            ServerStopping: the server stops; the question stays open.
        """
        try:
            while True:
                changed = self._changes.next(question.owner)
                current = await self.find_question(question.question_id, owner=question.owner)
                if current.state != "pending":
                    return current
                if self._is_stopping:
                    raise ServerStopping(
                        "the server stops before the user has answered",
                        request_id=question.question_id,
                        retryable=True,
                    )
                seconds_left = (current.expires_at - _now()).total_seconds()
                if seconds_left <= 0:
                    return await self._close(question, expired=True)
                with anyio.move_on_after(min(POLL_SECONDS, seconds_left)):
                    await changed.wait()
        except anyio.get_cancelled_exc_class():
            if not self._is_stopping:
                with anyio.CancelScope(shield=True):
                    await self._close(question, expired=False)
            raise

    async def find_question(self, question_id: str, *, owner: str) -> UserQuestion:
        """Return the question as it is now.

        Raises:
            NotFound: the owner has no such question.
        """
        question = await self._store.get_question(plain_text(question_id), owner=owner)
        return _found(question)

    async def answer(self, question_id: str, answer: str, *, owner: str) -> UserQuestion:
        """Store the user's answer and wake the agent; if it no longer waits, the answer is late.

        Raises:
            NotFound: the owner has no such question.
            QuestionClosed: it has another answer already.
        """
        now = _now()
        text = plain_text(answer)
        answered = await self._store.answer_question(
            plain_text(question_id), owner=owner, answer=text, now=now
        )
        question = _found(answered)
        # A double click sends the same answer twice; that is no conflict.
        if question.answer != text:
            raise QuestionClosed("The question is closed: it was answered before.")
        self._notify(owner)
        return question

    async def cancel(self, question: UserQuestion) -> UserQuestion:
        """Close a question that the user declined to answer, and return it."""
        return await self._close(question, expired=False)

    async def deliver(self, question: UserQuestion) -> None:
        """Record that the agent gets the answer."""
        await self._store.deliver_answer(question.question_id, owner=question.owner, now=_now())
        self._notify(question.owner)

    async def take_late_answers(self, owner: str, *, asker: str) -> list[UserQuestion]:
        """Return answers that the asker has not got yet, each once; cheap enough for every call.

        An empty result is cached for POLL_SECONDS, or until an answer arrives in this process.
        """
        if time.monotonic() < self._nothing_late_until.get(owner, {}).get(asker, 0.0):
            return []
        looked_at = time.monotonic()
        now = _now()
        taken = await self._store.take_late_answers(
            owner,
            asker=asker,
            now=now,
            answered_before=now - timedelta(seconds=_GRACE_SECONDS),
            limit=_LATE_ANSWERS_AT_ONCE,
        )
        if taken:
            self._notify(owner)
        else:
            self._remember_nothing_late(owner, asker, looked_at)
        return taken

    async def list_questions(self, owner: str) -> tuple[list[UserQuestion], list[UserQuestion]]:
        """Return the open questions, oldest first, and the closed ones, newest first."""
        now = _now()
        listed = [
            await self._store.list_questions(owner, pending=pending, limit=MOST_LISTED, now=now)
            for pending in (True, False)
        ]
        return listed[0], listed[1]

    async def search_history(
        self, owner: str, *, matching: str, before: str | None, limit: int
    ) -> list[UserQuestion]:
        """Return closed questions that contain `matching`, newest first, from `before` on."""
        return await self._store.search_history(
            owner, matching=plain_text(matching), before=before, limit=limit
        )

    async def add_directive(
        self, content: str, party: Party, *, task_id: str = DEFAULT_TASK, is_last: bool = False
    ) -> Directive:
        """Add a directive and return it; it is delivered next, or after all that wait."""
        directive = Directive(
            directive_id=str(uuid.uuid4()),
            owner=party.owner,
            content=plain_text(content),
            task_id=plain_text(task_id),
            user=party.user,
            key_hint=party.key_hint,
            created_at=_now(),
        )
        await self._store.add_directive(directive, place=_AFTER_ALL if is_last else 0)
        self._notify(party.owner)
        return directive

    async def restore_directive(self, deleted: Directive, *, place: int) -> None:
        """Put a deleted directive back; `place` others are delivered before it if it waits."""
        restored = replace(
            deleted,
            directive_id=str(uuid.uuid4()),
            content=plain_text(deleted.content),
            task_id=plain_text(deleted.task_id),
        )
        await self._store.add_directive(restored, place=place)
        self._notify(deleted.owner)

    async def take_directive(self, owner: str, *, task_id: str | None) -> Directive | None:
        """Return the next waiting directive, which no other call gets; None if there is none."""
        task = None if task_id is None else plain_text(task_id)
        taken = await self._store.take_directive(owner, task_id=task, now=_now())
        if taken is not None:
            self._notify(owner)
        return taken

    async def list_directives(self, owner: str) -> tuple[list[Directive], list[Directive]]:
        """Return the waiting directives, next first, and the delivered ones, last first."""
        listed = [
            await self._store.list_directives(owner, pending=pending, limit=MOST_LISTED)
            for pending in (True, False)
        ]
        return listed[0], listed[1]

    async def edit_directive(
        self, directive_id: str, *, owner: str, content: str, task_id: str
    ) -> None:
        """Rewrite a waiting directive.

        Raises:
            NotFound: the owner has no such directive, or it was delivered.
        """
        edited = await self._store.edit_directive(
            plain_text(directive_id),
            owner=owner,
            content=plain_text(content),
            task_id=plain_text(task_id),
        )
        if not edited:
            raise _not_waiting()
        self._notify(owner)

    async def move_directive(self, directive_id: str, *, owner: str, earlier: bool) -> None:
        """Swap a waiting directive with the one before or after it.

        Raises:
            NotFound: the owner has no such directive, or it was delivered.
        """
        moved = await self._store.move_directive(
            plain_text(directive_id), owner=owner, earlier=earlier
        )
        if not moved:
            raise _not_waiting()
        self._notify(owner)

    async def add_template(self, content: str, *, owner: str, task_id: str) -> None:
        """Save a directive as a template."""
        await self._store.add_template(
            owner, content=plain_text(content), task_id=plain_text(task_id)
        )
        self._notify(owner)

    async def list_templates(self, owner: str) -> list[DirectiveTemplate]:
        """Return the saved templates, newest first."""
        return await self._store.list_templates(owner, limit=MOST_LISTED)

    async def delete_template(self, number: int, *, owner: str) -> None:
        """Remove a template.

        Raises:
            NotFound: the owner has no such template.
        """
        if not await self._store.delete_template(number, owner=owner):
            raise NotFound("There is no such template.", suggestion="Reload the list.")
        self._notify(owner)

    async def delete_directive(self, directive_id: str, *, owner: str) -> None:
        """Remove one directive.

        Raises:
            NotFound: the owner has no such directive.
        """
        if not await self._store.delete_directive(plain_text(directive_id), owner=owner):
            raise NotFound("There is no such directive.", suggestion="Reload the list.")
        self._notify(owner)

    async def delete_directives(self, owner: str) -> int:
        """Remove all directives of the owner; return how many there were."""
        deleted = await self._store.delete_directives(owner)
        self._notify(owner)
        return deleted

    async def watch(self, owner: str) -> AsyncGenerator[int]:
        """Yield the owner's revision now and after every change, for as long as it is read.

        The expiry of a question is a change too, even if nobody waits for it any more.
        """
        seen, next_expiry = -1, None
        while True:
            changed = self._changes.next(owner)
            if next_expiry is not None and next_expiry <= _now():
                # Listing expires overdue questions, which raises the revision.
                next_expiry = await self._next_expiry(owner)
            revision = await self._store.revision(owner)
            if revision != seen:
                next_expiry = await self._next_expiry(owner)
                seen = revision
                yield revision
            with anyio.move_on_after(POLL_SECONDS):
                await changed.wait()

    async def _next_expiry(self, owner: str) -> datetime | None:
        waiting = await self._store.list_questions(
            owner, pending=True, limit=MOST_LISTED, now=_now()
        )
        return min((question.expires_at for question in waiting), default=None)

    async def _close(self, question: UserQuestion, *, expired: bool) -> UserQuestion:
        closed = await self._store.close_question(
            question.question_id,
            owner=question.owner,
            state="expired" if expired else "cancelled",
        )
        self._notify(question.owner)
        return _found(closed)

    def _notify(self, owner: str) -> None:
        self._nothing_late_until.pop(owner, None)
        self._changes.notify(owner)

    def _remember_nothing_late(self, owner: str, asker: str, looked_at: float) -> None:
        # Owners and askers come and go; the cache must not grow forever.
        askers = self._nothing_late_until.setdefault(owner, {})
        if len(self._nothing_late_until) >= 10_000 or len(askers) >= 10_000:
            self._nothing_late_until.clear()
        askers[asker] = looked_at + POLL_SECONDS


def _found(question: UserQuestion | None) -> UserQuestion:
    if question is None:
        raise NotFound("There is no such question.", suggestion="Reload the list of questions.")
    return question


def _not_waiting() -> NotFound:
    return NotFound("No such directive is waiting.", suggestion="Reload the list.")


def _now() -> datetime:
    return datetime.now(UTC)
