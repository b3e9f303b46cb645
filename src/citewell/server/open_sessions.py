"""How many sessions each caller has open: nobody can take those of all others."""

from __future__ import annotations

from collections import Counter

MAX_SESSIONS_OF_CALLER = 1_000
"""Of one caller; see `share_of`."""
TOO_MANY_SESSIONS = "You have too many open sessions; close some of them first."


class OpenSessions:
    """Counts the open sessions of one transport in this process."""

    def __init__(self) -> None:
        self._of_share: Counter[str] = Counter()

    def has_room(self, share: str) -> bool:
        """Return whether a caller can open one more."""
        return self._of_share[share] < MAX_SESSIONS_OF_CALLER

    def begin(self, share: str) -> None:
        """Note that one was opened."""
        self._of_share[share] += 1

    def end(self, share: str) -> None:
        """Note that one has ended."""
        self._of_share[share] -= 1
        self._of_share += Counter()  # drops callers without sessions
