"""Notify those who wait in this process that something of an owner's has changed."""

from __future__ import annotations

import anyio


class Changes:
    """One event per owner that someone waits for; it is set once, then replaced."""

    def __init__(self) -> None:
        self._next: dict[str, anyio.Event] = {}

    def next(self, owner: str) -> anyio.Event:
        """Return the event of the owner's next change.

        Ask for it before looking at the store: a change between looking and waiting would be lost.
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
