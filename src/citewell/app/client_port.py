"""What a running tool may ask of the client that called it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Elicits = Literal["now", "by_repetition"]
"""Whether a person is asked while the call waits, or the call ends and is repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonReply:
    """What the person at the client did when asked."""

    key: str
    """That the question was asked under."""
    text: str | None
    """None when the person would not answer."""


class ClientMustAnswer(Exception):
    """The tool cannot go on before its client has answered, and will be called again with that.

    Some protocols have no request from server to client: the call ends with what is asked for, and
    the client repeats it together with its answers. No tool catches this.
    """


class ClientPort(Protocol):
    """The client of one call; what it does not offer is answered with None."""

    @property
    def elicits(self) -> Elicits | None:
        """How the client asks its person."""

    @property
    def reply(self) -> PersonReply | None:
        """What the person has replied, when this call repeats one that had to ask."""

    async def elicit(self, question: str, *, key: str) -> PersonReply | None:
        """Return what the person at the client replies; None when it could not be asked.

        Raises:
            ClientMustAnswer: the reply comes with a repetition of the call, under `key`.
        """

    async def sample(self, prompt: str, *, max_tokens: int) -> str | None:
        """Return what the client's own model writes to `prompt`.

        None when the client offers no model, refuses, or does not answer in time.

        Raises:
            ClientMustAnswer: the answer comes with a repetition of the call.
        """
