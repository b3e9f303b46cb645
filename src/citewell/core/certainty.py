"""How sure quotes are, in the same words and numbers wherever people read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_EVEN = 0.5


def is_sure(confidences: Iterable[float | None]) -> bool:
    """Return whether one of the quotes more likely answers than not.

    A quote without a confidence counts as one that does.
    """
    return any(confidence is None or confidence >= _EVEN for confidence in confidences)
