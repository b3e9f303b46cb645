"""What a running tool can ask the client that called it for."""

from __future__ import annotations

from typing import Literal, Protocol

from citewell.core.frozen import frozen

Elicits = Literal["now", "by_repetition"]
"""Whether the user is asked while the call waits, or the call ends and is repeated."""


@frozen
class PersonReply:
    """The reply of the user at the client."""

    key: str
    """The key of the question."""
    text: str | None
    """None when the user declined."""


class ClientMustAnswer(Exception):
    """The tool needs an answer of its client, which will repeat the call with that answer.

    Some protocol versions have no requests from server to client: the call ends with the question,
    and the client repeats it with its answers. No tool catches this.
    """


class ClientPort(Protocol):
    """The client of one call; it returns None for what it does not support."""

    @property
    def elicits(self) -> Elicits | None:
        """How the client asks its user; None if it cannot."""

    @property
    def reply(self) -> PersonReply | None:
        """The reply of the user, when this call repeats one that had to ask."""

    async def elicit(self, question: str, *, key: str) -> PersonReply | None:
        """Return the reply of the user; None when the client could not ask.

        Raises:
            ClientMustAnswer: the reply comes with a repetition of the call, under `key`.
        """

    async def sample(self, prompt: str, *, max_tokens: int) -> str | None:
        """Return the completion of `prompt` by the client's own model.

        None when the client offers no model, refuses, or does not answer in time.

        Raises:
            ClientMustAnswer: the answer comes with a repetition of the call.
        """
