"""The records of people in the loop.

question   what an agent asks its user; open (pending) until answered, expired or cancelled
late answer  an answer to a question that nobody waits for any more; goes with the asker's next call
directive  an instruction for an agent; delivered to one call, in the order of the list
template   a directive that is kept to be used again
owner      whom both belong to: the hash of the caller's key
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from citewell.core.frozen import frozen

if TYPE_CHECKING:
    from datetime import datetime

QuestionState = Literal["pending", "answered", "expired", "cancelled"]

DirectiveState = Literal["pending", "consumed"]

DEFAULT_TASK = "default"

DECLINED = "The user has read the question and will not answer it."
"""The answer that is stored for a question that the user declined to answer."""


@frozen
class UserQuestion:
    """A question to a user, and what became of it.

    One that expired or was cancelled may have an answer all the same: a late one.
    """

    question_id: str
    owner: str
    text: str
    replies: tuple[str, ...] = ()
    """Answers that the agent offers."""
    state: QuestionState = "pending"
    user: str | None = None
    agent: str | None = None
    key_hint: str | None = None
    """The last characters of the key, for a person who has several."""
    asker: str = ""
    """Which conversation of the owner asked; a late answer goes to no other."""
    asked_at: datetime
    expires_at: datetime
    """When the agent stops waiting."""
    answer: str | None = None
    answered_at: datetime | None = None
    delivered_at: datetime | None = None
    """When the agent was given the answer."""

    @property
    def is_late(self) -> bool:
        """Return whether the answer came after the agent had stopped waiting."""
        return self.answer is not None and self.state != "answered"

    @property
    def is_declined(self) -> bool:
        """Return whether the user declined to answer."""
        return self.answer == DECLINED


@frozen
class Directive:
    """Something a user wants done, waiting for an agent or delivered to one."""

    directive_id: str
    owner: str
    content: str
    task_id: str = DEFAULT_TASK
    state: DirectiveState = "pending"
    user: str | None = None
    key_hint: str | None = None
    created_at: datetime
    consumed_at: datetime | None = None


@frozen
class DirectiveTemplate:
    """A directive that a user keeps to be used again."""

    number: int
    content: str
    task_id: str
