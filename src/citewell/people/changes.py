"""Wake those in this process who wait for a change of an owner's questions or directives."""

from __future__ import annotations

import anyio


class Changes:
    """One event per owner with waiters; each is set once, then replaced."""

    def __init__(self) -> None:
        self._next: dict[str, anyio.Event] = {}

    def next(self, owner: str) -> anyio.Event:
        """Return the event of the owner's next change.

        Get it before reading the store; otherwise a change between reading and waiting is lost.
        """
        return self._next.setdefault(owner, anyio.Event())

    def notify(self, owner: str) -> None:
        """Wake all who wait for a change of the owner's."""
        event = self._next.pop(owner, None)
        if event is not None:
            event.set()

    def notify_all(self) -> None:
        """Wake everyone who waits."""
        for owner in list(self._next):
            self.notify(owner)
