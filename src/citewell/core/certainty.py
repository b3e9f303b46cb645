"""How sure quotes are, in the same words and numbers wherever people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

DOUBTFUL = "These quotes may not answer the question."
EVEN = 0.5
# From here on, 52 of 62 first quotes were right; between the two, 43 of 64 above .6
# (bench/reports/questions.md).
_HIGH = 0.8

Certainty = Literal["high", "fair", "low"]
"""Whether the first quote very likely, probably or possibly answers."""


def certainty_of(confidences: Iterable[float | None]) -> Certainty:
    """Return how sure the first of the quotes is: the one that is read as the answer.

    A quote without a confidence counts as one that answers.
    """
    first = next(iter(confidences), 0.0)
    best = 1.0 if first is None else first
    return "high" if best >= _HIGH else "fair" if best >= EVEN else "low"
