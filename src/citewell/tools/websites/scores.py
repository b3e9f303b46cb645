"""The scores of seed B: 0 is best, and the best of them says how sure the answer is."""

from __future__ import annotations

import math
from typing import Literal

ConfidenceLevel = Literal["high", "medium", "low"]

# Seed B's. A first result below .3 was right in 97 of 100 queries of the shared sets, and in about
# 8 of 10 of the two glossaries, where several pages say the same (`bench.websites`).
HIGH_BELOW = 0.3
MEDIUM_UP_TO = 0.6
# What a chunk gains, on the scale of log odds, for each field that speaks for it, and for how many.
# Chosen, not measured: it decides between equals and not against the text.
_FIELD_GAIN = 0.5
_MOST_FIELDS = 4


def vector_distance(cosine: float | None) -> float:
    """Return 0 for the same meaning, 1 for none in common or for a chunk without a vector."""
    return round(min(1.0, max(0.0, 1.0 - (cosine or 0.0))), 4)


def word_distance(bm25: float) -> float | None:
    """Return a number that falls towards 0 as words match better; None when none do."""
    return round(1.0 / (1.0 + bm25), 4) if bm25 > 0 else None


def combined_distance(
    confidence: float | None, *, vector: float, words_score: float | None, fields: int = 0
) -> float:
    """Return how far a result is from answering: below .3 surely does, above .6 hardly does.

    It comes from the reranker's probability where there is one, else from the two other scores.
    """
    if confidence is None:
        plain = 0.7 * vector + 0.3 * (1.0 if words_score is None else words_score)
        return round(min(1.0, max(0.0, plain - 0.05 * min(fields, _MOST_FIELDS))), 4)
    return round(1.0 - _raise(confidence, fields), 4)


def confidence_level(best: float | None) -> ConfidenceLevel:
    """Return what the best combined score means; `low` when there is no result."""
    if best is None or best > MEDIUM_UP_TO:
        return "low"
    return "high" if best < HIGH_BELOW else "medium"


def _raise(probability: float, fields: int) -> float:
    if not fields or not 0.0 < probability < 1.0:
        return probability
    odds = math.log(probability / (1.0 - probability))
    return 1.0 / (1.0 + math.exp(-odds - _FIELD_GAIN * min(fields, _MOST_FIELDS)))
