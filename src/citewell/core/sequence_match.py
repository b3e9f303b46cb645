"""Comparing two sequences in bounded time.

`difflib` takes the cube of their length where items repeat: a kilobyte of one word, or a page of
equal lines, took minutes.
"""

from __future__ import annotations

from collections import Counter
from difflib import Match, SequenceMatcher
from typing import TYPE_CHECKING

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Sequence

    Opcode = tuple[str, int, int, int, int]

# Pairs of equal items looked at; a million take some 0.1 s.
_MOST_STEPS = 3_000_000


class Effort:
    """What comparisons may still cost together."""

    def __init__(self) -> None:
        self.steps = _MOST_STEPS


class BoundedMatcher(SequenceMatcher[str]):
    """A SequenceMatcher that takes what it has no effort left to compare for different."""

    def __init__(self, old: Sequence[str], new: Sequence[str], effort: Effort) -> None:
        super().__init__(None, old, new, autojunk=False)
        self._old = old
        self._counts = Counter(new)
        self._effort = effort

    @override
    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        """Return the longest block of equal items; an empty one where that costs too much."""
        cost = sum(1 + self._counts[item] for item in self._old[alo:ahi])
        if cost > self._effort.steps:
            return Match(alo, blo, 0)
        self._effort.steps -= cost
        return super().find_longest_match(alo, ahi, blo, bhi)


def find_opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """Return the steps from `old` to `new`, as SequenceMatcher does.

    What both begin and end with is equal, however long; between, what is too much effort to
    compare is replaced.
    """
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    old_end, new_end = len(old) - tail, len(new) - tail
    matcher = BoundedMatcher(old[head:old_end], new[head:new_end], Effort())
    steps: list[Opcode] = [
        (kind, i + head, j + head, k + head, m + head) for kind, i, j, k, m in matcher.get_opcodes()
    ]
    if head:
        steps.insert(0, ("equal", 0, head, 0, head))
    if tail:
        steps.append(("equal", old_end, len(old), new_end, len(new)))
    return _join_equal(steps)


def _join_equal(steps: list[Opcode]) -> list[Opcode]:
    """Return the steps with neighbouring equal ones as one."""
    joined: list[Opcode] = []
    for step in steps:
        if joined and step[0] == joined[-1][0] == "equal":
            joined[-1] = ("equal", joined[-1][1], step[2], joined[-1][3], step[4])
        else:
            joined.append(step)
    return joined
