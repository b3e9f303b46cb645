"""Probabilities as log-odds, on which what several judges say adds up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


# No judge is surer than this of anything.
_LEAST = 0.005


def log_odds(probability: float) -> float:
    """Return the log-odds of a probability, which is kept a little away from 0 and from 1."""
    clipped = min(max(probability, _LEAST), 1 - _LEAST)
    return math.log(clipped / (1 - clipped))


def from_log_odds(odds: float) -> float:
    """Return the probability that has these log-odds."""
    return 1.0 / (1.0 + math.exp(-odds))


def any_log_odds(odds: Sequence[float]) -> float:
    """Return the log-odds of any of several being so, each against none of them being so."""
    best = max(odds)
    return best + math.log(math.fsum(math.exp(each - best) for each in odds))
