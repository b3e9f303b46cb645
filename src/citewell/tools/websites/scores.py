"""The scores of results, of which 0 is best, and the confidence that they stand for."""

from __future__ import annotations

import math
from typing import Literal

ConfidenceLevel = Literal["high", "medium", "low"]

# By specification. A first result below .3 was right in 97 of 100 queries of the shared sets, and
# in about 8 of 10 of the two glossaries, where several pages say the same (`bench.websites`).
HIGH_BELOW = 0.3
MEDIUM_UP_TO = 0.6
# The gain in log odds per field that supports a chunk, and the number of fields that count.
# Chosen, not measured, so that fields decide between equals but not against the text.
_FIELD_GAIN = 0.5
_MOST_FIELDS = 4


def vector_distance(cosine: float | None) -> float:
    """Return the distance of a cosine: 0 for the same meaning, 1 for none or without a vector."""
    return round(min(1.0, max(0.0, 1.0 - (cosine or 0.0))), 4)


def word_distance(bm25: float) -> float | None:
    """Return a distance that falls towards 0 as words match better; None if none match."""
    return round(1.0 / (1.0 + bm25), 4) if bm25 > 0 else None


def combined_distance(
    confidence: float | None, *, vector: float, words_score: float | None, fields: int = 0
) -> float:
    """Return the combined score: a result below .3 almost surely answers, one above .6 hardly.

    It comes from the reranker's probability if there is one, otherwise from the other scores.
    """
    if confidence is None:
        plain = 0.7 * vector + 0.3 * (1.0 if words_score is None else words_score)
        return round(min(1.0, max(0.0, plain - 0.05 * min(fields, _MOST_FIELDS))), 4)
    return round(1.0 - _raise(confidence, fields), 4)


def confidence_level(best: float | None) -> ConfidenceLevel:
    """Return the confidence of the best combined score; `low` if there is no result."""
    if best is None or best > MEDIUM_UP_TO:
        return "low"
    return "high" if best < HIGH_BELOW else "medium"


def _raise(probability: float, fields: int) -> float:
    if not fields or not 0.0 < probability < 1.0:
        return probability
    odds = math.log(probability / (1.0 - probability))
    return 1.0 / (1.0 + math.exp(-odds - _FIELD_GAIN * min(fields, _MOST_FIELDS)))
