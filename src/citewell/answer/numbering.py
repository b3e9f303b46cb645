"""Numbering sources: the [n] that a brief and its structured form share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from citewell.core.records import Block, Quote


def number_sources(shown: Iterable[Block | Quote]) -> dict[int, int]:
    """Return source_id → number, counted from 1 in the order sources are first seen."""
    numbers: dict[int, int] = {}
    for each in shown:
        numbers.setdefault(each.source_id, len(numbers) + 1)
    return numbers
